//! One question to a server, and its answer, before the load begins.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use zerolap_resp::{MalformedReply, ReplyReader, Value, parse_value};

use crate::dialer::{Dialer, Node, Transport};
use crate::socket::Socket;
use zerolap_load_measure::LoadError;
use zerolap_load_requests::Endpoint;

const BUFFER_BYTES: usize = 16 * 1024;
/// Longer replies answer no question that is asked here: the map of a thousand nodes has less than a megabyte.
const MOST_REPLY_BYTES: usize = 16 << 20;
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
    let (mut unsent, mut replies, mut answered) = (bytes.as_slice(), Replies::default(), 0);
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
            let taken = replies.take(&buffer[..length]);
            taken.map_err(|fault| fault.at(&node.endpoint))?;
            if !transport.may_hold_more() {
                break;
            }
        }
        while let Some(value) = replies.complete.pop_front() {
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

/// Replies as they arrive.
#[derive(Debug, Default)]
struct Replies {
    reader: ReplyReader,
    /// Bytes of the reply that has begun, but not ended.
    begun: Vec<u8>,
    complete: VecDeque<Value>,
}

/// Why what arrives is no answer.
#[derive(Debug, PartialEq, Eq)]
enum Fault {
    Malformed(MalformedReply),
    TooLong,
}

impl Replies {
    /// Takes the next bytes. Push frames answer nothing and are passed over.
    fn take(&mut self, mut bytes: &[u8]) -> Result<(), Fault> {
        let mut rest = bytes;
        while let Some(reply) = self.reader.next(&mut bytes).map_err(Fault::Malformed)? {
            let is_answer = reply.is_answer();
            self.keep(&rest[..rest.len() - bytes.len()])?;
            rest = bytes;
            let whole = std::mem::take(&mut self.begun);
            if is_answer {
                let value = parse_value(&whole).map_err(Fault::Malformed)?;
                self.complete.extend(value.map(|(value, _)| value));
            }
        }
        self.keep(rest)
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if self.begun.len() + bytes.len() > MOST_REPLY_BYTES {
            return Err(Fault::TooLong);
        }
        self.begun.extend_from_slice(bytes);
        Ok(())
    }
}

impl Fault {
    fn at(self, endpoint: &Endpoint) -> LoadError {
        let endpoint = endpoint.clone();
        match self {
            Self::Malformed(source) => LoadError::MalformedReply { endpoint, source },
            Self::TooLong => LoadError::LongReply { endpoint, limit: MOST_REPLY_BYTES },
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

#[cfg(test)]
mod tests {
    use zerolap_resp::Value;

    use super::{Fault, MOST_REPLY_BYTES, Replies};

    #[test]
    fn replies_are_taken_apart_however_they_are_cut_and_pushes_are_no_replies() {
        let stream = b">2\r\n+message\r\n+x\r\n+OK\r\n>1\r\n+a\r\n*2\r\n:1\r\n$1\r\nx\r\n>1\r\n+b\r\n";
        let expected =
            [Value::Status(b"OK".to_vec()), Value::Array(vec![Value::Integer(1), Value::Bulk(b"x".to_vec())])];
        for length in 1..=stream.len() {
            let mut replies = Replies::default();
            for piece in stream.chunks(length) {
                replies.take(piece).expect("replies");
            }
            assert_eq!(Vec::from(replies.complete), expected, "in pieces of {length}");
        }
    }

    #[test]
    fn a_reply_without_end_is_given_up() {
        let mut replies = Replies::default();
        assert_eq!(replies.take(b"$1000000000\r\n"), Ok(()));
        let piece = vec![b'x'; 1 << 20];
        let taken = (0..17).map(|_| replies.take(&piece)).find(Result::is_err);
        assert_eq!(taken, Some(Err(Fault::TooLong)));
        assert!(replies.begun.len() <= MOST_REPLY_BYTES);
    }
}
