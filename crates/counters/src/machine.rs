//! The edge to the system.

use std::io;

use crate::event::Event;

/// What the kernel returns for a group: nanoseconds since it was opened, and the values of its events in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupReading {
    /// How long its thread ran.
    pub enabled_ns: u64,
    /// How long the group had counters while its thread ran.
    pub running_ns: u64,
    /// One value for each event, the leader's first.
    pub values: Vec<u64>,
}

/// A system that counts events of threads. Errors are those of the system calls.
pub trait Machine {
    /// An open event; dropping it ends counting.
    type Counter;

    /// The threads of a process.
    ///
    /// # Errors
    /// When there is no such process.
    fn threads(&self, process: u32) -> io::Result<Vec<u32>>;

    /// Opens the first event of a group on a thread, 0 being the caller's, and on all threads and processes that it
    /// starts later. A `pinned` group always has counters, or fails.
    ///
    /// # Errors
    /// When the system refuses it.
    fn open_leader(&self, event: Event, thread: u32, pinned: bool) -> io::Result<Self::Counter>;

    /// Opens a further event of a group.
    ///
    /// # Errors
    /// When the system refuses it: `EINVAL` where the processor cannot count it together with those before it.
    fn open_member(&self, event: Event, thread: u32, leader: &mut Self::Counter) -> io::Result<Self::Counter>;

    /// Lets a whole group count.
    ///
    /// # Errors
    /// When the system refuses it.
    fn enable(&self, leader: &mut Self::Counter) -> io::Result<()>;

    /// Reads a whole group.
    ///
    /// # Errors
    /// When the system refuses it; [`io::ErrorKind::UnexpectedEof`] of a pinned group that got no counters.
    fn read(&self, leader: &mut Self::Counter) -> io::Result<GroupReading>;

    /// Keeps the caller's thread at work for some milliseconds that all events see.
    fn exercise(&self);
}
