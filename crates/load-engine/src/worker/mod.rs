//! One thread: its connections and its event loop.

mod connections;
mod exchange;
mod pending;
mod routes;
mod schedule;
mod transactions;

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::thread::set_current_timer_slack;

use crate::Watch;
use crate::cluster::ClusterMap;
use crate::dialer::{Dialer, Node};
use crate::link::Link;
use crate::resources::pin_thread;
use crate::socket::{Poller, Ready};
use pending::PendingLinks;
use routes::Routes;
use schedule::Schedule;
use transactions::{RoutedRequest, TransactionPlace};
use zerolap_load_measure::{LiveCounts, LoadError, Moment, Tally, clock};
use zerolap_load_requests::{Amount, DataPool, RequestStream, Settings, Work};

/// Bytes read at once. Replies may be cut anywhere, so it limits nothing.
const READ_BYTES: usize = 256 * 1024;
/// Longest wait, and the time between two looks at silent connections.
const TICK: Duration = Duration::from_millis(100);
const TICK_NS: u64 = 100_000_000;

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
    closed_links: PendingLinks,
    /// Links whose server loads its data.
    held_links: PendingLinks,
}

/// Signals from other threads.
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
    /// Requests that were drawn in advance, with the nodes that they belong to; only in a cluster with transactions.
    drawn: VecDeque<RoutedRequest>,
    /// Where its transaction is; only in a cluster.
    transaction: TransactionPlace,
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
            pin_thread(settings.cpus[thread % settings.cpus.len()])?;
        }
        // Without this the system lets a thread sleep 50 us longer than it asked for.
        set_current_timer_slack(NonZeroU64::new(1)).map_err(|error| LoadError::Thread(error.into()))?;
        let client = |index| Client {
            stream: RequestStream::new(&settings, data, thread, index),
            remaining: 0,
            open: 0,
            drawn: VecDeque::new(),
            transaction: TransactionPlace::default(),
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
            closed_links: PendingLinks::default(),
            held_links: PendingLinks::default(),
            settings,
        };
        worker.add_links();
        worker.open_links()?;
        Ok(worker)
    }

    /// Sends this thread's share of `work` from `begin_ns` on and waits for all replies. What was counted is returned
    /// also where it failed.
    pub(crate) fn run(&mut self, work: &Work, begin_ns: u64) -> (Tally, Result<(), LoadError>) {
        self.tally = Tally::new(&self.settings, work, begin_ns);
        self.shown = LiveCounts::default();
        self.schedule = Schedule::of(work, &self.settings, self.thread, begin_ns);
        let first = self.thread * self.settings.clients;
        for (index, client) in self.clients.iter_mut().enumerate() {
            client.remaining = self.settings.quota(work, first + index);
        }
        self.clients_with_more = self.clients.iter().filter(|client| client.remaining > 0).count();
        let before = Moment::now();
        let done = if self.is_done() { Ok(()) } else { self.exchange(work, begin_ns) };
        self.tally.health.note_since(before);
        self.show_progress();
        self.tally.finish();
        if let Some(routes) = &self.routes {
            self.tally.nodes.iter_mut().for_each(|node| node.is_replica = routes.is_replica(&node.endpoint));
        }
        (std::mem::take(&mut self.tally), done)
    }

    fn is_done(&self) -> bool {
        self.clients_with_more == 0 && self.unanswered == 0
    }

    fn exchange(&mut self, work: &Work, begin_ns: u64) -> Result<(), LoadError> {
        let started_ns = clock::now_ns().max(begin_ns);
        self.tally.started_ns = Some(started_ns);
        let first_ns = if work.pace.is_some() { begin_ns } else { started_ns };
        let mut deadline_ns = match work.amount {
            // A schedule has its own beginning, whenever the thread woke up.
            Amount::For(time) => Some(first_ns.saturating_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))),
            _ => None,
        };
        self.is_ended = false;
        self.poller.be_precise(self.schedule.as_ref().is_some_and(|schedule| !schedule.is_whole));
        self.renew_links(started_ns)?;
        self.begin()?;
        let mut next_look_ns = started_ns + TICK_NS;
        let mut ready = Vec::new();
        while !self.is_done() {
            self.wait(deadline_ns, &mut ready)?;
            let woke_ns = clock::now_ns();
            for event in &ready {
                // A link that is being made goes on when there is room to write, too.
                if event.readable || !self.links[event.index].is_open() {
                    self.receive(event.index, woke_ns)?;
                }
            }
            if self.is_ended {
                deadline_ns = None;
            }
            if let Some(end_ns) = deadline_ns.take_if(|end_ns| woke_ns >= *end_ns) {
                // What was due until then is still sent, as far as there is room.
                while self.send_due(end_ns.saturating_sub(1))? {}
                self.end_sending(end_ns);
            }
            for event in &ready {
                self.refill(event.index)?;
            }
            self.send_due(clock::now_ns())?;
            if !ready.is_empty() {
                self.tally.health.lag.record(clock::now_ns() - woke_ns);
            }
            if woke_ns >= next_look_ns {
                next_look_ns = woke_ns + TICK_NS;
                self.look_after_silent(woke_ns)?;
            }
            self.reopen(woke_ns)?;
            self.release(woke_ns)?;
        }
        Ok(())
    }

    /// Waits for events, until the next moment at which there is something to do.
    fn wait(&mut self, deadline_ns: Option<u64>, ready: &mut Vec<Ready>) -> Result<(), LoadError> {
        ready.clear();
        // A turn that no client is free for is taken when a reply makes one free.
        let turn_ns = self.schedule.as_ref().filter(|schedule| !schedule.is_held_up && self.clients_with_more > 0);
        let turn_ns = turn_ns.map(|schedule| schedule.next_ns);
        let is_any_pending = !self.closed_links.is_empty() || !self.held_links.is_empty();
        let tick = if is_any_pending { Duration::from_millis(1) } else { TICK };
        let next_ns = [deadline_ns, turn_ns].into_iter().flatten().min();
        let until_next = next_ns.map(|next_ns| Duration::from_nanos(next_ns.saturating_sub(clock::now_ns())));
        let timeout = until_next.map_or(tick, |left| left.min(tick));
        if self.settings.busy_poll {
            self.poll_busily(timeout, ready)?;
        } else if self.schedule.is_some() {
            ready.extend(self.poller.wait_precisely(timeout)?);
        } else {
            ready.extend(self.poller.wait(timeout)?);
        }
        Ok(())
    }

    /// Looks again and again until there is an event or the time is over.
    fn poll_busily(&mut self, timeout: Duration, ready: &mut Vec<Ready>) -> Result<(), LoadError> {
        let began_ns = clock::now_ns();
        let end_ns = began_ns.saturating_add(u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX));
        let mut looked_ns = began_ns;
        loop {
            ready.extend(self.poller.wait(Duration::ZERO)?);
            if !ready.is_empty() || looked_ns >= end_ns {
                // Only the look that found something was work.
                self.tally.health.spin_ns += looked_ns - began_ns;
                return Ok(());
            }
            looked_ns = clock::now_ns();
        }
    }

    /// Sends nothing more.
    fn end_sending(&mut self, deadline_ns: u64) {
        for client in &mut self.clients {
            client.remaining = 0;
        }
        self.clients_with_more = 0;
        self.is_ended = true;
        if let (Some(schedule), Some(tally)) = (&mut self.schedule, &mut self.tally.schedule) {
            tally.unsent += schedule.skip_until(deadline_ns);
        }
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
