//! Sockets that never block, and the wait for those that are ready.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, getpeername, recv, send,
    socket_with, sockopt,
};

use zerolap_load_measure::LoadError;
use zerolap_load_requests::{Endpoint, IpVersion};

/// Events taken at once; more wait for the next call.
pub(crate) const EVENTS: usize = 512;
/// The same where each request has its time: what arrives while they are worked off is seen late.
const PRECISE_EVENTS: usize = 8;

/// Something that a socket can connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// All addresses of `endpoint`, at least one, of the given version if one is given.
///
/// # Errors
/// When it has none.
pub(crate) fn resolve(endpoint: &Endpoint, version: Option<IpVersion>) -> Result<Vec<Address>, LoadError> {
    let (host, port) = match endpoint {
        Endpoint::Unix(path) => return Ok(vec![Address::Unix(path.clone())]),
        Endpoint::Tcp { host, port } => (host, *port),
    };
    let failed = |source| LoadError::Resolve { endpoint: endpoint.clone(), source };
    let all = (host.as_str(), port).to_socket_addrs().map_err(failed)?;
    let wanted = all.filter(|address| match version {
        None => true,
        Some(IpVersion::V4) => address.is_ipv4(),
        Some(IpVersion::V6) => address.is_ipv6(),
    });
    let addresses: Vec<Address> = wanted.map(Address::Tcp).collect();
    if addresses.is_empty() {
        return Err(failed(std::io::Error::new(std::io::ErrorKind::NotFound, "the name has no such address")));
    }
    Ok(addresses)
}

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

/// The sockets of a thread.
pub(crate) struct Poller {
    epoll: OwnedFd,
    events: Vec<Event>,
}

/// A socket that has something to read, or room to write again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ready {
    /// What it was added under.
    pub(crate) index: usize,
    /// Whether to read: bytes, the end of the stream or an error.
    pub(crate) readable: bool,
}

impl Poller {
    pub(crate) fn new() -> Result<Self, LoadError> {
        let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(thread_error)?;
        Ok(Self { epoll, events: Vec::with_capacity(EVENTS) })
    }

    /// Watches a new socket for room to write, which it has once it is connected.
    pub(crate) fn add(&mut self, socket: impl AsFd, index: usize) -> Result<(), LoadError> {
        let data = EventData::new_u64(index as u64);
        epoll::add(&self.epoll, socket, data, EventFlags::IN | EventFlags::OUT).map_err(thread_error)
    }

    /// Watches a socket also for room to write, or no longer.
    pub(crate) fn watch_room(&mut self, socket: impl AsFd, index: usize, watch: bool) -> Result<(), LoadError> {
        let flags = if watch { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
        epoll::modify(&self.epoll, socket, EventData::new_u64(index as u64), flags).map_err(thread_error)
    }

    /// Takes few events at once from now on, or many.
    pub(crate) fn be_precise(&mut self, is_precise: bool) {
        self.events = Vec::with_capacity(if is_precise { PRECISE_EVENTS } else { EVENTS });
    }

    /// Waits until a socket is ready or the time is over, to the accuracy of the system's timers: `epoll_wait` takes
    /// only whole milliseconds, `ppoll` on its descriptor takes nanoseconds.
    pub(crate) fn wait_precisely(&mut self, timeout: Duration) -> Result<impl Iterator<Item = Ready> + '_, LoadError> {
        if !timeout.is_zero() {
            let time = timespec(timeout)?;
            match poll(&mut [PollFd::new(&self.epoll, PollFlags::IN)], Some(&time)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(thread_error(error)),
            }
        }
        self.wait(Duration::ZERO)
    }

    /// Waits until a socket is ready or the time is over, less than a millisecond early.
    pub(crate) fn wait(&mut self, timeout: Duration) -> Result<impl Iterator<Item = Ready> + '_, LoadError> {
        let timeout = timespec(Duration::from_millis(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)))?;
        self.events.clear();
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(thread_error(error)),
        }
        Ok(self.events.iter().map(|event| {
            let flags = event.flags;
            Ready {
                index: usize::try_from(event.data.u64()).unwrap_or(usize::MAX),
                readable: flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR),
            }
        }))
    }
}

fn timespec(time: Duration) -> Result<Timespec, LoadError> {
    Timespec::try_from(time).map_err(|error| LoadError::Thread(io::Error::other(error)))
}

fn thread_error(error: Errno) -> LoadError {
    LoadError::Thread(error.into())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;
    use std::time::Duration;

    use rustix::net::sockopt::tcp_nodelay;

    use super::{Address, Socket};

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
