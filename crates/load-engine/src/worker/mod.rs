//! One thread: its connections and its event loop.

mod opening;
mod poller;
mod receiving;
mod routing;
mod run;
mod schedule;
mod sending;
mod trouble;

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::thread::set_current_timer_slack;

use crate::cluster::ClusterMap;
use crate::dialer::{Dialer, Node};
use crate::link::Link;
use crate::{Watch, cpus};
pub(crate) use poller::{EVENTS, Poller, Ready};
use routing::Routes;
use schedule::Schedule;
use zerolap_load_measure::LiveCounts;
use zerolap_load_measure::LoadError;
use zerolap_load_measure::Tally;
use zerolap_load_requests::Settings;
use zerolap_load_requests::{DataPool, RequestStream};

/// Bytes read at once. Replies may be cut anywhere, so it limits nothing.
const READ_BYTES: usize = 256 * 1024;

/// What a thread owns.
pub(crate) struct Worker {
    settings: Arc<Settings>,
    dialer: Arc<Dialer>,
    /// Index of the thread.
    thread: usize,
    clients: Vec<Client>,
    /// Only where there are several nodes.
    routes: Option<Routes>,
    /// The link of a client without a cluster has the client's index.
    links: Vec<Link>,
    poller: Poller,
    buffer: Box<[u8]>,
    flags: Flags,
    /// What is being counted.
    tally: Tally,
    /// What of it is shown to the user already.
    shown: LiveCounts,
    schedule: Option<Schedule>,
    /// Requests that were taken from a client's stream and have no reply yet.
    unanswered: u64,
    /// Clients that have not sent all that they are to send.
    clients_with_more: usize,
    /// Whether nothing more is sent, because time is over or the user wants it.
    is_ended: bool,
    /// Links that broke and are to be made anew.
    closed_links: usize,
    /// Links whose server loads its data.
    held_links: usize,
}

/// What other threads have to say.
#[derive(Debug, Clone)]
pub(crate) struct Flags {
    /// Set when any thread has failed.
    pub(crate) stop: Arc<AtomicBool>,
    /// What the user wants, and is shown.
    pub(crate) watch: Watch,
}

/// Where connections lead to.
#[derive(Debug, Clone)]
pub(crate) enum Targets {
    One(Node),
    Cluster(ClusterMap),
}

/// Something that sends a sequence of requests.
struct Client {
    stream: RequestStream,
    /// Requests still to be sent.
    remaining: u64,
    /// Requests that have no reply yet; counted only in a cluster.
    open: usize,
    /// Whether it stands in the queue of those that can take what is due next.
    is_queued: bool,
}

impl Worker {
    /// Pins the calling thread, and opens all connections of thread `thread`.
    pub(crate) fn open(
        dialer: &Arc<Dialer>,
        targets: &Targets,
        data: &DataPool,
        thread: usize,
        flags: Flags,
    ) -> Result<Self, LoadError> {
        let settings = Arc::clone(&dialer.settings);
        if !settings.cpus.is_empty() {
            cpus::pin_thread(settings.cpus[thread % settings.cpus.len()])?;
        }
        // Without this the system lets a thread sleep 50 us longer than it asked for.
        set_current_timer_slack(NonZeroU64::new(1)).map_err(|error| LoadError::Thread(error.into()))?;
        let client = |index| Client {
            stream: RequestStream::new(&settings, data, thread, index),
            remaining: 0,
            open: 0,
            is_queued: false,
        };
        let clients: Vec<Client> = (0..settings.clients).map(client).collect();
        let (links, routes) = match targets {
            Targets::One(node) => {
                let link = |client| Link::new(dialer, client, 0, node.clone());
                ((0..settings.clients).map(link).collect(), None)
            }
            Targets::Cluster(map) => (Vec::new(), Some(Routes::new(map.clone(), dialer, thread, &clients))),
        };
        let mut worker = Self {
            dialer: Arc::clone(dialer),
            thread,
            clients,
            routes,
            links,
            poller: Poller::new()?,
            buffer: vec![0; READ_BYTES].into_boxed_slice(),
            flags,
            tally: Tally::default(),
            shown: LiveCounts::default(),
            schedule: None,
            unanswered: 0,
            clients_with_more: 0,
            is_ended: false,
            closed_links: 0,
            held_links: 0,
            settings,
        };
        worker.add_links();
        worker.open_links()?;
        Ok(worker)
    }

    /// Adds what was counted since the last time to what the user is shown.
    fn show_progress(&mut self) {
        let counts = self.tally.live_counts();
        self.flags.watch.live.add(counts.since(self.shown));
        self.shown = counts;
    }

    /// Fails when another thread has.
    fn check_stop(&self) -> Result<(), LoadError> {
        if self.flags.stop.load(Ordering::Relaxed) { Err(LoadError::Stopped) } else { Ok(()) }
    }
}
