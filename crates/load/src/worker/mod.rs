//! One thread: its connections and its event loop.

mod opening;
mod poller;
mod receiving;
mod run;
mod schedule;
mod sending;
mod trouble;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::dialer::{Dialer, Node};
use crate::link::Link;
use crate::requests::{DataPool, RequestStream};
use crate::tally::Tally;
use crate::{LoadError, Settings, cpus};
use poller::Poller;
use schedule::Schedule;

/// Bytes read at once. Replies may be cut anywhere, so it limits nothing.
const READ_BYTES: usize = 256 * 1024;

/// What a thread owns.
pub(crate) struct Worker {
    settings: Arc<Settings>,
    dialer: Arc<Dialer>,
    /// Index of the thread.
    thread: usize,
    clients: Vec<Client>,
    /// The link of a client without a cluster has the client's index.
    links: Vec<Link>,
    poller: Poller,
    buffer: Box<[u8]>,
    flags: Flags,
    /// What is being counted.
    tally: Tally,
    schedule: Option<Schedule>,
    /// Requests that were taken from a client's stream and have no reply yet.
    unanswered: u64,
    /// Clients that have not sent all that they are to send.
    clients_with_more: usize,
    /// Links that broke and are to be made anew.
    closed_links: usize,
}

/// What other threads have to say.
#[derive(Debug, Clone)]
pub(crate) struct Flags {
    /// Set when any thread has failed.
    pub(crate) stop: Arc<AtomicBool>,
    /// Set when the user wants the work to end.
    pub(crate) interrupt: Arc<AtomicBool>,
}

/// Something that sends a sequence of requests.
struct Client {
    stream: RequestStream,
    /// Requests still to be sent.
    remaining: u64,
}

impl Worker {
    /// Pins the calling thread, and opens all connections of thread `thread`.
    pub(crate) fn open(
        dialer: &Arc<Dialer>,
        nodes: &[Node],
        data: &DataPool,
        thread: usize,
        flags: Flags,
    ) -> Result<Self, LoadError> {
        let settings = Arc::clone(&dialer.settings);
        if !settings.cpus.is_empty() {
            cpus::pin_thread(settings.cpus[thread % settings.cpus.len()])?;
        }
        let client = |index| Client { stream: RequestStream::new(&settings, data, thread, index), remaining: 0 };
        let clients: Vec<Client> = (0..settings.clients).map(client).collect();
        let links = (0..settings.clients).map(|client| Link::new(dialer, client, 0, nodes[0].clone())).collect();
        let mut worker = Self {
            dialer: Arc::clone(dialer),
            thread,
            clients,
            links,
            poller: Poller::new()?,
            buffer: vec![0; READ_BYTES].into_boxed_slice(),
            flags,
            tally: Tally::default(),
            schedule: None,
            unanswered: 0,
            clients_with_more: 0,
            closed_links: 0,
            settings,
        };
        worker.open_links()?;
        Ok(worker)
    }

    /// Fails when another thread has.
    fn check_stop(&self) -> Result<(), LoadError> {
        if self.flags.stop.load(Ordering::Relaxed) { Err(LoadError::Stopped) } else { Ok(()) }
    }
}
