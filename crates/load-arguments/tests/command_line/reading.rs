//! Reads command lines.

use zerolap_load_arguments::{Arguments, Invocation, Mode, UsageError, parse};
use zerolap_load_requests::{Plan, Settings};

/// Reads a command line.
pub(crate) fn read(arguments: &[&str]) -> Result<Arguments, UsageError> {
    match parse(arguments.iter().map(Into::into))? {
        Invocation::Run(arguments) => Ok(*arguments),
        Invocation::Print(text) => panic!("asked for a text: {text}"),
    }
}

/// Reads a command line that is in order.
pub(crate) fn accept(arguments: &[&str]) -> Arguments {
    read(arguments).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
}

/// The settings of a command line without a warning.
pub(crate) fn settings(arguments: &[&str]) -> Settings {
    let Arguments { settings, report, .. } = accept(arguments);
    assert_eq!(report.warnings, Vec::<String>::new(), "{arguments:?}");
    settings
}

/// The plan of a command line that has one.
pub(crate) fn plan(arguments: &[&str]) -> Plan {
    match accept(arguments).mode {
        Mode::Once(plan) => plan,
        Mode::Control => panic!("{arguments:?}: no plan"),
    }
}

/// Why a command line is refused.
pub(crate) fn refusal(arguments: &[&str]) -> String {
    match read(arguments) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{arguments:?}: not refused"),
    }
}

/// The warnings of a command line.
pub(crate) fn warnings(arguments: &[&str]) -> Vec<String> {
    accept(arguments).report.warnings
}

#[test]
fn a_recording_is_a_regular_file() {
    for path in ["/dev/zero", "/dev", "/proc/self/fd"] {
        let reason = refusal(&["--monitor-input", path, "--command", "__monitor_line1__"]);
        assert!(reason.contains("it is no regular file"), "{path}: {reason}");
    }
}
