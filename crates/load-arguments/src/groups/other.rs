//! Arguments that are not settings, and those that only `memtier_benchmark` has.

use zerolap_load_measure::cpu_ns_per_step;

use crate::help;
use crate::needs::Need;
use crate::table::Argument;

pub(crate) static ARGUMENTS: &[Argument] = &[
    Argument::print(&["help"], &[], "print this help (-h is the host)", help::text),
    Argument::print(&["version"], &['v'], "print the version", help::version),
    Argument::print(
        &["reference-work"],
        &[],
        "print the CPU time in ns that this processor takes for a step of work that is always the same",
        reference_work,
    ),
    Argument::switch(&["debug"], &['D'], "accepted for compatibility with memtier_benchmark, without effect", |_| ())
        .needs(&[Need::Condition { is_met: |_| false, otherwise: "there is nothing more to print" }]),
];

fn reference_work() -> String {
    format!("{:.4}\n", cpu_ns_per_step())
}

const USE_COMMAND_WITH_WAIT: &str = "use --command \"WAIT REPLICAS MILLISECONDS\" with --command-ratio";
const USE_JSON: &str = "--json-out-file writes the counts, the time series and the histograms";
const NO_IMPORT: &str = "values cannot be imported or verified";
const NO_STAIRS: &str = "start it several times with more --clients";

pub(crate) static REFUSED: &[Argument] = &[
    Argument::refuse(&["data-import"], NO_IMPORT),
    Argument::refuse(&["data-verify"], NO_IMPORT),
    Argument::refuse(&["verify-only"], NO_IMPORT),
    Argument::refuse(&["generate-keys"], NO_IMPORT),
    Argument::refuse(&["no-expiry"], NO_IMPORT),
    Argument::refuse(&["multi-key-get"], "use --command \"MGET __key__ __key__\" with as many keys"),
    Argument::refuse(&["wait-ratio"], USE_COMMAND_WITH_WAIT),
    Argument::refuse(&["num-slaves"], USE_COMMAND_WITH_WAIT),
    Argument::refuse(&["wait-timeout"], USE_COMMAND_WITH_WAIT),
    Argument::refuse(&["statsd-host"], USE_JSON),
    Argument::refuse(&["statsd-port"], USE_JSON),
    Argument::refuse(&["statsd-prefix"], USE_JSON),
    Argument::refuse(&["statsd-run-label"], USE_JSON),
    Argument::refuse(&["graphite-port"], USE_JSON),
    Argument::refuse(&["client-stats"], USE_JSON),
    Argument::refuse(&["hdr-file-prefix"], USE_JSON),
    Argument::refuse(&["clients-start"], NO_STAIRS),
    Argument::refuse(&["clients-step"], NO_STAIRS),
    Argument::refuse(&["step-duration"], NO_STAIRS),
];
