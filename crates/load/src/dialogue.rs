//! One question to a server, and its answer, before the load begins.

use std::time::{Duration, Instant};

use zerolap_resp::{Value, parse_value};

use crate::LoadError;
use crate::dialer::{Dialer, Node};
use crate::socket::Socket;
use crate::transport::Transport;

const BUFFER_BYTES: usize = 16 * 1024;
const PAUSE: Duration = Duration::from_millis(1);

/// Sends `request` on a connection of its own and waits for its reply.
///
/// # Errors
/// When the connection cannot be made or prepared, or the reply does not come in time.
pub(crate) fn ask(dialer: &Dialer, node: &Node, request: &[u8]) -> Result<Value, LoadError> {
    let mut transport = connect(dialer, node)?;
    let broken = |source| LoadError::Broken { endpoint: node.endpoint.clone(), source };
    let timeout = dialer.settings.connecting.reply_timeout;
    let ends = Instant::now() + timeout;
    let bytes = [dialer.setup.bytes.as_slice(), request].concat();
    let (mut unsent, mut received, mut answered) = (bytes.as_slice(), Vec::new(), 0);
    let mut buffer = [0; BUFFER_BYTES];
    loop {
        let waits = transport.flush().map_err(broken)?;
        if !waits && !unsent.is_empty() {
            let sent = transport.send(unsent).map_err(broken)?.unwrap_or(0);
            unsent = &unsent[sent..];
        }
        while let Some(length) = transport.receive(&mut buffer).map_err(broken)? {
            if length == 0 {
                return Err(LoadError::Disconnected { endpoint: node.endpoint.clone(), in_flight: 1 });
            }
            received.extend_from_slice(&buffer[..length]);
            if !transport.may_hold_more() {
                break;
            }
        }
        let malformed = |source| LoadError::MalformedReply { endpoint: node.endpoint.clone(), source };
        while let Some((value, length)) = parse_value(&received).map_err(malformed)? {
            received.drain(..length);
            let Some(name) = dialer.setup.names.get(answered) else { return Ok(value) };
            answered += 1;
            if let Value::Error(text) = value {
                let reply = String::from_utf8_lossy(&text).into_owned();
                return Err(LoadError::SetupRefused { endpoint: node.endpoint.clone(), request: name, reply });
            }
        }
        let left = ends.saturating_duration_since(Instant::now());
        let for_room = !unsent.is_empty() || transport.has_unsent();
        if left.is_zero() || !transport.socket().wait(for_room, left).map_err(broken)? {
            return Err(LoadError::ReplyTimeout { endpoint: node.endpoint.clone(), timeout });
        }
    }
}

fn connect(dialer: &Dialer, node: &Node) -> Result<Transport, LoadError> {
    let failed = |source| LoadError::Connect { endpoint: node.endpoint.clone(), source };
    let ends = Instant::now() + dialer.settings.connecting.connect_timeout;
    let mut cause = std::io::Error::from(std::io::ErrorKind::TimedOut);
    for address in node.addresses.iter() {
        let mut started = Socket::start(address);
        while matches!(started, Ok(None)) && Instant::now() < ends {
            std::thread::sleep(PAUSE);
            started = Socket::start(address);
        }
        let connected = started.and_then(|socket| {
            let Some(socket) = socket else { return Ok(None) };
            while !socket.is_connected()? {
                let left = ends.saturating_duration_since(Instant::now());
                if left.is_zero() || !socket.wait(true, left)? {
                    return Ok(None);
                }
            }
            Ok(Some(socket))
        });
        match connected {
            Ok(Some(socket)) => return node.transport(socket),
            Ok(None) => return Err(failed(std::io::ErrorKind::TimedOut.into())),
            Err(error) => cause = error,
        }
    }
    Err(failed(cause))
}
