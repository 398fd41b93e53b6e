//! Waits for sockets, level-triggered.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use zerolap_load_measure::LoadError;

/// Events taken at once; more wait for the next call.
pub(crate) const EVENTS: usize = 512;
/// The same where each request has its time: what arrives while they are worked off is seen late.
const PRECISE_EVENTS: usize = 8;

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

    /// Watches a new socket for room to write, which tells that it is connected.
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
