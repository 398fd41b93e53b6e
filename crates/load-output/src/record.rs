//! The result of one piece of work.

use std::collections::BTreeMap;

use serde::Serialize;
use zerolap_resp::ReplyKind;

use zerolap_load_measure::{
    CheckedValues, CommandTally, Histogram, NodeTally, Outcome, ScheduleTally, TransactionCounts,
};
use zerolap_load_requests::{Answer, Arrivals, Command, LookUp, Pace};

/// Kinds that are listed even when none was seen.
const ALWAYS_LISTED: [ReplyKind; 6] =
    [ReplyKind::Status, ReplyKind::Integer, ReplyKind::Bulk, ReplyKind::Nil, ReplyKind::Array, ReplyKind::Error];

const NS_PER_US: f64 = 1000.0;

/// All commands together, then each.
#[derive(Debug, Clone, Serialize)]
pub struct ResultRecord {
    requests: u64,
    succeeded: u64,
    elapsed_ns: u64,
    client_cpu_ns: u64,
    /// For how long the load generator could have run, but did not get a processor; null where it is not reported.
    client_wait_ns: Option<u64>,
    /// Of successful replies.
    ops_per_sec: f64,
    #[serde(flatten)]
    replies: RepliesRecord,
    /// Requests that never got a reply, because of timeouts and disconnects.
    #[serde(flatten)]
    lost: LostRecord,
    /// Push frames, which answer nothing.
    #[serde(skip_serializing_if = "is_zero")]
    pushes: u64,
    /// How often connections changed to the database of a recorded request; these SELECTs are no requests.
    #[serde(skip_serializing_if = "is_zero")]
    selects: u64,
    /// What became of transactions, by the replies to EXEC.
    #[serde(skip_serializing_if = "TransactionCounts::is_none")]
    transactions: TransactionCounts,
    bytes_sent: u64,
    bytes_received: u64,
    /// Of all replies, errors too, and of lost requests what was waited for them; null without any. Where each request
    /// had its time, counted from that.
    latency_us: Option<LatencyRecord>,
    /// Lower edges and counts of the buckets that are not empty.
    histogram_ns: Vec<(u64, u64)>,
    commands: Vec<CommandRecord>,
}

#[derive(Debug, Clone, Serialize)]
struct CommandRecord {
    command: String,
    line: String,
    requests: u64,
    succeeded: u64,
    #[serde(flatten)]
    replies: RepliesRecord,
    #[serde(flatten)]
    lost: LostRecord,
    bytes_sent: u64,
    bytes_received: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    look_ups: Option<LookUpsRecord>,
    latency_us: Option<LatencyRecord>,
}

/// What the replies to a command that looks something up show. `empty_value` are values that may also stand for a key
/// that does not exist; `unclear` are scripts that replied nil.
#[derive(Debug, Clone, Serialize)]
struct LookUpsRecord {
    role: &'static str,
    answers: u64,
    nothing: u64,
    no_member: u64,
    empty_value: u64,
    unclear: u64,
}

/// Requests without a reply of their own.
#[derive(Debug, Clone, Serialize)]
struct LostRecord {
    timed_out: u64,
    disconnected: u64,
    #[serde(skip_serializing_if = "is_zero")]
    moved: u64,
    #[serde(skip_serializing_if = "is_zero")]
    asked: u64,
}

/// What one node of a cluster answered.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct NodeRecord {
    endpoint: String,
    role: &'static str,
    requests: u64,
    succeeded: u64,
    #[serde(flatten)]
    replies: RepliesRecord,
    #[serde(flatten)]
    lost: LostRecord,
    latency_us: Option<LatencyRecord>,
}

#[derive(Debug, Clone, Serialize)]
struct RepliesRecord {
    replies: BTreeMap<&'static str, u64>,
    empty_arrays: u64,
    zeros: u64,
    hits: u64,
    misses: u64,
    nils: u64,
    #[serde(flatten)]
    checked: Option<CheckedValues>,
    errors: BTreeMap<String, u64>,
    /// Those of the errors that are within other replies.
    #[serde(skip_serializing_if = "is_zero")]
    error_elements: u64,
}

/// Latencies in microseconds.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct LatencyRecord {
    mean: f64,
    p50: f64,
    p90: f64,
    p99: f64,
    p99_9: f64,
    p99_99: f64,
    max: f64,
}

impl ResultRecord {
    /// The record of what `commands` came to.
    #[must_use]
    pub fn new(commands: &[Command], outcome: &Outcome) -> Self {
        let total = outcome.total();
        Self {
            requests: total.requests(),
            succeeded: total.succeeded(),
            elapsed_ns: outcome.elapsed_ns,
            client_cpu_ns: outcome.client_cpu_ns(),
            client_wait_ns: outcome.client_wait_ns(),
            ops_per_sec: outcome.per_second(total.succeeded()),
            replies: RepliesRecord::new(&total),
            lost: LostRecord::new(&total),
            pushes: outcome.pushes,
            selects: outcome.selects,
            transactions: outcome.transactions,
            bytes_sent: outcome.bytes_sent,
            bytes_received: outcome.bytes_received,
            latency_us: LatencyRecord::new(&total.latencies),
            histogram_ns: total.latencies.buckets().collect(),
            commands: commands.iter().zip(&outcome.commands).map(CommandRecord::new).collect(),
        }
    }
}

