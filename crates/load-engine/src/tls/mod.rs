//! A TLS session over one socket, never blocking.

mod connector;
mod error;
#[cfg(test)]
mod test_server;
#[cfg(test)]
mod tests;

use std::io::{self, IoSlice, Read as _, Write};

use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};
use rustls::ClientConnection;

use crate::socket::Socket;
pub(crate) use connector::TlsConnector;

/// Most bytes that are taken before the socket takes them; as many again may wait for the end of the handshake.
const UNSENT_LIMIT: usize = 64 * 1024;

/// Two of the largest records fit.
const INCOMING_BYTES: usize = 32 * 1024;

/// Encrypts what goes to a socket and decrypts what comes from it. The handshake happens on the way.
///
/// What the event loop has to do:
///
/// * From the start, call [`TlsSession::receive`] whenever the socket is readable, and again while
///   [`TlsSession::may_hold_more`].
///   [`TlsSession::send`] never reads, so that whatever arrives is found there.
/// * Watch for room to write while [`TlsSession::has_unsent`], or while there is more to send and not
///   [`TlsSession::is_handshaking`]; then call `send` or [`TlsSession::flush`].
#[derive(Debug)]
pub(crate) struct TlsSession {
    connection: ClientConnection,
    incoming: Incoming,
    /// The last call to [`TlsSession::receive`] filled the caller's buffer.
    has_decrypted: bool,
    /// The server has ended the stream, which is reported after all that came before.
    has_ended: bool,
}

impl TlsSession {
    fn new(mut connection: ClientConnection) -> Self {
        connection.set_buffer_limit(Some(UNSENT_LIMIT));
        Self { connection, incoming: Incoming::default(), has_decrypted: false, has_ended: false }
    }

    /// Whether the server is not known yet.
    pub(crate) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Whether encrypted bytes wait for room. Those that wait for the end of the handshake do not count.
    pub(crate) fn has_unsent(&self) -> bool {
        self.connection.wants_write()
    }

    /// Encrypts and sends what the socket takes at once; none if nothing can be taken now. What was taken is sent in
    /// full sooner or later, by further calls of any kind.
    ///
    /// # Errors
    /// When the connection is broken or the server refused it.
    pub(crate) fn send(&mut self, socket: &Socket, plain: &[u8]) -> io::Result<Option<usize>> {
        self.flush(socket)?;
        let mut taken = 0;
        while taken < plain.len() && !self.has_unsent() {
            let length = self.connection.writer().write(&plain[taken..])?;
            if length == 0 {
                break;
            }
            taken += length;
            self.flush(socket)?;
        }
        Ok((taken > 0).then_some(taken))
    }

    /// Sends encrypted bytes that wait for room, as far as there is some.
    ///
    /// # Errors
    /// When the connection is broken or the server refused it.
    pub(crate) fn flush(&mut self, socket: &Socket) -> io::Result<()> {
        self.write_out(socket).map_err(|broken| self.last_words(socket, broken))
    }

    /// Receives and decrypts what is there; none if nothing is, 0 at the end of the stream.
    ///
    /// # Errors
    /// When the connection is broken or the server cannot be trusted.
    pub(crate) fn receive(&mut self, socket: &Socket, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        if self.is_handshaking() {
            self.flush(socket)?;
        }
        self.has_decrypted = false;
        loop {
            match self.connection.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => {
                    self.has_decrypted = result.as_ref().is_ok_and(|&length| length == buffer.len());
                    return result.map(Some);
                }
            }
            match self.incoming.fill(socket)? {
                Read::Nothing => return Ok(None),
                Read::End if self.is_handshaking() => {
                    let text = "the server closed the connection in the middle of the TLS handshake";
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
                }
                Read::End => return Ok(Some(0)),
                Read::Bytes => self.decrypt(socket)?,
            };
        }
    }

    /// Whether there may be something to receive that the socket knows nothing of.
    pub(crate) fn may_hold_more(&self) -> bool {
        self.has_decrypted || self.has_ended || !self.incoming.unread().is_empty()
    }

    /// Decrypts some of the bytes that came in, and sends what they call for. Returns how many.
    fn decrypt(&mut self, socket: &Socket) -> io::Result<usize> {
        let length = self.connection.read_tls(&mut self.incoming.unread())?;
        self.incoming.consume(length);
        let processed = self.connection.process_new_packets();
        // Where the connection is broken, the next read or write fails. What was received before comes first.
        let _ = self.write_out(socket);
        let state = processed.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        self.has_ended |= state.peer_has_closed();
        Ok(length)
    }

    fn write_out(&mut self, socket: &Socket) -> io::Result<()> {
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut Outlet(socket)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                result => result?,
            };
        }
        Ok(())
    }

    /// Why the server broke the connection, if it sent an alert: one that refuses a client's certificate closes at once.
    fn last_words(&mut self, socket: &Socket, broken: io::Error) -> io::Error {
        while let Ok(Read::Bytes) = self.incoming.fill(socket) {
            match self.decrypt(socket) {
                Err(error) if error.kind() == io::ErrorKind::InvalidData => return error,
                Ok(length) if length > 0 => {}
                _ => break,
            }
        }
        broken
    }
}

/// Writes to the socket; [`io::ErrorKind::WouldBlock`] if it takes nothing now.
struct Outlet<'a>(&'a Socket);

impl Write for Outlet<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    /// rustls keeps each record apart: all go with one call.
    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        loop {
            match sendmsg(self.0, pieces, &mut SendAncillaryBuffer::default(), SendFlags::NOSIGNAL) {
                Err(Errno::INTR) => {}
                result => return Ok(result?),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What came of an attempt to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Read {
    /// There are bytes.
    Bytes,
    /// There is nothing now.
    Nothing,
    /// The server has closed.
    End,
}

/// Bytes from the socket that are still to be decrypted. rustls alone would read them in small pieces.
#[derive(Debug, Default)]
struct Incoming {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Incoming {
    fn unread(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    fn consume(&mut self, length: usize) {
        self.start += length;
    }

    /// Reads, unless there are bytes.
    fn fill(&mut self, socket: &Socket) -> io::Result<Read> {
        if !self.unread().is_empty() {
            return Ok(Read::Bytes);
        }
        self.bytes.resize(INCOMING_BYTES, 0);
        let Some(length) = socket.receive(&mut self.bytes)? else { return Ok(Read::Nothing) };
        self.start = 0;
        self.end = length;
        Ok(if length == 0 { Read::End } else { Read::Bytes })
    }
}
