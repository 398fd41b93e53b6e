//! What is said on a connection before the first request.

use std::time::Instant;

use zerolap_resp::{ReplyKind, ReplyReader, write_request};

use crate::socket::Socket;
use crate::{Credentials, LoadError, Settings};

const BUFFER_BYTES: usize = 4096;

/// Authenticates, if there are credentials.
///
/// # Errors
/// When the server refuses them, closes, sends something else or is silent.
pub(crate) fn authenticate(socket: &Socket, settings: &Settings) -> Result<(), LoadError> {
    let Some(Credentials { user, password }) = &settings.server.credentials else { return Ok(()) };
    let mut arguments: Vec<&[u8]> = vec![b"AUTH"];
    arguments.extend(user.as_ref().map(String::as_bytes));
    arguments.push(password.as_bytes());
    let mut request = Vec::new();
    write_request(&arguments, &mut request);
    exchange(socket, &request, settings)
}

/// Sends `request`, which fits the socket's buffer, and waits for a status.
fn exchange(socket: &Socket, request: &[u8], settings: &Settings) -> Result<(), LoadError> {
    let endpoint = || settings.server.endpoint.clone();
    let broken = |source| LoadError::Broken { endpoint: endpoint(), source };
    let timed_out = || LoadError::ReplyTimeout { endpoint: endpoint(), timeout: settings.connecting.reply_timeout };
    if socket.send(request).map_err(broken)? != Some(request.len()) {
        return Err(timed_out());
    }
    let started = Instant::now();
    let mut reader = ReplyReader::new();
    let mut text = Vec::new();
    let mut buffer = [0; BUFFER_BYTES];
    loop {
        let left = settings.connecting.reply_timeout.saturating_sub(started.elapsed());
        if left.is_zero() || !socket.wait_readable(left).map_err(broken)? {
            return Err(timed_out());
        }
        let Some(length) = socket.receive(&mut buffer).map_err(broken)? else { continue };
        if length == 0 {
            return Err(LoadError::Disconnected { endpoint: endpoint(), in_flight: 1 });
        }
        let mut input = &buffer[..length];
        text.extend_from_slice(input);
        let malformed = |source| LoadError::MalformedReply { endpoint: endpoint(), source };
        while let Some(reply) = reader.next(&mut input).map_err(malformed)? {
            match reply.kind {
                ReplyKind::Push => {}
                ReplyKind::Status if input.is_empty() => return Ok(()),
                ReplyKind::Error => {
                    let reply = String::from_utf8_lossy(&text).trim().trim_start_matches('-').to_owned();
                    return Err(LoadError::AuthenticationRefused { endpoint: endpoint(), reply });
                }
                kind => return Err(LoadError::UnexpectedReply { endpoint: endpoint(), reply: kind.name().to_owned() }),
            }
        }
    }
}
