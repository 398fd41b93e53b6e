//! The result, for people.

use std::io::{self, Write};

use crate::tally::CommandTally;
use crate::{Outcome, Settings};

/// Longer command lines are cut in the table.
const LINE_COLUMNS: usize = 40;

/// Writes a table of the commands.
///
/// # Errors
/// When `output` cannot be written.
pub fn write_summary(output: &mut impl Write, settings: &Settings, outcome: &Outcome) -> io::Result<()> {
    let total = outcome.total();
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
    let heads = ["ops/s", "requests", "hits", "nils", "errors", "p50 us", "p99 us", "max us"];
    write!(output, "\n{:LINE_COLUMNS$}", "command")?;
    for head in heads {
        write!(output, " {head:>12}")?;
    }
    writeln!(output)?;
    for (command, tally) in settings.commands.iter().zip(&outcome.commands) {
        write_row(output, &cut(&command.line), tally, outcome)?;
    }
    if settings.commands.len() > 1 {
        write_row(output, "all", &total, outcome)?;
    }
    for (code, count) in total.errors() {
        writeln!(output, "\n{count} replies were errors: {code}")?;
    }
    let cpu_seconds = seconds(outcome.client_cpu_ns());
    writeln!(
        output,
        "\nclient: {cpu_seconds:.3} s of CPU time, {} bytes sent, {} bytes received",
        outcome.bytes_sent, outcome.bytes_received
    )
}

fn write_row(output: &mut impl Write, name: &str, tally: &CommandTally, outcome: &Outcome) -> io::Result<()> {
    let errors = tally.requests() - tally.succeeded();
    let nils = tally.replies(zerolap_resp::ReplyKind::Nil);
    write!(output, "{name:LINE_COLUMNS$} {:>12.0}", outcome.per_second(tally.succeeded()))?;
    for count in [tally.requests(), tally.hits(), nils, errors] {
        write!(output, " {count:>12}")?;
    }
    let latencies = &tally.latencies;
    let maximum_ns = (latencies.count() > 0).then(|| latencies.maximum_ns());
    for latency_ns in [latencies.percentile_ns(50.0), latencies.percentile_ns(99.0), maximum_ns] {
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