/// An open loop's three times of a request.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ScheduleRecord {
    per_second: u64,
    arrivals: &'static str,
    /// From when a request was due to its reply.
    response_us: Option<LatencyRecord>,
    /// From handing it to the system to its reply.
    service_us: Option<LatencyRecord>,
    /// From when it was due to handing it to the system.
    slip_us: Option<LatencyRecord>,
    /// The slip of requests that did not wait for room in a pipeline.
    own_slip_us: Option<LatencyRecord>,
    /// Requests that were due, but never sent.
    unsent: u64,
    /// Whether requests were sent when they were due, or nearly.
    is_kept: bool,
    service_histogram_ns: Vec<(u64, u64)>,
    slip_histogram_ns: Vec<(u64, u64)>,
}

impl ScheduleRecord {
    pub(crate) fn new(pace: Pace, outcome: &Outcome, tally: &ScheduleTally) -> Self {
        Self {
            per_second: pace.per_second.get(),
            arrivals: match pace.arrivals {
                Arrivals::Fixed => "fixed",
                Arrivals::Poisson => "poisson",
            },
            response_us: LatencyRecord::new(&outcome.total().latencies),
            service_us: LatencyRecord::new(&tally.service),
            slip_us: LatencyRecord::new(&tally.slip),
            own_slip_us: LatencyRecord::new(&tally.own_slip),
            unsent: tally.unsent,
            is_kept: outcome.slip_warnings().is_empty(),
            service_histogram_ns: tally.service.buckets().collect(),
            slip_histogram_ns: tally.slip.buckets().collect(),
        }
    }
}

/// A slice: its result, and how its requests kept to their times if they had any.
#[derive(Debug, Clone, Serialize)]
pub struct SliceRecord {
    #[serde(flatten)]
    result: ResultRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<ScheduleRecord>,
}

impl SliceRecord {
    /// The record of what `commands` came to at this pace.
    #[must_use]
    pub fn new(commands: &[Command], pace: Option<Pace>, outcome: &Outcome) -> Self {
        let schedule = pace.zip(outcome.schedule.as_ref());
        Self {
            result: ResultRecord::new(commands, outcome),
            schedule: schedule.map(|(pace, tally)| ScheduleRecord::new(pace, outcome, tally)),
        }
    }
}

impl CommandRecord {
    fn new((command, tally): (&Command, &CommandTally)) -> Self {
        Self {
            command: command.template.command().to_owned(),
            line: command.line.clone(),
            requests: tally.requests(),
            succeeded: tally.succeeded(),
            replies: RepliesRecord::new(tally),
            lost: LostRecord::new(tally),
            bytes_sent: tally.bytes_sent,
            bytes_received: tally.bytes_received,
            first_error: tally.first_error.clone(),
            look_ups: command.look_up().map(|rule| LookUpsRecord::new(rule, tally)),
            latency_us: LatencyRecord::new(&tally.latencies),
        }
    }
}

impl LookUpsRecord {
    fn new(rule: LookUp, tally: &CommandTally) -> Self {
        Self {
            role: rule.role.name(),
            answers: tally.look_ups(),
            nothing: tally.answers(Answer::Nothing),
            no_member: tally.answers(Answer::NoMember),
            empty_value: tally.answers(Answer::EmptyValue),
            unclear: tally.answers(Answer::Unclear),
        }
    }
}

impl NodeRecord {
    pub(crate) fn new(node: &NodeTally) -> Self {
        let tally = &node.replies;
        Self {
            endpoint: node.endpoint.to_string(),
            role: node.role(),
            requests: tally.requests(),
            succeeded: tally.succeeded(),
            replies: RepliesRecord::new(tally),
            lost: LostRecord::new(tally),
            latency_us: LatencyRecord::new(&tally.latencies),
        }
    }
}

impl LostRecord {
    const fn new(tally: &CommandTally) -> Self {
        Self { timed_out: tally.timed_out, disconnected: tally.disconnected, moved: tally.moved, asked: tally.asked }
    }
}

impl RepliesRecord {
    fn new(tally: &CommandTally) -> Self {
        let counted = ReplyKind::ALL.into_iter().map(|kind| (kind, tally.replies(kind)));
        let listed = counted.filter(|(kind, count)| *count > 0 || ALWAYS_LISTED.contains(kind));
        Self {
            replies: listed.map(|(kind, count)| (kind.name(), count)).collect(),
            empty_arrays: tally.empty_arrays,
            zeros: tally.zeros,
            hits: tally.hits(),
            misses: tally.misses(),
            nils: tally.replies(ReplyKind::Nil),
            checked: tally.checked,
            errors: tally.errors().iter().cloned().collect(),
            error_elements: tally.error_elements,
        }
    }
}

impl LatencyRecord {
    pub(crate) fn new(latencies: &Histogram) -> Option<Self> {
        let percentile_us = |percent| latencies.percentile_ns(percent).map(|value_ns| value_ns as f64 / NS_PER_US);
        Some(Self {
            mean: latencies.mean_ns()? / NS_PER_US,
            p50: percentile_us(50.0)?,
            p90: percentile_us(90.0)?,
            p99: percentile_us(99.0)?,
            p99_9: percentile_us(99.9)?,
            p99_99: percentile_us(99.99)?,
            max: latencies.maximum_ns() as f64 / NS_PER_US,
        })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
