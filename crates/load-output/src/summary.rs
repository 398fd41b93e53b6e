//! The result, for people.

use std::io::{self, Write};

use crate::ReportSettings;
use crate::memtier::configuration;
use zerolap_load_measure::{CommandTally, MessageKind, Outcome, Run};
use zerolap_load_requests::{Plan, Settings};

/// Longer command lines are cut in the table.
const LINE_COLUMNS: usize = 40;

/// Writes what was asked for, a setting to a line, under memtier's names.
///
/// # Errors
/// When `output` cannot be written.
pub fn write_settings(
    output: &mut impl Write,
    settings: &Settings,
    report: &ReportSettings,
    plan: &Plan,
) -> io::Result<()> {
    let configuration = configuration(settings, report, plan);
    for (name, value) in configuration.as_object().into_iter().flatten() {
        writeln!(output, "{name} = {value}")?;
    }
    writeln!(output)
}

/// Writes a table of the commands for each run, and of several runs one for all together.
///
/// # Errors
/// When `output` cannot be written.
pub fn write_summary(
    output: &mut impl Write,
    settings: &Settings,
    report: &ReportSettings,
    runs: &[Run],
) -> io::Result<()> {
    for (index, run) in runs.iter().enumerate() {
        if runs.len() > 1 {
            writeln!(output, "Run {} of {}", index + 1, runs.len())?;
        }
        write_run(output, settings, report, &run.outcome)?;
    }
    if runs.len() > 1 {
        writeln!(output, "\nAll runs together")?;
        write_run(output, settings, report, &Run::merged(settings, runs).outcome)?;
    }
    Ok(())
}

fn write_run(
    output: &mut impl Write,
    settings: &Settings,
    report: &ReportSettings,
    outcome: &Outcome,
) -> io::Result<()> {
    let total = outcome.total();
    if settings.commands.is_empty() {
        writeln!(output, "{}: only listened, for {:.3} s", settings.server.endpoint, seconds(outcome.elapsed_ns))?;
        write_listeners(output, outcome)?;
        return write_failure(output, outcome);
    }
    writeln!(
        output,
        "{}: {} threads x {} connections, pipeline {}{}, {} requests in {:.3} s",
        settings.server.endpoint,
        settings.threads,
        settings.clients,
        settings.pipeline,
        if settings.lockstep { " in lockstep" } else { "" },
        total.requests(),
        seconds(outcome.elapsed_ns),
    )?;
    write!(output, "\n{:LINE_COLUMNS$}", "command")?;
    for head in ["ops/s", "requests", "hits", "misses", "errors"] {
        write!(output, " {head:>12}")?;
    }
    for percent in &report.percentiles {
        write!(output, " {:>12}", format!("p{percent} us"))?;
    }
    writeln!(output, " {:>12}", "max us")?;
    let percents = &report.percentiles;
    for (command, tally) in settings.commands.iter().zip(&outcome.commands) {
        write_row(output, &cut(&command.line), tally, outcome, percents)?;
    }
    if settings.commands.len() > 1 {
        write_row(output, "all", &total, outcome, percents)?;
    }
    write_troubles(output, outcome, &total)?;
    let cpu_seconds = seconds(outcome.client_cpu_ns());
    writeln!(
        output,
        "\nclient: {cpu_seconds:.3} s of CPU time, {} bytes sent, {} bytes received",
        outcome.bytes_sent, outcome.bytes_received
    )?;
    for reason in outcome.client_bounds() {
        writeln!(output, "client_bound: {reason}; the figures are the load generator's as much as the server's")?;
    }
    Ok(())
}

