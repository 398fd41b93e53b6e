//! Reader of callgrind's output files.
//!
//! Format: valgrind manual, "Callgrind Format Specification". A dump is a list of cost lines, each at a source line of
//! a function; `calls=` makes the next cost line the inclusive cost of calls. Names are defined once, as `(id) name`,
//! and line numbers are relative to the line before.

mod error;
mod names;
mod reader;
mod text;

use std::io::BufRead;

pub use error::{ReadError, Syntax};

/// Index into [`Dump::names`].
pub type NameId = u32;

/// One dump: costs as they were written, names replaced by indexes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dump {
    /// Names of objects, files and functions, as written.
    pub names: Vec<String>,
    /// The functions that costs refer to.
    pub functions: Vec<FunctionNames>,
    /// Costs of the functions themselves.
    pub own: Vec<OwnCost>,
    /// Costs of calls.
    pub calls: Vec<CallCost>,
}

/// What tells one function from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FunctionNames {
    /// Path of the program or library (`ob=`).
    pub object: NameId,
    /// File where the function begins (`fl=`).
    pub file: NameId,
    /// Symbol (`fn=`).
    pub symbol: NameId,
}

/// The events that matter here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// `Ir`.
    pub instructions: u64,
    /// `sysCount`; 0 when the dump was made without `--collect-systime`.
    pub syscalls: u64,
}

/// The cost of one source line within a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnCost {
    /// Index into [`Dump::functions`].
    pub function: u32,
    /// File of the line; another than the function's where code was inlined.
    pub file: NameId,
    /// Line, from 1; 0 when unknown.
    pub line: u32,
    /// Without callees.
    pub cost: Cost,
}

/// Calls from one source line to one function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallCost {
    /// Index into [`Dump::functions`].
    pub caller: u32,
    /// Index into [`Dump::functions`].
    pub callee: u32,
    /// File of the calling line.
    pub file: NameId,
    /// The calling line, from 1; 0 when unknown.
    pub line: u32,
    /// Number of calls; 0 for a call that was under way when counting began.
    pub calls: u64,
    /// Of the callee and all that it calls.
    pub inclusive: Cost,
}

impl Dump {
    /// The name with this index; empty for an index that this dump did not give out.
    #[must_use]
    pub fn name(&self, id: NameId) -> &str {
        self.names.get(id as usize).map_or("", String::as_str)
    }
}

/// Reads a dump to its end.
///
/// # Errors
/// When it cannot be read, is not in callgrind's format, is cut short, has no `Ir` event, or its costs do not add up
/// to the total it states.
pub fn read(input: impl BufRead) -> Result<Dump, ReadError> {
    reader::read(input)
}
