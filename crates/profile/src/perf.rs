//! Reader of the files that `perf record` writes.
//!
//! Formats: `tools/perf/Documentation/perf.data-file-format.txt` in the kernel's source for the file,
//! `perf_event_open(2)` for the records. Only what stacks need is read. The container is read here and not by the crate
//! `linux-perf-data`: that reserves memory for whatever sizes a file states, and code under test may have written it.
//!
//! A sample's way: [`records`] finds it, [`collect`] puts it into the order of time and turns its addresses into places
//! in programs and libraries with the mappings of that moment, [`names`] makes functions of the places.

mod build_ids;
mod bytes;
mod collect;
mod error;
mod event;
mod file;
mod image;
mod images;
mod kernel;
mod mappings;
mod names;
mod processes;
mod records;
mod sample;
mod unwind;
mod vdso;

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
/// # Errors
/// When the file cannot be read, is not a whole file of `perf record`, is of a kind that is not supported (compressed,
/// from a pipe, of several events), or has a broken record. Memory stays within a multiple of the size of the file and
/// of the programs; time does not: a program's unwind information can be made to loop without end.
pub fn read_stacks(perf_data: &Path, source_root: &str) -> Result<Stacks, StacksError> {
    let file = file::PerfFile::open(perf_data)?;
    let event = event::read(&file)?;
    let collected = collect::collect(&file, &event)?;
    names::table(collected, source_root)
}
