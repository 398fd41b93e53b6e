//! What is written down.

use super::{Argument, put};
use crate::arguments::values::{is_by_line, percentiles};

pub(super) static ARGUMENTS: &[Argument] = &[
    Argument::value(
        &["out-file"],
        &['o'],
        "FILE",
        "write the summary there, in place of standard output",
        |draft, text| put(&mut draft.output.out_file, Ok(text.to_owned())),
    ),
    Argument::value(
        &["json-out-file"],
        &[],
        "FILE|-",
        "write settings and result as JSON; with - to standard output, and the summary to standard error",
        |draft, text| put(&mut draft.output.json_out_file, Ok(text.to_owned())),
    ),
    Argument::value(&["print-percentiles"], &[], "LIST", "percentiles to tell (default 50,99,99.9)", |draft, text| {
        put(&mut draft.output.percentiles, percentiles(text))
    }),
    Argument::switch(&["hide-histogram"], &[], "leave the distribution of latencies out of the JSON", |draft| {
        draft.output.hide_histogram = true;
    }),
    Argument::value(
        &["command-stats-breakdown"],
        &[],
        "command|line",
        "whether commands of the same name are told together (default) or line by line",
        |draft, text| put(&mut draft.output.by_line, is_by_line(text)),
    ),
    Argument::switch(
        &["print-all-runs"],
        &[],
        "with --run-count, tell each run, not only the best, the worst and all together",
        |draft| draft.output.print_all_runs = true,
    ),
    Argument::switch(&["show-config"], &[], "print the settings first, to standard error", |draft| {
        draft.output.show_settings = true;
    }),
    Argument::switch(
        &["quiet"],
        &[],
        "do not show how far a run is on standard error: on a terminal in one line, elsewhere in a line every 10 s",
        |draft| draft.output.quiet = true,
    )
    .own(),
];
