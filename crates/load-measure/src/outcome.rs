//! What a piece of work, and a run of a plan, came to over all threads; and whether the load generator limited it.

use std::time::SystemTime;

use crate::command_tally::CommandTally;
use crate::health::Health;
use crate::tally::{ConnectionCounts, NodeTally, ScheduleTally, Tally, Unfollowed};
use crate::timeline::Timeline;
use crate::transactions::TransactionCounts;
use crate::{ListenerTally, LoadError};
use zerolap_load_requests::Settings;

/// Share of its time from which on a thread that has or wants a processor is taken to be at its limit.
const MOST_DEMAND: f64 = 0.85;
/// Share of the latency from which on the load generator's own delay is no longer negligible.
const MOST_DELAY: f64 = 0.1;
/// Delays below this are those of any timer.
const LEAST_DELAY_NS: u64 = 1_000_000;

/// Counts of all threads.
#[derive(Debug)]
pub struct Outcome {
    /// When the work began, on the system's monotonic clock.
    pub begin_ns: u64,
    /// From the first write to the last reply of any thread.
    pub elapsed_ns: u64,
    /// Bytes that the system took, those of lost requests too.
    pub bytes_sent: u64,
    /// Bytes that the system gave.
    pub bytes_received: u64,
    /// Push frames, which answer nothing.
    pub pushes: u64,
    /// How often connections changed to the database of a recorded request.
    pub selects: u64,
    /// What became of transactions.
    pub transactions: TransactionCounts,
    /// How connections fared.
    pub connections: ConnectionCounts,
    /// Redirections that were not followed.
    pub unfollowed: Unfollowed,
    /// One for each command of the settings.
    pub commands: Vec<CommandTally>,
    /// Only where each request had its time.
    pub schedule: Option<ScheduleTally>,
    /// One for each thread, where there are any.
    pub timelines: Vec<Timeline>,
    /// One for each thread.
    pub threads: Vec<Health>,
    /// What the user has to know of how requests are spread over nodes, in sentences.
    pub routing: Vec<String>,
    /// One for each node of a cluster, by endpoint.
    pub nodes: Vec<NodeTally>,
    /// Only where there were listeners.
    pub listeners: Option<ListenerTally>,
    /// Why the work ended early, if it did.
    pub failure: Option<LoadError>,
}

impl Outcome {
    /// What the threads counted at the same time.
    #[must_use]
    pub fn new(settings: &Settings, begin_ns: u64, tallies: Vec<Tally>, failure: Option<LoadError>) -> Self {
        let started_ns = tallies.iter().filter_map(|tally| tally.started_ns).min();
        let ended_ns = tallies.iter().filter(|tally| tally.started_ns.is_some()).map(|tally| tally.ended_ns).max();
        let mut outcome = Self::empty(settings.commands.len());
        outcome.begin_ns = begin_ns;
        outcome.elapsed_ns = ended_ns.unwrap_or(0).saturating_sub(started_ns.unwrap_or(0));
        outcome.failure = failure;
        for tally in tallies {
            outcome.bytes_sent += tally.bytes_sent;
            outcome.bytes_received += tally.bytes_received;
            outcome.pushes += tally.pushes;
            outcome.selects += tally.selects;
            outcome.connections.merge(tally.connections);
            outcome.unfollowed.merge(&tally.unfollowed);
            outcome.merge_commands(&tally.commands);
            if let Some(schedule) = tally.schedule {
                outcome.schedule.get_or_insert_default().merge(&schedule);
            }
            outcome.timelines.extend(tally.timeline);
            outcome.threads.push(tally.health);
            for node in tally.nodes {
                outcome.merge_node(node);
            }
        }
        Timeline::even_out(&mut outcome.timelines);
        outcome.transactions = TransactionCounts::of(&settings.commands, &outcome.commands);
        outcome
    }

    /// Nothing done yet.
    #[must_use]
    pub fn empty(commands: usize) -> Self {
        Self {
            begin_ns: 0,
            elapsed_ns: 0,
            bytes_sent: 0,
            bytes_received: 0,
            pushes: 0,
            selects: 0,
            transactions: TransactionCounts::default(),
            connections: ConnectionCounts::default(),
            unfollowed: Unfollowed::default(),
            commands: (0..commands).map(|_| CommandTally::default()).collect(),
            schedule: None,
            timelines: Vec::new(),
            threads: Vec::new(),
            routing: Vec::new(),
            nodes: Vec::new(),
            listeners: None,
            failure: None,
        }
    }

    /// Adds what was done after this; times add up without the pause in between. Timelines and threads are those of
    /// the first.
    pub fn append(&mut self, later: &Self) {
        self.elapsed_ns += later.elapsed_ns;
        self.bytes_sent += later.bytes_sent;
        self.bytes_received += later.bytes_received;
        self.pushes += later.pushes;
        self.selects += later.selects;
        self.transactions.merge(later.transactions);
        self.connections.merge(later.connections);
        self.unfollowed.merge(&later.unfollowed);
        self.merge_commands(&later.commands);
        if let Some(schedule) = &later.schedule {
            self.schedule.get_or_insert_default().merge(schedule);
        }
        if self.threads.len() < later.threads.len() {
            self.threads.resize_with(later.threads.len(), Health::default);
        }
        for (thread, more) in self.threads.iter_mut().zip(&later.threads) {
            thread.merge(more);
        }
        self.routing.clone_from(&later.routing);
        if let Some(listeners) = &later.listeners {
            self.listeners.get_or_insert_default().merge(listeners);
        }
        for node in &later.nodes {
            self.merge_node(node.clone());
        }
    }

