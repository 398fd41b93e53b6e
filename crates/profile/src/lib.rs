//! Call graphs: callgrind output read, windows subtracted, symbols normalised; and what a binary says of its source.
//!
//! The way of a number: [`callgrind`] reads a dump, [`window`] subtracts two dumps of one process and divides by the
//! requests between them, [`merge`] takes the mean over seeds. [`binary`] and [`functions`] read ELF and DWARF, with
//! file and function names in the same form as in the graphs.

pub mod binary;
pub mod callgrind;
pub mod functions;
pub mod graph;
pub mod merge;
pub mod symbol;
pub mod window;

mod accumulate;
mod elf;
mod interpose;
mod source_root;
mod sums;
