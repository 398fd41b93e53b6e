//! Reader of callgrind's output files.
//!
//! Format: valgrind manual, "Callgrind Format Specification". A dump is a list of cost lines, each at a source line of
//! a function; `calls=` makes the next cost line the inclusive cost of calls. Names are defined once, as `(id) name`,
//! and line numbers are relative to the line before.

mod reader;

use std::io::{self, BufRead};

use thiserror::Error;

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

/// What distinguishes one function from another.
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

/// The cost of one source line within a function, or of one instruction where the dump has their addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnCost {
    /// Index into [`Dump::functions`].
    pub function: u32,
    /// File of the line; another than the function's where code was inlined.
    pub file: NameId,
    /// Line, from 1; 0 when unknown.
    pub line: u32,
    /// Address of the instruction in the object's file (`--dump-instr=yes`); 0 when the dump has none.
    pub address: u64,
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

/// Why a dump could not be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The input failed.
    #[error("cannot read callgrind output: {0}")]
    Io(#[from] io::Error),
    /// A line is not in the format.
    #[error("line {line}: {syntax}")]
    Line {
        /// Line number from 1.
        line: u64,
        /// What is wrong with it.
        syntax: Syntax,
    },
    /// The file names no events: empty, or no callgrind output.
    #[error("no \"events:\" line: not a callgrind dump, or an empty one")]
    NoEvents,
    /// The file ends before what it announced.
    #[error("cut short: {missing} is missing at the end")]
    CutShort {
        /// What should have followed.
        missing: &'static str,
    },
    /// The costs read are not those the file states.
    #[error("instructions add up to {sum}, the file states {stated}")]
    Total {
        /// Sum of the costs read.
        sum: u128,
        /// The sum of the file's `totals:` lines.
        stated: u128,
    },
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Syntax {
    /// Neither header, position nor cost.
    #[error("neither header, position nor cost: {0:?}")]
    Unknown(String),
    /// A number was expected.
    #[error("not a number: {0:?}")]
    Number(String),
    /// A relative position leads outside the range of line numbers.
    #[error("position out of range: {0:?}")]
    Position(String),
    /// A name is used before it is defined.
    #[error("name ({0}) was not defined before")]
    UndefinedName(u64),
    /// A cost comes before the function it belongs to.
    #[error("cost outside any function")]
    NoFunction,
    /// A cost comes before the events are named.
    #[error("cost before the \"events:\" line")]
    CostBeforeEvents,
    /// A cost line has more columns than there are events.
    #[error("{found} costs for {events} events")]
    TooManyCosts {
        /// Columns on the line.
        found: usize,
        /// Events named.
        events: usize,
    },
    /// A line has fewer positions than announced.
    #[error("{found} positions, expected {expected}")]
    TooFewPositions {
        /// Positions on the line.
        found: usize,
        /// Positions announced.
        expected: usize,
    },
    /// `calls=` without `cfn=` before it.
    #[error("calls without the called function")]
    NoCalledFunction,
    /// `calls=` or `jump=` is not followed by a line of positions.
    #[error("calls or jumps without the line they come from")]
    CallWithoutCost,
    /// Instructions are not among the events.
    #[error("event Ir is not among {0:?}")]
    NoInstructions(String),
    /// More names than can be distinguished.
    #[error("too many names")]
    TooManyNames,
}
