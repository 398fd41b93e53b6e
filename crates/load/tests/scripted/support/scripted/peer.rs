//! The server's side of one connection.

use std::io::{ErrorKind, Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use super::stream::{Encryption, Stream};
use super::{Arrived, Log, Record, Request};

/// The server's side of one connection.
pub struct Peer {
    stream: Stream,
    buffer: Vec<u8>,
    connection: usize,
    log: Log,
}

impl Peer {
    pub(super) fn new(stream: Stream, connection: usize, log: Log) -> Self {
        Self { stream, buffer: Vec::new(), connection, log }
    }

    /// How many connections were accepted before this one.
    pub fn connection(&self) -> usize {
        self.connection
    }

    /// The next request, recorded; none when the client has closed.
    pub fn request(&mut self) -> Option<Request> {
        self.request_until(None)
    }

    /// As [`Self::request`], but none also when there is no request for so long.
    pub fn request_within(&mut self, time: Duration) -> Option<Request> {
        self.request_until(Some(time))
    }

    fn request_until(&mut self, time: Option<Duration>) -> Option<Request> {
        self.stream.set_read_timeout(time).expect("an option");
        loop {
            if let Some((request, length)) = parse(&self.buffer) {
                self.buffer.drain(..length);
                let arrived = Arrived { at: Instant::now(), request: request.clone() };
                self.note(|record| {
                    record.requests.push(arrived);
                    record.bytes_received += length;
                });
                return Some(request);
            }
            let mut bytes = [0; 16 * 1024];
            match self.stream.read(&mut bytes) {
                Ok(length) if length > 0 => self.buffer.extend_from_slice(&bytes[..length]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                _ => return None,
            }
        }
    }

    /// Sends bytes; false when the client has closed.
    pub fn send(&mut self, bytes: &[u8]) -> bool {
        // Noted before: whoever has the reply may look at once.
        self.note(|record| record.bytes_sent += bytes.len());
        self.stream.write_all(bytes).and_then(|()| self.stream.flush()).is_ok()
    }

    /// Sends each byte by itself.
    pub fn send_apart(&mut self, bytes: &[u8]) -> bool {
        bytes.chunks(1).all(|byte| {
            thread::sleep(Duration::from_micros(200));
            self.send(byte)
        })
    }

    /// Answers each request with what `reply` makes of it and of its number on this connection.
    pub fn serve(&mut self, reply: impl Fn(&Request, usize) -> String) {
        let mut number = 0;
        while let Some(request) = self.request()
            && self.send(reply(&request, number).as_bytes())
        {
            number += 1;
        }
    }

    /// Sends nothing until the client closes.
    pub fn stay_silent(&mut self) {
        while self.request().is_some() {}
    }

    /// How the connection is encrypted, once there was a request; none if it is not.
    pub fn encryption(&self) -> Option<Encryption> {
        self.stream.encryption()
    }

    /// Makes the connection end with a reset when the script returns.
    pub fn reset(&mut self) {
        self.stream.reset_on_close();
    }

    fn note(&self, note: impl FnOnce(&mut Record)) {
        note(&mut self.log.lock().expect("the log")[self.connection]);
    }
}

/// The first request in `bytes` and its length; none if it is not complete. Written apart from the code under test.
fn parse(bytes: &[u8]) -> Option<(Request, usize)> {
    let mut at = 0;
    let count = header(bytes, &mut at, b'*')?;
    let mut request = Vec::with_capacity(count);
    for _ in 0..count {
        let length = header(bytes, &mut at, b'$')?;
        let body = bytes.get(at..at + length)?;
        request.push(body.iter().map(|&byte| char::from(byte)).collect());
        assert_eq!(bytes.get(at + length..at + length + 2)?, b"\r\n");
        at += length + 2;
    }
    Some((request, at))
}

fn header(bytes: &[u8], at: &mut usize, marker: u8) -> Option<usize> {
    let rest = &bytes[*at..];
    let end = rest.windows(2).position(|pair| pair == b"\r\n")?;
    assert_eq!(rest[0], marker);
    *at += end + 2;
    Some(std::str::from_utf8(&rest[1..end]).expect("digits").parse().expect("a number"))
}
