//! One socket, never blocking.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, getpeername, recv, send,
    socket_with, sockopt,
};

use crate::address::Address;

/// A connection to the server, or the attempt at one.
#[derive(Debug)]
pub(crate) struct Socket {
    descriptor: OwnedFd,
}

impl Socket {
    /// Begins to connect. TCP connections send small requests at once (`TCP_NODELAY`). None where a unix socket's
    /// backlog is full: try again later.
    ///
    /// # Errors
    /// When the connection is refused at once, or the system has no more sockets.
    pub(crate) fn start(address: &Address) -> io::Result<Option<Self>> {
        let descriptor = match address {
            Address::Tcp(address) => Some(start_tcp(*address)?),
            Address::Unix(path) => start_unix(path)?,
        };
        Ok(descriptor.map(|descriptor| Self { descriptor }))
    }

    /// Whether the connection is made.
    ///
    /// # Errors
    /// When it failed.
    pub(crate) fn is_connected(&self) -> io::Result<bool> {
        sockopt::socket_error(&self.descriptor)??;
        match getpeername(&self.descriptor) {
            Ok(_) => Ok(true),
            Err(Errno::NOTCONN) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Sends what the system takes at once; none if it takes nothing now.
    ///
    /// # Errors
    /// When the connection is broken.
    pub(crate) fn send(&self, bytes: &[u8]) -> io::Result<Option<usize>> {
        unless_blocked(|| send(&self.descriptor, bytes, SendFlags::NOSIGNAL))
    }

    /// Receives what is there; none if nothing is, 0 at the end of the stream.
    ///
    /// # Errors
    /// When the connection is broken.
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        unless_blocked(|| recv(&self.descriptor, &mut *buffer, RecvFlags::empty()).map(|(length, _)| length))
    }

    /// Waits until there is something to receive, or room to send if `for_room`; false if neither comes within
    /// `timeout`.
    ///
    /// # Errors
    /// When the system cannot wait.
    pub(crate) fn wait(&self, for_room: bool, timeout: Duration) -> io::Result<bool> {
        let timeout = Timespec::try_from(timeout).map_err(io::Error::other)?;
        let flags = if for_room { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        match poll(&mut [PollFd::new(&self.descriptor, flags)], Some(&timeout)) {
            Err(Errno::INTR) => Ok(true),
            result => Ok(result? > 0),
        }
    }

    /// Makes the close of this connection a reset, so that its port is free again at once.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn reset_on_close(&self) -> io::Result<()> {
        Ok(sockopt::set_socket_linger(&self.descriptor, Some(Duration::ZERO))?)
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

fn unless_blocked(mut call: impl FnMut() -> rustix::io::Result<usize>) -> io::Result<Option<usize>> {
    loop {
        match call() {
            Ok(length) => return Ok(Some(length)),
            Err(Errno::AGAIN) => return Ok(None),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn start_tcp(address: SocketAddr) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let descriptor = socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?;
    sockopt::set_tcp_nodelay(&descriptor, true)?;
    match connect(&descriptor, &address) {
        Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(descriptor),
        Err(error) => Err(error.into()),
    }
}

/// A unix socket connects at once or not at all.
fn start_unix(path: &Path) -> io::Result<Option<OwnedFd>> {
    let address = SocketAddrUnix::new(path)?;
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let descriptor = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    match connect(&descriptor, &address) {
        Ok(()) => Ok(Some(descriptor)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;
    use std::time::Duration;

    use rustix::net::sockopt::tcp_nodelay;

    use super::Socket;
    use crate::address::Address;

    #[test]
    fn tcp_connections_do_not_delay() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = Address::Tcp(listener.local_addr().expect("an address"));
        let socket = Socket::start(&address).expect("a connection").expect("a socket");
        assert!(socket.wait(true, Duration::from_secs(5)).is_ok_and(|is_ready| is_ready));
        assert!(socket.is_connected().is_ok_and(|is_connected| is_connected));
        assert_eq!(tcp_nodelay(&socket), Ok(true));
        assert_eq!(socket.receive(&mut [0; 8]).ok(), Some(None), "it does not block");
    }

    #[test]
    fn a_port_where_nobody_listens_is_an_error() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = Address::Tcp(listener.local_addr().expect("an address"));
        drop(listener);
        let refused = Socket::start(&address).and_then(|socket| {
            let socket = socket.expect("a socket");
            socket.wait(true, Duration::from_secs(5))?;
            socket.is_connected()
        });
        assert!(refused.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused));
    }

    #[test]
    fn a_full_backlog_of_a_unix_socket_is_no_error() {
        let path = std::env::temp_dir().join(format!("zerolap-load-backlog-{}", std::process::id()));
        let listener = UnixListener::bind(&path).expect("a socket");
        rustix::net::listen(&listener, 1).expect("a shorter backlog");
        let address = Address::Unix(path.clone());
        let sockets: Vec<_> = (0..8).map(|_| Socket::start(&address).expect("no error")).collect();
        assert!(sockets[0].is_some() && sockets[7].is_none());
        std::fs::remove_file(&path).expect("removed");
    }
}
