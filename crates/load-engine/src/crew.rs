//! All threads together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

use crate::cluster::{discover, discover_replicas};
use crate::dialer::Dialer;
use crate::resources::make_room;
use crate::worker::{Flags, Targets, Worker};
use zerolap_load_measure::{Live, LoadError, Outcome, Tally, clock};
use zerolap_load_requests::{DataPool, Settings, Work};

/// The user's side of a run.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    /// Set when the user wants the work to end as if its time were over.
    pub interrupt: Arc<AtomicBool>,
    /// What was counted so far.
    pub live: Arc<Live>,
}

impl Watch {
    /// Whether the user wants the end.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }
}

/// Connected threads that wait for work. They sleep in between, and end when this is dropped.
#[derive(Debug)]
pub struct Crew {
    settings: Arc<Settings>,
    members: Vec<Member>,
    stop: Arc<AtomicBool>,
    /// What the user has to know of how requests are spread over nodes.
    warnings: Vec<String>,
}

#[derive(Debug)]
struct Member {
    /// Taken away to make the thread end.
    orders: Option<Sender<Order>>,
    reports: Receiver<Report>,
    thread: Option<JoinHandle<()>>,
}

/// What a thread is to do.
#[derive(Debug, Clone, Copy)]
struct Order {
    work: Work,
    begin_ns: u64,
}

/// The report of a thread that is done: what it counted, and whether it completed the work.
#[derive(Debug)]
struct Report {
    tally: Box<Tally>,
    done: Result<(), LoadError>,
}

/// Time for threads to wake up before the first request is due: of several, and of one alone. While they wait, the
/// server is idle and others fill its caches, so that it is as short as waking up allows.
const HEAD_START_NS: u64 = 2_000_000;
const HEAD_START_OF_ONE_NS: u64 = 300_000;

impl Crew {
    /// Starts all threads and waits until all connections are up and authenticated. Once `watch` is interrupted,
    /// work ends as if its time were over.
    ///
    /// # Errors
    /// When any of them is not, or a thread cannot be started or pinned.
    pub fn connect(settings: Settings, watch: &Watch) -> Result<Self, LoadError> {
        let data = DataPool::new(&settings);
        let (settings, stop) = (Arc::new(settings), Arc::new(AtomicBool::new(false)));
        let dialer = Arc::new(Dialer::new(&settings)?);
        let targets = if settings.server.is_cluster {
            Targets::Cluster(discover(&dialer)?)
        } else if settings.server.replica_reads {
            Targets::Cluster(discover_replicas(&dialer)?)
        } else {
            Targets::One(dialer.node(settings.server.endpoint.clone())?)
        };
        let nodes = if let Targets::Cluster(map) = &targets { map.nodes() } else { 1 };
        make_room(settings.connections().saturating_mul(nodes).saturating_add(settings.threads))?;
        let warnings = match &targets {
            Targets::Cluster(map) if settings.server.is_cluster => map.warnings(&settings),
            _ => Vec::new(),
        };
        let targets = Arc::new(targets);
        let (members, crew_stop) = (Vec::new(), Arc::clone(&stop));
        let mut crew = Self { settings: Arc::clone(&settings), members, stop: crew_stop, warnings };
        for thread in 0..settings.threads {
            let (orders, received_orders) = channel();
            let (sent_reports, reports) = channel();
            let (dialer, targets) = (Arc::clone(&dialer), Arc::clone(&targets));
            let (data, flags) = (data.clone(), Flags { stop: Arc::clone(&stop), watch: watch.clone() });
            let work = move || {
                let _stop_when_lost = StopOnPanic(&flags.stop);
                let worker = Worker::open(&dialer, &targets, &data, thread, flags.clone());
                serve(worker, &flags.stop, &received_orders, &sent_reports);
            };
            let spawned = Builder::new().name(format!("load-{thread}")).spawn(work).map_err(LoadError::Thread)?;
            crew.members.push(Member { orders: Some(orders), reports, thread: Some(spawned) });
        }
        match crew.collect().1 {
            Some(error) => Err(error),
            None => Ok(crew),
        }
    }

    /// Carries out one piece of work and waits until every reply is in. Where a connection does not hold, the outcome
    /// has failed; it holds what was counted until then, and the crew can do nothing more.
    ///
    /// # Errors
    /// When a thread is lost.
    pub fn run(&mut self, work: Work) -> Result<Outcome, LoadError> {
        let head_start_ns = if self.members.len() == 1 { HEAD_START_OF_ONE_NS } else { HEAD_START_NS };
        let begin_ns = clock::now_ns() + if work.pace.is_some() { head_start_ns } else { 0 };
        for member in &self.members {
            let sent = member.orders.as_ref().map(|orders| orders.send(Order { work, begin_ns }));
            if !matches!(sent, Some(Ok(()))) {
                return Err(LoadError::ThreadLost);
            }
        }
        let (tallies, failure) = self.collect();
        let mut outcome = Outcome::new(&self.settings, begin_ns, tallies, failure);
        outcome.routing.clone_from(&self.warnings);
        Ok(outcome)
    }

    /// What the crew was made with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Waits for one report of each thread. Of several errors the cause is returned, not its consequences.
    fn collect(&self) -> (Vec<Tally>, Option<LoadError>) {
        let mut tallies = Vec::with_capacity(self.members.len());
        let mut failure = None;
        for member in &self.members {
            let report = member.reports.recv();
            let error = match report {
                Ok(Report { tally, done }) => {
                    tallies.push(*tally);
                    done.err()
                }
                Err(_) => Some(LoadError::ThreadLost),
            };
            if error.is_some() && matches!(failure, None | Some(LoadError::Stopped)) {
                failure = error;
            }
        }
        (tallies, failure)
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for member in &mut self.members {
            member.orders = None;
        }
        for thread in self.members.iter_mut().filter_map(|member| member.thread.take()) {
            // A thread that panicked has already been reported as lost.
            let _ = thread.join();
        }
    }
}

/// The life of a thread: connect, then work as ordered until no more orders can come, or something fails.
fn serve(worker: Result<Worker, LoadError>, stop: &AtomicBool, orders: &Receiver<Order>, reports: &Sender<Report>) {
    let report = |tally: Tally, done: Result<(), LoadError>| {
        let has_failed = done.is_err();
        if has_failed {
            stop.store(true, Ordering::Relaxed);
        }
        // Nobody listens any more only when the crew is being dropped.
        reports.send(Report { tally: Box::new(tally), done }).is_ok() && !has_failed
    };
    let mut worker = match worker {
        Ok(worker) => worker,
        Err(error) => {
            report(Tally::default(), Err(error));
            return;
        }
    };
    let mut goes_on = report(Tally::default(), Ok(()));
    while goes_on {
        let Ok(Order { work, begin_ns }) = orders.recv() else { return };
        let (tally, done) = worker.run(&work, begin_ns);
        goes_on = report(tally, done);
    }
}

/// Lets the other threads end when this one is lost.
struct StopOnPanic<'stop>(&'stop AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}
