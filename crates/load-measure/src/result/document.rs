//! The whole document of a run.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::client::ClientRecord;
use super::listeners::ListenersRecord;
use super::memtier;
use super::record::{NodeRecord, ResultRecord};
use super::schedule::ScheduleRecord;
use super::settings::SettingsRecord;
use super::timeline::TimelineRecord;
use crate::{ReportSettings, Run, SearchRecord, differences};
use zerolap_load_requests::{Plan, Settings};

/// Name and version of the part that is not memtier's.
pub const SCHEMA: &str = "zerolap.load/2";

/// A result with what it was made with: first in memtier's layout, then what memtier does not tell.
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
    /// Whose oddities were kept.
    policy: &'static str,
    /// Where `memtier_benchmark` would have done or told something else.
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
    /// The document of some runs of one plan. Of a run that failed it tells only what was counted, in its second part:
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
        let failure = runs.iter().find_map(|run| run.outcome.failure());
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
            timeline: TimelineRecord::new(last.map_or(&[], |run| &run.outcome.timelines)),
            listeners: outcome.listeners.as_ref().map(|tally| ListenersRecord::new(settings, tally)),
            search: None,
            nodes: outcome.nodes.iter().map(NodeRecord::new).collect(),
        }
    }
}