    /// Replies of all commands.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.commands.iter().map(CommandTally::requests).sum()
    }

    /// What the user has to know of the figures, in sentences.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let listeners = self.listeners.as_ref().and_then(ListenerTally::warning);
        let others = listeners.into_iter().chain(self.unfollowed.warning()).chain(self.transactions.warnings());
        let others = others.chain(self.routing.iter().cloned());
        self.slip_warnings().into_iter().chain(others).collect()
    }

    /// CPU time of all threads.
    #[must_use]
    pub fn client_cpu_ns(&self) -> u64 {
        self.threads.iter().map(|thread| thread.cpu_ns).sum()
    }

    /// For how long its threads could have run, but did not get a processor; none where the system does not report it.
    #[must_use]
    pub fn client_wait_ns(&self) -> Option<u64> {
        self.threads.iter().map(|thread| thread.run_queue_ns).sum()
    }

    /// All commands together.
    #[must_use]
    pub fn total(&self) -> CommandTally {
        let mut total = CommandTally::default();
        for command in &self.commands {
            total.merge(command);
        }
        total
    }

    /// Requests in a second of `elapsed_ns`; 0 if no time went by.
    #[must_use]
    pub fn per_second(&self, requests: u64) -> f64 {
        if self.elapsed_ns == 0 { 0.0 } else { requests as f64 / (self.elapsed_ns as f64 / 1e9) }
    }

    /// Whether it is a measurement: all that was asked for, or all until the user ended it.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        self.failure.is_none() || self.is_interrupted()
    }

    /// Whether the user ended it.
    #[must_use]
    pub const fn is_interrupted(&self) -> bool {
        matches!(self.failure, Some(LoadError::Interrupted))
    }

    fn merge_commands(&mut self, commands: &[CommandTally]) {
        for (command, more) in self.commands.iter_mut().zip(commands) {
            command.merge(more);
        }
    }

    fn merge_node(&mut self, node: NodeTally) {
        match self.nodes.iter_mut().find(|known| known.endpoint == node.endpoint) {
            Some(known) => {
                known.is_replica |= node.is_replica;
                known.replies.merge(&node.replies);
            }
            None => self.nodes.push(node),
        }
    }
}

/// Whether the figures are the server's, or the load generator's own.
impl Outcome {
    /// Why the load generator itself set a limit, in sentences; empty if it did not.
    #[must_use]
    pub fn client_bounds(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        for (number, thread) in self.threads.iter().enumerate() {
            if thread.demand() > MOST_DEMAND {
                let percent = thread.demand() * 100.0;
                reasons.push(format!("thread {number} had or wanted a processor for {percent:.0} % of its time"));
            }
        }
        let latency_ns = self.total().latencies.percentile_ns(99.0).unwrap_or(0);
        let is_long = |delay_ns: u64| delay_ns > LEAST_DELAY_NS && delay_ns as f64 > latency_ns as f64 * MOST_DELAY;
        let own_slip_ns = self.schedule.as_ref().and_then(|schedule| schedule.own_slip.percentile_ns(99.0));
        if let Some(slip_ns) = own_slip_ns.filter(|&slip_ns| is_long(slip_ns)) {
            reasons.push(format!("1 % of the requests were sent {:.1} ms late or more", slip_ns as f64 / 1e6));
        }
        for (number, thread) in self.threads.iter().enumerate() {
            let lag_ns = thread.lag.percentile_ns(99.0).unwrap_or(0);
            if is_long(lag_ns) {
                let milliseconds = lag_ns as f64 / 1e6;
                reasons.push(format!("thread {number} left replies unread for {milliseconds:.1} ms, 1 % of the times"));
            }
        }
        reasons
    }

    /// What keeps the latencies from being those of the schedule, in sentences; empty without a schedule.
    #[must_use]
    pub fn slip_warnings(&self) -> Vec<String> {
        let Some(schedule) = &self.schedule else { return Vec::new() };
        let mut warnings = Vec::new();
        if schedule.unsent > 0 {
            warnings.push(format!(
                "the server did not keep up: {} requests that were due were never sent, and no latency counts them",
                schedule.unsent
            ));
        }
        let slip_ns = schedule.slip.percentile_ns(99.0).unwrap_or(0);
        let latency_ns = self.total().latencies.percentile_ns(99.0).unwrap_or(0);
        if slip_ns > LEAST_DELAY_NS && slip_ns as f64 > latency_ns as f64 * MOST_DELAY {
            warnings.push(format!(
                "slip is not negligible: 1 % of the requests were sent {:.1} ms or more after they were due; \
                 latencies count that time, service times do not",
                slip_ns as f64 / 1e6
            ));
        }
        warnings
    }
}

/// What was measured, and when.
#[derive(Debug)]
pub struct Run {
    /// When the measured work began.
    pub started: SystemTime,
    /// How long each phase took, in seconds, in the order they came.
    pub phases: Vec<(&'static str, f64)>,
    /// What was counted.
    pub outcome: Outcome,
}

impl Run {
    /// A run that failed before anything was measured.
    #[must_use]
    pub fn failed(settings: &Settings, failure: LoadError) -> Self {
        let outcome = Outcome { failure: Some(failure), ..Outcome::empty(settings.commands.len()) };
        Self { started: SystemTime::now(), phases: Vec::new(), outcome }
    }

    /// All runs as if they had been one: counts are added, times too.
    #[must_use]
    pub fn merged(settings: &Settings, runs: &[Self]) -> Self {
        let mut outcome = Outcome::empty(settings.commands.len());
        for run in runs {
            outcome.append(&run.outcome);
        }
        let started = runs.first().map_or(SystemTime::UNIX_EPOCH, |run| run.started);
        Self { started, phases: Vec::new(), outcome }
    }
}
