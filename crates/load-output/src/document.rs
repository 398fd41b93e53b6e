//! The whole document of a run.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::ReportSettings;
use crate::differences::differences;
use crate::memtier;
use crate::record::{LatencyRecord, NodeRecord, ResultRecord, ScheduleRecord};
use crate::settings::SettingsRecord;
use zerolap_load_measure::{Health, Histogram, ListenerTally, MessageKind, Outcome, Run, SearchRecord, Slot, Timeline};
use zerolap_load_requests::{Plan, Settings};

/// Name and version of the part that is not memtier's.
pub const SCHEMA: &str = "zerolap.load/2";

/// Length of a slot where there is no timeline.
const USUAL_SLOT_NS: u64 = 100_000_000;

/// A result with what it was made with: first in memtier's layout, then what memtier does not report.
#[derive(Debug, Clone, Serialize)]
pub struct Document {
    configuration: Value,
    #[serde(rename = "run information")]
    run_information: Value,
    #[serde(flatten)]
    results: Map<String, Value>,
    lab: LabRecord,
}

/// All runs together.
#[derive(Debug, Clone, Serialize)]
struct LabRecord {
    schema: &'static str,
    /// How ranges were split: as the lab does or as memtier does.
    policy: &'static str,
    /// Where `memtier_benchmark` would have done or reported something else.
    differences: Vec<String>,
    warnings: Vec<String>,
    /// Why the run ended early; null if it did not.
    failure: Option<String>,
    settings: SettingsRecord,
    /// Seconds of each phase of the last run.
    phases: BTreeMap<&'static str, f64>,
    /// When the last run's work began, on the system's monotonic clock.
    began_monotonic_ns: u64,
    #[serde(flatten)]
    result: ResultRecord,
    connections: ConnectionsRecord,
    /// Only where each request had its time.
    schedule: Option<ScheduleRecord>,
    client: ClientRecord,
    /// Of the last run.
    timeline: TimelineRecord,
    /// Only where there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    listeners: Option<ListenersRecord>,
    /// Only of a search.
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<SearchRecord>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nodes: Vec<NodeRecord>,
}

#[derive(Debug, Clone, Serialize)]
struct ConnectionsRecord {
    /// Connections that broke or that the server closed.
    disconnects: u64,
    /// Connections that were given up because a reply did not come in time.
    timeouts: u64,
    /// Connections that were made anew.
    reconnects: u64,
}

impl Document {
    /// The document of some runs of one plan. Of a run that failed it holds only what was counted, in its second part:
    /// programs that read memtier's layout must not take that for a result.
    #[must_use]
    pub fn new(settings: &Settings, report: &ReportSettings, plan: &Plan, runs: &[Run]) -> Self {
        let is_valid = runs.iter().all(|run| run.outcome.is_valid());
        Self {
            configuration: memtier::configuration(settings, report, plan),
            run_information: memtier::run_information(settings, plan),
            results: if is_valid { memtier::results(settings, report, runs) } else { Map::new() },
            lab: LabRecord::new(settings, report, plan, runs),
        }
    }

    /// The same with the search whose best step it is of.
    #[must_use]
    pub fn of_search(mut self, search: Option<SearchRecord>) -> Self {
        self.lab.search = search;
        self
    }
}

impl LabRecord {
    fn new(settings: &Settings, report: &ReportSettings, plan: &Plan, runs: &[Run]) -> Self {
        let all = Run::merged(settings, runs);
        let (outcome, last) = (&all.outcome, runs.last());
        let schedule = plan.work.pace.zip(outcome.schedule.as_ref());
        let failure = runs.iter().find_map(|run| run.outcome.failure.as_ref());
        Self {
            schema: SCHEMA,
            policy: memtier::policy(settings.policy),
            differences: differences(settings, plan, outcome),
            warnings: report.warnings.iter().cloned().chain(outcome.warnings()).collect(),
            failure: failure.map(ToString::to_string),
            settings: SettingsRecord::new(settings),
            phases: last.iter().flat_map(|run| run.phases.iter().copied()).collect(),
            began_monotonic_ns: last.map_or(0, |run| run.outcome.begin_ns),
            result: ResultRecord::new(&settings.commands, outcome),
            connections: ConnectionsRecord {
                disconnects: outcome.connections.disconnects,
                timeouts: outcome.connections.timeouts,
                reconnects: outcome.connections.reconnects,
            },
            schedule: schedule.map(|(pace, tally)| ScheduleRecord::new(pace, outcome, tally)),
            client: ClientRecord::new(outcome),
            timeline: TimelineRecord::new(last.map_or(&[], |run| &run.outcome.timelines), report.slot_histograms),
            listeners: outcome.listeners.as_ref().map(|tally| ListenersRecord::new(settings, tally)),
            search: None,
            nodes: outcome.nodes.iter().map(NodeRecord::new).collect(),
        }
    }
}

