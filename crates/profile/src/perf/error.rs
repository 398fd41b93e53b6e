//! Why there are no stacks.

use std::io;

use thiserror::Error;

/// Why a file's stacks could not be read.
#[derive(Debug, Error)]
pub enum StacksError {
    /// The file cannot be read.
    #[error("cannot read the samples: {0}")]
    Io(#[from] io::Error),
    /// It does not begin as perf's files do.
    #[error("not a file of perf record")]
    NotPerfData,
    /// It is one, but of a kind that is not supported.
    #[error("perf's file has {0}, which is not supported")]
    Unsupported(&'static str),
    /// perf did not get to write how much there is: it was killed.
    #[error("perf's file is unfinished: perf record was killed before its end")]
    Unfinished,
    /// A part lies beyond the end of the file.
    #[error("perf's file is cut short: {part} ends at byte {end} of {length}")]
    CutShort {
        /// Which part.
        part: &'static str,
        /// Where the part ends, in bytes from the start of the file.
        end: u64,
        /// Length of the file in bytes.
        length: u64,
    },
    /// A part is not as perf writes it.
    #[error("perf's file has a broken part: {0}")]
    Broken(&'static str),
    /// The same, as the reader of its format reports it.
    #[error("perf's file is broken: {0}")]
    Format(linux_perf_data::Error),
    /// A record is not as perf writes it.
    #[error("perf's file has a broken record of type {kind}")]
    Record {
        /// `type` of its header, of `enum perf_event_type`.
        kind: u32,
    },
    /// The samples have no common unit.
    #[error("perf's file has samples of several events")]
    SeveralEvents,
    /// More than any real server has.
    #[error("perf's file has more than {limit} {what}")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many there may be.
        limit: usize,
    },
}
