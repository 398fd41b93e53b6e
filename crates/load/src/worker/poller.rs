//! Waits for sockets, level-triggered.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;

use crate::LoadError;

/// Events taken at once; more wait for the next call.
const EVENTS: usize = 512;

/// The sockets of a thread.
pub(super) struct Poller {
    epoll: OwnedFd,
    events: Vec<Event>,
}

/// A socket that has something to read, or room to write again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ready {
    /// What it was added under.
    pub(super) index: usize,
    /// Whether to read: bytes, the end of the stream or an error.
    pub(super) readable: bool,
}

impl Poller {
    pub(super) fn new() -> Result<Self, LoadError> {
        let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(thread_error)?;
        Ok(Self { epoll, events: Vec::with_capacity(EVENTS) })
    }

    /// Watches a socket for something to read.
    pub(super) fn add(&mut self, socket: impl AsFd, index: usize) -> Result<(), LoadError> {
        let data = EventData::new_u64(index as u64);
        epoll::add(&self.epoll, socket, data, EventFlags::IN).map_err(thread_error)
    }

    /// Watches a socket also for room to write, or no longer.
    pub(super) fn watch_room(&mut self, socket: impl AsFd, index: usize, watch: bool) -> Result<(), LoadError> {
        let flags = if watch { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
        epoll::modify(&self.epoll, socket, EventData::new_u64(index as u64), flags).map_err(thread_error)
    }

    /// Waits until a socket is ready or the time is over, less than a millisecond early: `epoll_wait` takes whole ones,
    /// and one that ends late would send everything that became due meanwhile at once.
    pub(super) fn wait(&mut self, timeout: Duration) -> Result<impl Iterator<Item = Ready> + '_, LoadError> {
        let millis = Duration::from_millis(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
        let timeout = Timespec::try_from(millis).map_err(|error| LoadError::Thread(io::Error::other(error)))?;
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

fn thread_error(error: Errno) -> LoadError {
    LoadError::Thread(error.into())
}