/// The load generator's own part.
#[derive(Debug, Clone, Serialize)]
struct ClientRecord {
    /// Whether its limits were measured, not the server's.
    client_bound: bool,
    /// Why.
    reasons: Vec<String>,
    threads: Vec<ThreadRecord>,
}

#[derive(Debug, Clone, Serialize)]
struct ThreadRecord {
    elapsed_ns: u64,
    cpu_ns: u64,
    /// Of this, polling without an event: only with busy polling.
    spin_ns: u64,
    /// Time that it could have run, but got no processor; null where the system does not report it.
    run_queue_ns: Option<u64>,
    /// How long it did not look for replies, each time.
    loop_lag_us: Option<LatencyRecord>,
}

impl ClientRecord {
    fn new(outcome: &Outcome) -> Self {
        let reasons = outcome.client_bounds();
        let threads = outcome.threads.iter().map(ThreadRecord::new).collect();
        Self { client_bound: !reasons.is_empty(), reasons, threads }
    }
}

impl ThreadRecord {
    fn new(health: &Health) -> Self {
        Self {
            elapsed_ns: health.elapsed_ns,
            cpu_ns: health.cpu_ns,
            spin_ns: health.spin_ns,
            run_queue_ns: health.run_queue_ns,
            loop_lag_us: LatencyRecord::new(&health.lag),
        }
    }
}

/// The slots of a run, from when it began.
#[derive(Debug, Clone, Serialize)]
struct TimelineRecord {
    /// Length of a slot; in a long run slots are put together.
    slot_seconds: f64,
    slots: Vec<SlotRecord>,
}

#[derive(Debug, Clone, Serialize)]
struct SlotRecord {
    /// When it begins, in seconds from the beginning of the run.
    at_seconds: f64,
    /// Replies, errors too.
    replies: u64,
    errors: u64,
    latency_us: Option<LatencyRecord>,
    /// Lower edges and counts of the buckets that are not empty; only where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    histogram_ns: Option<Vec<(u64, u64)>>,
}

impl TimelineRecord {
    fn new(timelines: &[Timeline], with_histograms: bool) -> Self {
        let tracks: Vec<&[Slot]> =
            timelines.iter().flat_map(|timeline| &timeline.tracks).map(|track| track.slots.as_slice()).collect();
        let slots = tracks.iter().map(|track| track.len()).max().unwrap_or(0);
        // Those of all threads have the same length.
        let slot_ns = timelines.first().map_or(USUAL_SLOT_NS, |timeline| timeline.slot_ns);
        let slots = (0..slots).map(|index| {
            let mut latencies = Histogram::default();
            let (mut errors, mut lost) = (0, 0);
            for slot in tracks.iter().filter_map(|track| track.get(index)) {
                slot.add_to(&mut latencies);
                errors += slot.errors;
                lost += slot.lost;
            }
            SlotRecord {
                at_seconds: (index as u64 * slot_ns) as f64 / 1e9,
                replies: latencies.count() - lost,
                errors,
                latency_us: LatencyRecord::new(&latencies),
                histogram_ns: with_histograms.then(|| latencies.buckets().collect()),
            }
        });
        Self { slot_seconds: slot_ns as f64 / 1e9, slots: slots.collect() }
    }
}

/// All listeners together.
#[derive(Debug, Clone, Serialize)]
struct ListenersRecord {
    connections: usize,
    /// As they were given.
    commands: Vec<String>,
    /// By the server's words for them.
    messages: BTreeMap<&'static str, u64>,
    bytes: u64,
    messages_per_second: f64,
    /// Error replies after the command was confirmed, by code.
    errors: BTreeMap<String, u64>,
    disconnects: u64,
}

impl ListenersRecord {
    fn new(settings: &Settings, tally: &ListenerTally) -> Self {
        let commands = settings.listening.iter().flat_map(|listening| &listening.commands);
        Self {
            connections: tally.connections,
            commands: commands.map(|command| command.line.clone()).collect(),
            messages: MessageKind::ALL.into_iter().map(|kind| (kind.name(), tally.messages(kind))).collect(),
            bytes: tally.bytes,
            messages_per_second: tally.per_second(),
            errors: tally.errors.list().iter().cloned().collect(),
            disconnects: tally.disconnects,
        }
    }
}
