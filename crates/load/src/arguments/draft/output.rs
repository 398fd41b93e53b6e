//! What is written down.

use super::{Mode, Warnings};
use zerolap_load_measure::ReportSettings;

#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(in crate::arguments) struct OutputDraft {
    pub(in crate::arguments) json_out_file: Option<String>,
    pub(in crate::arguments) out_file: Option<String>,
    pub(in crate::arguments) percentiles: Option<Vec<f64>>,
    pub(in crate::arguments) hide_histogram: bool,
    pub(in crate::arguments) by_line: Option<bool>,
    pub(in crate::arguments) print_all_runs: bool,
    pub(in crate::arguments) show_settings: bool,
    pub(in crate::arguments) quiet: bool,
}

impl OutputDraft {
    pub(super) fn finish(self, mode: Mode, mut warnings: Warnings) -> ReportSettings {
        let is_controlled = mode == Mode::Control;
        let has_one_run = matches!(mode, Mode::Once(plan) if plan.runs.get() == 1);
        warnings.without_effect(
            self.out_file.is_some() && is_controlled,
            "--out-file",
            "with --control there is no summary",
        );
        warnings.without_effect(
            self.print_all_runs && (has_one_run || is_controlled),
            "--print-all-runs",
            "there is only one run",
        );
        warnings.without_effect(self.quiet && is_controlled, "--quiet", "with --control no progress is shown");
        let default = ReportSettings::default();
        ReportSettings {
            json_out_file: self.json_out_file,
            out_file: self.out_file,
            percentiles: self.percentiles.unwrap_or(default.percentiles),
            hide_histogram: self.hide_histogram,
            print_all_runs: self.print_all_runs,
            breakdown_by_line: self.by_line.unwrap_or(default.breakdown_by_line),
            show_settings: self.show_settings,
            quiet: self.quiet,
            warnings: warnings.into_sentences(),
        }
    }
}
