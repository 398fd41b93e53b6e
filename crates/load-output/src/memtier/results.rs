//! Results under memtier's names.

use std::time::{Duration, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use serde_json::{Map, Value, json};

use crate::ReportSettings;
use zerolap_load_measure::{CommandTally, Histogram, Outcome, Run, Slot, Timeline};
use zerolap_load_requests::{Policy, Settings};

const NS_PER_SECOND: u64 = 1_000_000_000;
const NS_PER_MS: u64 = 1_000_000;
const NS_PER_US: u64 = 1_000;
const US_PER_MS: f64 = 1e3;
const BYTES_PER_KB: f64 = 1024.0;
/// Significant digits of exported histograms.
const DIGITS: u8 = 3;
/// Steps of a distribution to each halving of what is left above.
const TICKS: u32 = 5;

/// The results by their headings: `ALL STATS` of a single run; of several the best, the worst and all together.
pub(crate) fn results(settings: &Settings, report: &ReportSettings, runs: &[Run]) -> Map<String, Value> {
    let statistics = |run: &Run| statistics(settings, report, run);
    let mut results = Map::new();
    let [first, .., last] = runs else {
        results.extend(runs.first().map(|run| ("ALL STATS".to_owned(), statistics(run))));
        return results;
    };
    if report.print_all_runs {
        for (index, run) in runs.iter().enumerate() {
            results.insert(format!("RUN #{} RESULTS", index + 1), statistics(run));
        }
    }
    let rate = |run: &&Run| run.outcome.per_second(run.outcome.total().succeeded());
    let best = runs.iter().max_by(|left, right| rate(left).total_cmp(&rate(right))).unwrap_or(first);
    let worst = runs.iter().min_by(|left, right| rate(left).total_cmp(&rate(right))).unwrap_or(last);
    results.insert("BEST RUN RESULTS".to_owned(), statistics(best));
    results.insert("WORST RUN RESULTS".to_owned(), statistics(worst));
    let heading = format!("AGGREGATED AVERAGE RESULTS ({} runs)", runs.len());
    results.insert(heading, statistics(&Run::merged(settings, runs)));
    results
}

fn statistics(settings: &Settings, report: &ReportSettings, run: &Run) -> Value {
    let outcome = &run.outcome;
    let context = RowContext {
        outcome,
        policy: settings.policy,
        is_cluster: settings.server.is_cluster,
        percents: &report.percentiles,
        disconnects: 0,
    };
    let mut statistics = Map::new();
    statistics.insert("Runtime".to_owned(), runtime(run));
    let rows = rows(settings, report);
    for (name, commands) in &rows {
        let series = time_series(&outcome.timelines, commands, &report.percentiles);
        statistics.insert(plural(name), row(context, &merged(outcome, commands), &series));
    }
    let all: Vec<usize> = (0..settings.commands.len()).collect();
    let series = time_series(&outcome.timelines, &all, &report.percentiles);
    let totals = RowContext { disconnects: outcome.connections.disconnects, ..context };
    statistics.insert("Totals".to_owned(), row(totals, &outcome.total(), &series));
    if !report.hide_histogram {
        for (name, commands) in &rows {
            statistics.insert(name.clone(), distribution(&merged(outcome, commands).latencies));
        }
    }
    Value::Object(statistics)
}

fn runtime(run: &Run) -> Value {
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let started = run.started.duration_since(UNIX_EPOCH).unwrap_or_default();
    let elapsed = Duration::from_nanos(run.outcome.elapsed_ns);
    let is_interrupted = run.outcome.is_interrupted();
    json!({
        "Start time": milliseconds(started),
        "Finish time": milliseconds(started + elapsed),
        "Total duration": milliseconds(elapsed),
        "Time unit": "MILLISECONDS",
        "Interrupted": is_interrupted.to_string(),
    })
}

/// Names of rows and the indexes of their commands: one for each name, or for each line.
fn rows(settings: &Settings, report: &ReportSettings) -> Vec<(String, Vec<usize>)> {
    let mut rows: Vec<(String, Vec<usize>)> = Vec::new();
    for (index, command) in settings.commands.iter().enumerate() {
        let name = if report.breakdown_by_line || settings.scan.is_some() {
            command.line.clone()
        } else {
            command.template.command().to_owned()
        };
        match rows.iter_mut().find(|(known, _)| *known == name) {
            Some((_, commands)) => commands.push(index),
            None => rows.push((name, vec![index])),
        }
    }
    rows
}

/// A row's heading: the command in lower case with a capital and an `s`.
fn plural(name: &str) -> String {
    let lower = name.to_lowercase();
    let mut letters = lower.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).chain(['s']).collect()).unwrap_or_default()
}

