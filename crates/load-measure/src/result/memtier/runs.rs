//! One run, or several.

use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use super::distribution::distribution;
use super::row::{RowContext, row};
use super::time_series::time_series;
use crate::tally::CommandTally;
use crate::{LoadError, Outcome, ReportSettings, Run};
use zerolap_load_requests::Settings;

/// The results by their headings: `ALL STATS` of a single run; of several the best, the worst and all together.
pub(in crate::result) fn results(settings: &Settings, report: &ReportSettings, runs: &[Run]) -> Map<String, Value> {
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
    let is_interrupted = matches!(run.outcome.failure(), Some(LoadError::Interrupted));
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
