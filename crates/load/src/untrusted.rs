//! Readers of files and of the output of other programs, apart from both: what fuzzing calls with any bytes.

use zerolap_load_requests::Recording;

/// How many commands a recording of MONITOR has; none if it is none.
#[must_use]
pub fn recording(bytes: &[u8]) -> Option<usize> {
    let lines = zerolap_load_arguments::recorded_lines(bytes).ok()?;
    Recording::new(&lines, "prefix").ok().map(|recording| recording.length() + recording.left_out())
}

/// Whether a line is an order to `--control`.
#[must_use]
pub fn is_control_order(line: &[u8]) -> bool {
    crate::control::is_order(line)
}