fn merged(outcome: &Outcome, commands: &[usize]) -> CommandTally {
    let mut merged = CommandTally::default();
    for command in commands.iter().filter_map(|&command| outcome.commands.get(command)) {
        merged.merge(command);
    }
    merged
}

/// What a row is made with.
#[derive(Clone, Copy)]
struct RowContext<'run> {
    outcome: &'run Outcome,
    policy: Policy,
    is_cluster: bool,
    percents: &'run [f64],
    /// Connections that broke, which belong to no command; reported with the totals.
    disconnects: u64,
}

/// One row. Latencies are in milliseconds, and those of all replies.
fn row(context: RowContext<'_>, tally: &CommandTally, time_series: &Value) -> Value {
    let outcome = context.outcome;
    let per_second = |count: u64| hundredths(outcome.per_second(count));
    let kilobytes = |bytes: u64| hundredths(outcome.per_second(bytes) / BYTES_PER_KB);
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
        "Hits/sec": per_second(tally.look_ups() - tally.misses()),
        "Misses/sec": per_second(tally.misses()),
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

/// Latencies in milliseconds, and the percentage of replies that took no longer.
fn distribution(latencies: &Histogram) -> Value {
    let Some(histogram) = exported(latencies).filter(|histogram| !histogram.is_empty()) else {
        return json!([{"<=msec": 0.0, "percent": 100.0}]);
    };
    let steps = histogram.iter_quantiles(TICKS).map(|step| {
        json!({"<=msec": step.value_iterated_to() as f64 / US_PER_MS, "percent": step.quantile_iterated_to() * 100.0})
    });
    Value::Array(steps.collect())
}

/// The seconds of the commands with these indexes. Where slots are longer, there is one entry for each, under its first
/// second.
fn time_series(timelines: &[Timeline], commands: &[usize], percents: &[f64]) -> Value {
    let tracks: Vec<&[Slot]> = timelines
        .iter()
        .flat_map(|timeline| commands.iter().filter_map(|&command| timeline.tracks.get(command)))
        .map(|track| track.slots.as_slice())
        .collect();
    let slots = tracks.iter().map(|track| track.len()).max().unwrap_or(0);
    let mut seconds = Map::new();
    let slot_ns = timelines.first().map_or(NS_PER_SECOND, |timeline| timeline.slot_ns);
    let slots_per_second = usize::try_from(NS_PER_SECOND / slot_ns).unwrap_or(1).max(1);
    let seconds_per_entry = (slot_ns / NS_PER_SECOND).max(1);
    for entry in 0..slots.div_ceil(slots_per_second) {
        let first = entry * slots_per_second;
        let of_entry = tracks.iter().flat_map(|track| track.iter().skip(first).take(slots_per_second));
        seconds.insert((entry as u64 * seconds_per_entry).to_string(), one_second(of_entry, percents));
    }
    Value::Object(seconds)
}

fn one_second<'slot>(slots: impl Iterator<Item = &'slot Slot>, percents: &[f64]) -> Value {
    let mut latencies = Histogram::default();
    let (mut lost, mut bytes_sent, mut bytes_received) = (0, 0, 0);
    for slot in slots {
        slot.add_to(&mut latencies);
        lost += slot.lost;
        bytes_sent += slot.bytes_sent;
        bytes_received += slot.bytes_received;
    }
    let mut record = Map::new();
    record.insert("Bytes RX".to_owned(), json!(bytes_received));
    record.insert("Bytes TX".to_owned(), json!(bytes_sent));
    record.insert("Count".to_owned(), json!(latencies.count() - lost));
    if let Some(mean_ns) = latencies.mean_ns() {
        record.insert("Average Latency".to_owned(), json!((mean_ns / 1e3).round() / 1e3));
        record.insert("Accumulated Latency".to_owned(), json!(latencies.sum_ns() / NS_PER_MS));
        record.insert("Min Latency".to_owned(), json!(milliseconds(latencies.minimum_ns())));
        record.insert("Max Latency".to_owned(), json!(milliseconds(latencies.maximum_ns())));
        record.extend(percentiles(&latencies, percents));
    }
    Value::Object(record)
}

