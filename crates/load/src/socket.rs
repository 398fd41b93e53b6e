//! One connected socket, never blocking.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, recv, send, socket_with,
};

use crate::{Endpoint, LoadError};

/// How long to wait before another try where a unix socket's backlog is full.
const BACKLOG_PAUSE: Duration = Duration::from_millis(1);

/// A connection to the server.
#[derive(Debug)]
pub(crate) struct Socket {
    descriptor: OwnedFd,
}

impl Socket {
    /// Connects within `timeout`. TCP connections send small requests at once (`TCP_NODELAY`).
    ///
    /// # Errors
    /// When the endpoint has no address, or none of its addresses takes the connection in time.
    pub(crate) fn connect(endpoint: &Endpoint, timeout: Duration) -> Result<Self, LoadError> {
        let connected = match endpoint {
            Endpoint::Tcp { host, port } => {
                let resolve_error = |source| LoadError::Resolve { endpoint: endpoint.clone(), source };
                let addresses = (host.as_str(), *port).to_socket_addrs().map_err(resolve_error)?;
                connect_tcp(addresses, timeout)
            }
            Endpoint::Unix(path) => connect_unix(path, timeout),
        };
        let descriptor = connected.map_err(|source| LoadError::Connect { endpoint: endpoint.clone(), source })?;
        Ok(Self { descriptor })
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

    /// Waits until there is something to receive; false if there is not within `timeout`.
    ///
    /// # Errors
    /// When the system cannot wait.
    pub(crate) fn wait_readable(&self, timeout: Duration) -> io::Result<bool> {
        let timeout = Timespec::try_from(timeout).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&self.descriptor, PollFlags::IN)], Some(&timeout)) {
            Err(Errno::INTR) => Ok(true),
            result => Ok(result? > 0),
        }
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

fn connect_tcp(addresses: impl Iterator<Item = SocketAddr>, timeout: Duration) -> io::Result<OwnedFd> {
    let mut last_error = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in addresses {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                stream.set_nonblocking(true)?;
                return Ok(stream.into());
            }
            Err(error) => last_error = error,
        }
    }
    Err(last_error)
}

/// A unix socket connects at once or not at all: where the server's backlog is full, the call fails and must be
/// repeated.
fn connect_unix(path: &Path, timeout: Duration) -> io::Result<OwnedFd> {
    let address = SocketAddrUnix::new(path)?;
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let descriptor = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    let started = Instant::now();
    loop {
        match connect(&descriptor, &address) {
            Ok(()) => return Ok(descriptor),
            Err(Errno::AGAIN | Errno::INTR) if started.elapsed() < timeout => std::thread::sleep(BACKLOG_PAUSE),
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;
    use std::time::{Duration, Instant};

    use rustix::net::sockopt::tcp_nodelay;

    use super::Socket;
    use crate::{Endpoint, LoadError};

    #[test]
    fn tcp_connections_do_not_delay() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let endpoint = Endpoint::Tcp { host: "127.0.0.1".to_owned(), port };
        let socket = Socket::connect(&endpoint, Duration::from_secs(5)).expect("a connection");
        assert_eq!(tcp_nodelay(&socket), Ok(true));
        assert_eq!(socket.receive(&mut [0; 8]).ok(), Some(None), "it does not block");
    }

    #[test]
    fn a_full_backlog_of_a_unix_socket_ends_in_a_timeout() {
        let path = std::env::temp_dir().join(format!("zerolap-load-backlog-{}", std::process::id()));
        let listener = UnixListener::bind(&path).expect("a socket");
        rustix::net::listen(&listener, 1).expect("a shorter backlog");
        let endpoint = Endpoint::Unix(path.clone());
        let started = Instant::now();
        let connect = || Socket::connect(&endpoint, Duration::from_millis(100));
        let connections: Vec<_> = (0..8).map(|_| connect()).collect();
        assert!(connections[0].is_ok());
        assert!(matches!(connections[7], Err(LoadError::Connect { .. })));
        assert!(started.elapsed() < Duration::from_secs(5));
        std::fs::remove_file(&path).expect("removed");
    }
}
