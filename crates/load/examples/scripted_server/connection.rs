//! One connection: the bytes of an incomplete request, and replies that the system has not taken yet.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::net::sockopt;

/// What became of an attempt to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Received {
    /// So many bytes.
    Bytes(usize),
    /// There is nothing now.
    Nothing,
    /// There will be nothing any more.
    End,
}

/// A connection to a client.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    /// Bytes that belong to no complete request yet.
    pub(crate) input: Vec<u8>,
    /// Replies to send.
    pub(crate) output: Vec<u8>,
    /// Requests whose replies were put into `output` since the last attempt to send it.
    pub(crate) replied: Vec<usize>,
    /// Replies so far, with those in `output`.
    pub(crate) replies: u64,
    /// Nothing is answered any more; what the client still sends is thrown away.
    pub(crate) is_closed: bool,
}

impl Connection {
    /// # Errors
    /// When the system refuses the settings of the socket.
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, input: Vec::new(), output: Vec::new(), replied: Vec::new(), replies: 0, is_closed: false })
    }

    /// Reads once, to the end of the input. A broken connection has ended.
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> Received {
        match self.stream.read(buffer) {
            Ok(0) => Received::End,
            Ok(length) if self.is_closed => Received::Bytes(length),
            Ok(length) => {
                self.input.extend_from_slice(&buffer[..length]);
                Received::Bytes(length)
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Received::Nothing,
            Err(_) => Received::End,
        }
    }

    /// Sends what the system takes of the output and returns how much that was. What a broken connection does not take
    /// is dropped: its end is seen at the next read.
    pub(crate) fn send(&mut self) -> usize {
        match self.stream.write(&self.output) {
            Ok(length) => {
                self.output.drain(..length);
                length
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => 0,
            Err(_) => {
                self.output.clear();
                0
            }
        }
    }

    /// Ends the replies. The client reads them all before it sees the end: requests that are still coming do not turn
    /// it into a reset, because they are read and thrown away.
    pub(crate) fn close(&mut self) {
        self.is_closed = true;
        self.input.clear();
        // A client that is gone already has closed by itself.
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// Makes the end of this connection, when it is dropped, a reset.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn reset_on_drop(&self) -> io::Result<()> {
        Ok(sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO))?)
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
