//! The figures of one command, or of all.

use serde_json::{Value, json};
use zerolap_resp::ReplyKind;

use super::percentiles::{compressed, milliseconds, percentiles};
use crate::Outcome;
use crate::tally::CommandTally;
use zerolap_load_requests::Policy;

const BYTES_PER_KB: f64 = 1024.0;
const NS_PER_MS: u64 = 1_000_000;
/// Kinds of replies that bring something that was looked up, unless they are empty.
const FOUND: [ReplyKind; 5] = [ReplyKind::Bulk, ReplyKind::Array, ReplyKind::Map, ReplyKind::Set, ReplyKind::Verbatim];

/// What a row is made with.
#[derive(Clone, Copy)]
pub(super) struct RowContext<'run> {
    pub(super) outcome: &'run Outcome,
    pub(super) policy: Policy,
    pub(super) is_cluster: bool,
    pub(super) percents: &'run [f64],
    /// Connections that broke, which belong to no command; told with the totals.
    pub(super) disconnects: u64,
}

/// One row. Latencies are in milliseconds, and those of all replies.
pub(super) fn row(context: RowContext<'_>, tally: &CommandTally, time_series: &Value) -> Value {
    let outcome = context.outcome;
    let per_second = |count: u64| hundredths(outcome.per_second(count));
    let kilobytes = |bytes: u64| hundredths(outcome.per_second(bytes) / BYTES_PER_KB);
    let non_nil: u64 = FOUND.iter().map(|&kind| tally.replies(kind)).sum();
    let hits = non_nil.saturating_sub(tally.empty_arrays);
    let errors = tally.requests() - tally.succeeded();
    let counted = if context.policy == Policy::Memtier { tally.requests() } else { tally.succeeded() };
    let latencies = &tally.latencies;
    let mean_ms = latencies.mean_ns().map_or(0.0, |mean_ns| (mean_ns / 1e3).round() / 1e3);
    let mut percentile_latencies = percentiles(latencies, context.percents);
    if let Some(text) = compressed(latencies) {
        percentile_latencies.insert("Histogram log format".to_owned(), json!({"Compressed Histogram": text}));
    }
    let mut row = json!({
        "Count": tally.requests(),
        "Ops/sec": per_second(counted),
        "Hits/sec": per_second(hits),
        "Misses/sec": per_second(tally.replies(ReplyKind::Nil) + tally.empty_arrays),
        "Errors": errors,
        "Errors/sec": per_second(errors),
        "Connection Errors/sec": per_second(context.disconnects),
        "Connection Errors": context.disconnects,
        "Latency": mean_ms,
        "Average Latency": mean_ms,
        "Accumulated Latency": latencies.sum_ns() / NS_PER_MS,
        "Min Latency": milliseconds(latencies.minimum_ns()),
        "Max Latency": milliseconds(latencies.maximum_ns()),
        "KB/sec": kilobytes(tally.bytes_received + tally.bytes_sent),
        "KB/sec RX/TX": kilobytes(tally.bytes_received + tally.bytes_sent),
        "KB/sec RX": kilobytes(tally.bytes_received),
        "KB/sec TX": kilobytes(tally.bytes_sent),
        "Time-Serie": time_series,
        "Percentile Latencies": percentile_latencies,
    });
    if context.is_cluster {
        row["MOVED/sec"] = json!(per_second(tally.moved));
        row["ASK/sec"] = json!(per_second(tally.asked));
    }
    row
}

fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
