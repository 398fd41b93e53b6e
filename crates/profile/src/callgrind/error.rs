//! What can be wrong with a dump.

use std::io;

use thiserror::Error;

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
    /// More names than can be told apart.
    #[error("too many names")]
    TooManyNames,
}
