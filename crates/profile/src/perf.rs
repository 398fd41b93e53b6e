//! Reader of the files that `perf record` writes.
//!
//! A sample's way: [`recording`] reads it, [`samples`] turns its addresses into places in programs and libraries with the
//! mappings of that moment, [`names`] makes functions of the places.

mod debug_info;
mod error;
mod images;
mod names;
mod original;
mod processes;
mod recording;
mod samples;
mod symbols;
mod unwind;
mod waits;

use std::ops::Range;
use std::path::Path;

pub use error::StacksError;

use crate::stacks::Stacks;

/// The samples of a file by thread and stack. File names are in the form of the call graphs, relative to `source_root`
/// where they lie below it.
///
/// The programs and libraries are read from the paths that they were mapped from. One that cannot be read, or has
/// another build id than the recorded one, leaves functions without names and is no error; so does a kernel that keeps
/// its addresses secret.
///
/// `original` is a program with debug information that a program which ran, and has none, has the functions of in another
/// order: names, files and lines are then those of `original`.
///
/// # Errors
/// When the file cannot be read, is not a whole file of `perf record`, is of a kind that is not supported (from a pipe, of
/// several events), or has a broken record. Neither memory nor time are bounded for a file or a program that was made to
/// be read for long: compressed records unpack to many times their size, and unwind information can loop without end.
/// Where it may be hostile, a process with limits reads it.
pub fn read_stacks(perf_data: &Path, source_root: &str, original: Option<&Path>) -> Result<Stacks, StacksError> {
    let recording = recording::Recording::open(perf_data)?;
    let original = original.and_then(original::Original::read);
    names::table(samples::collect(recording, None)?, source_root, original.as_ref())
}

/// The time that threads were off the processor, by thread and the stack with which they left it: a table whose samples
/// are nanoseconds, and whose event is [`OFF_PROCESSOR`](crate::stacks::OFF_PROCESSOR).
///
/// The file is a recording of `sched:sched_switch` with context switches (`--switch-events`). `windows` are in nanoseconds
/// of its clock; a wait counts if it begins and ends within one of them. `lost` of the table has waits, also those
/// whose end is missing.
///
/// # Errors
/// As for [`read_stacks`], and when a record of a context switch has no thread or time.
pub fn read_waits(perf_data: &Path, source_root: &str, windows: &[Range<u64>]) -> Result<Stacks, StacksError> {
    let recording = recording::Recording::open(perf_data)?;
    names::table(samples::collect(recording, Some(waits::Waits::within(windows)))?, source_root, None)
}
