//! What is written down of a run, and where.

/// Where results go, and how detailed they are.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[derive(Debug, Clone, PartialEq)]
pub struct ReportSettings {
    /// Where to write the document: a file, or `-` for standard output.
    pub json_out_file: Option<String>,
    /// Where to write the summary, in place of standard output.
    pub out_file: Option<String>,
    /// Percentiles that are reported, as given.
    pub percentiles: Vec<f64>,
    /// Whether the distribution of latencies is left out.
    pub hide_histogram: bool,
    /// Whether of several runs each is reported, not only the best, the worst and all together.
    pub print_all_runs: bool,
    /// Whether commands with the same name are distinguished by their lines.
    pub breakdown_by_line: bool,
    /// Whether each slot of the timeline has the distribution of its latencies.
    pub slot_histograms: bool,
    /// Whether the settings are printed first.
    pub show_settings: bool,
    /// Whether a run does not show how far it is.
    pub quiet: bool,
    /// What the command line should not have asked for.
    pub warnings: Vec<String>,
}