/// Times of scheduled requests, and everything that is no successful reply.
fn write_troubles(output: &mut impl Write, outcome: &Outcome, total: &CommandTally) -> io::Result<()> {
    if let Some(schedule) = &outcome.schedule {
        writeln!(output)?;
        let times = [("response", &total.latencies), ("service", &schedule.service), ("slip", &schedule.slip)];
        for (name, times) in times {
            let microseconds = |percent| times.percentile_ns(percent).unwrap_or(0) as f64 / 1e3;
            writeln!(
                output,
                "{name:10} p50 {:>10.1} us, p99 {:>10.1} us, p99.9 {:>10.1} us, max {:>10.1} us",
                microseconds(50.0),
                microseconds(99.0),
                microseconds(99.9),
                times.maximum_ns() as f64 / 1e3,
            )?;
        }
    }
    for (code, count) in total.errors() {
        writeln!(output, "\n{count} replies were errors: {code}")?;
    }
    if total.error_elements > 0 {
        writeln!(output, "{} of them were within other replies, such as those to EXEC", total.error_elements)?;
    }
    if let Some(text) = &total.first_error {
        writeln!(output, "the first: {text}")?;
    }
    let lost = [
        (total.checked.map_or(0, |checked| checked.mismatches), "mismatches: values that are not those of their keys"),
        (total.timed_out, "requests timed out"),
        (total.disconnected, "requests were lost with their connection"),
        (outcome.connections.disconnects, "connections broke"),
        (total.moved, "requests were redirected by MOVED"),
        (total.asked, "requests were redirected by ASK"),
    ];
    for (count, what) in lost.into_iter().filter(|&(count, _)| count > 0) {
        writeln!(output, "{count} {what}")?;
    }
    for node in &outcome.nodes {
        let (role, endpoint, tally) = (node.role(), &node.endpoint, &node.replies);
        let p99_us = tally.latencies.percentile_ns(99.0).unwrap_or(0) as f64 / 1e3;
        let rate = outcome.per_second(tally.succeeded());
        writeln!(output, "{role} {endpoint}: {} requests, {rate:.0} ops/s, p99 {p99_us:.1} us", tally.requests())?;
    }
    write_listeners(output, outcome)?;
    write_failure(output, outcome)
}

fn write_listeners(output: &mut impl Write, outcome: &Outcome) -> io::Result<()> {
    let Some(tally) = &outcome.listeners else { return Ok(()) };
    let (connections, total, rate) = (tally.connections, tally.total(), tally.per_second());
    write!(output, "{connections} listeners: {total} messages, {rate:.0}/s, {} bytes", tally.bytes)?;
    for kind in MessageKind::ALL.into_iter().filter(|&kind| tally.messages(kind) > 0) {
        write!(output, ", {} {}", tally.messages(kind), kind.name())?;
    }
    writeln!(output)?;
    for (code, count) in tally.errors.list() {
        writeln!(output, "{count} errors were sent to listeners: {code}")?;
    }
    tally.warning().map_or(Ok(()), |warning| writeln!(output, "{warning}"))
}

fn write_failure(output: &mut impl Write, outcome: &Outcome) -> io::Result<()> {
    outcome.failure.as_ref().map_or(Ok(()), |failure| writeln!(output, "\nthe run ended early: {failure}"))
}

fn write_row(
    output: &mut impl Write,
    name: &str,
    tally: &CommandTally,
    outcome: &Outcome,
    percents: &[f64],
) -> io::Result<()> {
    let errors = tally.requests() - tally.succeeded();
    write!(output, "{name:LINE_COLUMNS$} {:>12.0}", outcome.per_second(tally.succeeded()))?;
    for count in [tally.requests(), tally.hits(), tally.misses(), errors] {
        write!(output, " {count:>12}")?;
    }
    let latencies = &tally.latencies;
    let maximum_ns = (latencies.count() > 0).then(|| latencies.maximum_ns());
    for latency_ns in percents.iter().map(|&percent| latencies.percentile_ns(percent)).chain([maximum_ns]) {
        match latency_ns {
            Some(latency_ns) => write!(output, " {:>12.1}", latency_ns as f64 / 1e3)?,
            None => write!(output, " {:>12}", "-")?,
        }
    }
    writeln!(output)
}

fn seconds(time_ns: u64) -> f64 {
    time_ns as f64 / 1e9
}

fn cut(line: &str) -> String {
    if line.chars().count() <= LINE_COLUMNS {
        return line.to_owned();
    }
    line.chars().take(LINE_COLUMNS - 3).collect::<String>() + "..."
}
