//! A client for tests: a session, a socket and an event loop.

use std::io;
use std::time::{Duration, Instant};

use super::{TlsConnector, TlsSession};
use crate::address::resolve;
use crate::socket::Socket;
use zerolap_load_requests::{Endpoint, Tls};

const PATIENCE: Duration = Duration::from_secs(20);

pub(super) struct TestClient {
    pub(super) socket: Socket,
    pub(super) session: TlsSession,
    /// Lengths of what is given to [`TlsSession::send`] and [`TlsSession::receive`] at once, in turn.
    pub(super) lengths: Vec<usize>,
}

impl TestClient {
    pub(super) fn connect(tls: &Tls, endpoint: &Endpoint) -> Self {
        let connector = TlsConnector::new(tls, endpoint).expect("settings that can be used");
        let addresses = resolve(endpoint, None).expect("an address");
        let socket = Socket::start(&addresses[0]).expect("a connection").expect("a socket");
        assert!(socket.wait(true, PATIENCE).expect("a connection") && socket.is_connected().expect("a connection"));
        Self { socket, session: connector.session().expect("a session"), lengths: vec![100_000] }
    }

    /// Sends `bytes` and returns what comes back until there is as much, or until the server closes.
    pub(super) fn exchange(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let started = Instant::now();
        let mut lengths = self.lengths.clone().into_iter().cycle();
        let mut buffer = vec![0; self.lengths.iter().copied().max().unwrap_or(1)];
        let (mut sent, mut received) = (0, Vec::new());
        while received.len() < bytes.len() {
            while sent < bytes.len() {
                let end = bytes.len().min(sent + lengths.next().unwrap_or(1));
                let Some(length) = self.session.send(&self.socket, &bytes[sent..end])? else { break };
                sent += length;
            }
            loop {
                let length = lengths.next().unwrap_or(1);
                match self.session.receive(&self.socket, &mut buffer[..length])? {
                    None => break,
                    Some(0) => return Ok(received),
                    Some(length) => received.extend_from_slice(&buffer[..length]),
                }
                if !self.session.may_hold_more() {
                    break;
                }
            }
            if received.len() < bytes.len() {
                self.wait(sent < bytes.len())?;
            }
            if started.elapsed() > PATIENCE {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        Ok(received)
    }

    fn wait(&self, has_more: bool) -> io::Result<()> {
        let wants_room = self.session.has_unsent() || has_more && !self.session.is_handshaking();
        self.socket.wait(wants_room, PATIENCE)?;
        Ok(())
    }
}