/// Milliseconds to three decimals.
fn milliseconds(time_ns: u64) -> f64 {
    (time_ns as f64 / NS_PER_MS as f64 * 1e3).round() / 1e3
}

/// The name of a percentile: `p` and six characters at most, such as `p50.00` and `p99.90`.
fn name(percent: f64) -> String {
    let text = format!("p{percent:.3}");
    text.chars().take(6).collect()
}

/// Percentiles in milliseconds by their names, ascending.
fn percentiles(latencies: &Histogram, percents: &[f64]) -> Map<String, Value> {
    let mut percents = percents.to_vec();
    percents.sort_by(f64::total_cmp);
    let mut named = Map::new();
    for percent in percents {
        // Names are so short that two percentiles may share one: it stays that of the lower one, which it names exactly.
        let value = milliseconds(latencies.percentile_ns(percent).unwrap_or(0));
        named.entry(name(percent)).or_insert_with(|| json!(value));
    }
    named
}

/// The same latencies in microseconds as an `HdrHistogram`.
fn exported(latencies: &Histogram) -> Option<hdrhistogram::Histogram<u64>> {
    let highest_us = (latencies.maximum_ns() / NS_PER_US).max(2) * 2;
    let mut histogram = hdrhistogram::Histogram::new_with_bounds(1, highest_us, DIGITS).ok()?;
    for (lower_ns, count) in latencies.buckets() {
        histogram.record_n(lower_ns / NS_PER_US, count).ok()?;
    }
    Some(histogram)
}

/// The histogram in `HdrHistogram`'s compressed form (version 2), as text.
fn compressed(latencies: &Histogram) -> Option<String> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&exported(latencies)?, &mut bytes).ok()?;
    Some(STANDARD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::{compressed, milliseconds, name, percentiles};
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use zerolap_load_measure::Histogram;

    #[test]
    fn names_are_cut_as_memtier_cuts_them() {
        assert_eq!([50.0, 99.9, 99.99, 100.0, 5.0].map(name), ["p50.00", "p99.90", "p99.99", "p100.0", "p5.000"]);
    }

    #[test]
    fn percentiles_are_in_milliseconds_and_ascending() {
        let mut latencies = Histogram::default();
        (1..=1000).for_each(|number| latencies.record(number * 1_000));
        let found = percentiles(&latencies, &[99.0, 50.0]);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["p50.00", "p99.00"]);
        assert!((found["p50.00"].as_f64().expect("a number") - 0.5).abs() < 0.003);
        assert!((milliseconds(1_234_567) - 1.235).abs() < 1e-9);
    }

    #[test]
    fn exported_histograms_hold_every_value() {
        let mut latencies = Histogram::default();
        for value_ns in [0, 1, 999, 1_000_000, 70_000_000_000] {
            latencies.record(value_ns);
        }
        let text = compressed(&latencies).expect("a histogram");
        let bytes = STANDARD.decode(text).expect("base64");
        let read = hdrhistogram::serialization::Deserializer::new()
            .deserialize::<u64, _>(&mut bytes.as_slice())
            .expect("a histogram");
        assert_eq!(read.len(), 5);
        assert!(read.max().abs_diff(70_000_000) < 70_000 * 5);
    }
}
