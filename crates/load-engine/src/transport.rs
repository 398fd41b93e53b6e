//! A socket, encrypted or not.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use crate::socket::Socket;
use crate::tls::TlsSession;

/// What requests are written to and replies read from.
#[derive(Debug)]
pub(crate) struct Transport {
    socket: Socket,
    tls: Option<Box<TlsSession>>,
}

impl Transport {
    pub(crate) fn new(socket: Socket, tls: Option<TlsSession>) -> Self {
        Self { socket, tls: tls.map(Box::new) }
    }

    pub(crate) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Sends what is taken at once; none if nothing is taken now.
    ///
    /// # Errors
    /// When the connection is broken.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<Option<usize>> {
        match &mut self.tls {
            None => self.socket.send(bytes),
            Some(tls) => tls.send(&self.socket, bytes),
        }
    }

    /// Sends what was taken before, but found no room; returns whether some still waits.
    ///
    /// # Errors
    /// When the connection is broken.
    pub(crate) fn flush(&mut self) -> io::Result<bool> {
        let Some(tls) = &mut self.tls else { return Ok(false) };
        tls.flush(&self.socket)?;
        Ok(tls.has_unsent())
    }

    /// Whether bytes that were taken wait for room.
    pub(crate) fn has_unsent(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.has_unsent())
    }

    /// Whether both sides are still agreeing on how to encrypt.
    pub(crate) fn is_handshaking(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_handshaking())
    }

    /// Receives what is there; none if nothing is, 0 at the end of the stream.
    ///
    /// # Errors
    /// When the connection is broken.
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match &mut self.tls {
            None => self.socket.receive(buffer),
            Some(tls) => tls.receive(&self.socket, buffer),
        }
    }

    /// Whether there may be something to receive that the system knows nothing of.
    pub(crate) fn may_hold_more(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.may_hold_more())
    }
}

impl AsFd for Transport {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
