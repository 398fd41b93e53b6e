//! Where connections come in, and who has something to read.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::OwnedFd;

use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;

use crate::connection::Connection;

const BACKLOG: i32 = 4096;
const EVENTS: usize = 256;
/// The listener in events of epoll; connections have their index.
const LISTENER: u64 = u64::MAX;

/// Who has something.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ready {
    /// Somebody wants to connect.
    Listener,
    /// The connection of this index has something to read.
    Connection(usize),
}

/// The listener and what watches over it and its connections.
#[derive(Debug)]
pub(crate) struct Entrance {
    listener: TcpListener,
    epoll: OwnedFd,
}

impl Entrance {
    /// # Errors
    /// When the port is not to be had.
    pub(crate) fn open(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        // A thousand connections may come at once; the standard library leaves less room for them.
        rustix::net::listen(&listener, BACKLOG)?;
        listener.set_nonblocking(true)?;
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        Ok(Self { listener, epoll })
    }

    /// # Errors
    /// When the system does not report it.
    pub(crate) fn port(&self) -> io::Result<u16> {
        Ok(self.listener.local_addr()?.port())
    }

    /// Takes the next connection, to be known by `index`; none if nobody wants to connect now.
    ///
    /// # Errors
    /// When the system has no more sockets.
    pub(crate) fn accept(&self, index: usize) -> io::Result<Option<Connection>> {
        match self.listener.accept() {
            Ok((stream, _)) => {
                let connection = Connection::new(stream)?;
                epoll::add(&self.epoll, &connection, EventData::new_u64(index as u64), EventFlags::IN)?;
                Ok(Some(connection))
            }
            // Who gave up before, or was interrupted, is seen again at the next look if there is something to see.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::ConnectionAborted
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Looks, without waiting, who has something.
    ///
    /// # Errors
    /// When the system cannot report them.
    pub(crate) fn look(&self, ready: &mut Vec<Ready>) -> io::Result<()> {
        let mut events: Vec<Event> = Vec::with_capacity(EVENTS);
        match epoll::wait(&self.epoll, spare_capacity(&mut events), Some(&Timespec::default())) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        ready.extend(events.iter().map(|event| match event.data.u64() {
            LISTENER => Ready::Listener,
            index => Ready::Connection(usize::try_from(index).unwrap_or(usize::MAX)),
        }));
        Ok(())
    }
}
