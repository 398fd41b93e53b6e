//! Call graphs of callgrind and stacks of perf: read, symbolised, merged; and what a binary records of its source.
//!
//! The way of a number: [`callgrind`] reads a dump, [`window`] subtracts two dumps of one process and divides by the
//! requests between them, [`graph`] takes the mean over seeds. [`binary`], [`functions`] and [`structs`] read ELF and DWARF, with
//! file and function names in the same form as in the graphs.
//!
//! The way of a sample: [`perf`] reads a file of `perf record` into a table of [`stacks`], which are merged, folded and
//! summed by function there.

pub mod binary;
pub mod callgrind;
pub mod functions;
pub mod graph;
pub mod identity;
pub mod perf;
pub mod stacks;
pub mod structs;
pub mod symbol;
pub mod window;

mod elf;
mod pin_library;
mod source_root;
mod sums;
