//! What rustls reads and writes.

use std::io::{self, IoSlice, Write};

use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};

use crate::socket::Socket;

/// Two of the largest records fit.
const INCOMING_BYTES: usize = 32 * 1024;

/// Writes to the socket; [`io::ErrorKind::WouldBlock`] if it takes nothing now.
pub(super) struct Outlet<'a>(pub(super) &'a Socket);

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
pub(super) enum Read {
    /// There are bytes.
    Bytes,
    /// There is nothing now.
    Nothing,
    /// The server has closed.
    End,
}

/// Bytes from the socket that are still to be decrypted. rustls alone would read them in small pieces.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Incoming {
    pub(super) fn unread(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    pub(super) fn consume(&mut self, length: usize) {
        self.start += length;
    }

    /// Reads, unless there are bytes.
    pub(super) fn fill(&mut self, socket: &Socket) -> io::Result<Read> {
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
