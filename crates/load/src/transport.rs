//! A socket, encrypted or not.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use crate::socket::Socket;

/// What requests are written to and replies read from.
#[derive(Debug)]
pub(crate) struct Transport {
    socket: Socket,
}

impl Transport {
    pub(crate) fn new(socket: Socket) -> Self {
        Self { socket }
    }

    pub(crate) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Sends what is taken at once; none if nothing is taken now.
    ///
    /// # Errors
    /// When the connection is broken.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<Option<usize>> {
        self.socket.send(bytes)
    }

    /// Sends what was taken before, but found no room; returns whether some still waits.
    ///
    /// # Errors
    /// When the connection is broken.
    pub(crate) fn flush(&mut self) -> io::Result<bool> {
        Ok(false)
    }

    /// Whether bytes that were taken wait for room.
    pub(crate) const fn has_unsent(&self) -> bool {
        false
    }

    /// Whether both sides are still agreeing on how to encrypt.
    pub(crate) const fn is_handshaking(&self) -> bool {
        false
    }

    /// Receives what is there; none if nothing is, 0 at the end of the stream.
    ///
    /// # Errors
    /// When the connection is broken.
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        self.socket.receive(buffer)
    }

    /// Whether there may be something to receive that the system knows nothing of.
    pub(crate) const fn may_hold_more(&self) -> bool {
        false
    }
}

impl AsFd for Transport {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
