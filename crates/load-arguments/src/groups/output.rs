//! What is written down.

use std::time::Duration;

use zerolap_load_output::ReportSettings;

use crate::Mode;
use crate::needs::{CommandLine, Need};
use crate::table::{Argument, Preset, put};
use crate::warnings::Warnings;

pub(crate) static ARGUMENTS: &[Argument] = &[
    Argument::value(
        &["out-file"],
        &['o'],
        "FILE",
        "write the summary to a file instead of standard output",
        |draft, text| put(&mut draft.output.out_file, Ok(text.to_owned())),
    )
    .needs(&[Need::Condition { is_met: is_planned, otherwise: "with --control there is no summary" }]),
    Argument::value(
        &["json-out-file"],
        &[],
        "FILE|-",
        "write settings and results as JSON; - is standard output, the summary is then written to standard error",
        |draft, text| put(&mut draft.output.json_out_file, Ok(text.to_owned())),
    ),
    Argument::value(&["print-percentiles"], &[], "LIST", "percentiles to report", |draft, text| {
        put(&mut draft.output.percentiles, percentiles(text))
    })
    .default("50,99,99.9"),
    Argument::switch(&["hide-histogram"], &[], "leave the distribution of latencies out of the JSON", |draft| {
        draft.output.hide_histogram = true;
    }),
    Argument::value(
        &["command-stats-breakdown"],
        &[],
        "command|line",
        "command: report commands of the same name together; line: each line separately",
        |draft, text| put(&mut draft.output.by_line, is_by_line(text)),
    )
    .default("command"),
    Argument::switch(
        &["print-all-runs"],
        &[],
        "with --run-count: report every run, not only the best, the worst and the aggregate",
        |draft| draft.output.print_all_runs = true,
    )
    .needs(&[Need::Condition {
        is_met: |line| matches!(line.mode, Mode::Once(plan) if plan.runs.get() > 1),
        otherwise: "there is only one run",
    }]),
    Argument::value(
        &["timeline-slot"],
        &[],
        "SECONDS",
        "length of a slot of the timeline in the JSON: 0.001, 0.01 or 0.1; each slot then has a histogram of its \
         latencies (default: 0.1, without histograms)",
        |draft, text| put(&mut draft.output.timeline_slot, slot(text)),
    )
    .needs(&[Need::Condition { is_met: is_planned, otherwise: "with --control there is no timeline" }])
    .own(),
    Argument::switch(&["show-config"], &[], "print the settings first, to standard error", |draft| {
        draft.output.show_settings = true;
    }),
    Argument::switch(
        &["quiet"],
        &[],
        "do not show progress on standard error (on a terminal one updated line, elsewhere a line every 10 s)",
        |draft| draft.output.quiet = true,
    )
    .needs(&[Need::Condition { is_met: is_planned, otherwise: "with --control no progress is shown" }])
    .own(),
];

#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct OutputDraft {
    pub(crate) json_out_file: Option<String>,
    pub(crate) out_file: Option<String>,
    pub(crate) percentiles: Preset<Vec<f64>>,
    pub(crate) hide_histogram: bool,
    pub(crate) by_line: Preset<bool>,
    pub(crate) print_all_runs: bool,
    pub(crate) timeline_slot: Option<Duration>,
    pub(crate) show_settings: bool,
    pub(crate) quiet: bool,
}

impl OutputDraft {
    pub(crate) fn finish(self, warnings: Warnings) -> ReportSettings {
        ReportSettings {
            json_out_file: self.json_out_file,
            out_file: self.out_file,
            percentiles: self.percentiles.get().clone(),
            hide_histogram: self.hide_histogram,
            print_all_runs: self.print_all_runs,
            breakdown_by_line: *self.by_line.get(),
            slot_histograms: self.timeline_slot.is_some(),
            show_settings: self.show_settings,
            quiet: self.quiet,
            warnings: warnings.into_sentences(),
        }
    }
}

/// Whether the command line determines what is sent, not another program.
fn is_planned(line: &CommandLine<'_>) -> bool {
    line.mode != Mode::Control
}

/// Length of a slot of which whole numbers make a second, also where slots are put together.
fn slot(text: &str) -> Result<Duration, String> {
    let milliseconds = match text {
        "0.001" => 1,
        "0.01" => 10,
        "0.1" => 100,
        _ => return Err("expected 0.001, 0.01 or 0.1".to_owned()),
    };
    Ok(Duration::from_millis(milliseconds))
}

/// Percentiles such as `50,99,99.9`, in the order given.
fn percentiles(text: &str) -> Result<Vec<f64>, String> {
    let percentile = |word: &str| word.parse().ok().filter(|value| (0.0..=100.0).contains(value));
    let parsed: Option<Vec<f64>> = text.split(',').map(percentile).collect();
    parsed.ok_or_else(|| "expected numbers from 0 to 100, such as 50,99,99.9".to_owned())
}

/// Whether commands are reported line by line.
fn is_by_line(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "command" => Ok(false),
        "line" => Ok(true),
        _ => Err("expected command or line".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::percentiles;

    #[test]
    fn percentiles_keep_their_order() {
        assert_eq!(percentiles("99.9,50,0,100"), Ok(vec![99.9, 50.0, 0.0, 100.0]));
        assert!(["", "50,", "101", "-1", "nan", "p50"].iter().all(|text| percentiles(text).is_err()));
    }
}
