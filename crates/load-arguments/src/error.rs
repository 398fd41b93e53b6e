//! What can be wrong with a command line.

use thiserror::Error;
use zerolap_resp::TemplateError;

/// Why a command line is refused.
#[derive(Debug, Error)]
pub enum UsageError {
    /// No argument has this name.
    #[error("there is no argument {0}")]
    Unknown(String),
    /// Several arguments begin like this.
    #[error("{given} is short for more than one argument: {candidates}")]
    Ambiguous {
        /// What was given.
        given: String,
        /// What it may stand for.
        candidates: String,
    },
    /// `memtier_benchmark` has the argument, this program does not.
    #[error("--{name} is an argument of memtier_benchmark that this program does not have; {instead}")]
    OnlyMemtier {
        /// The argument's name, without dashes.
        name: &'static str,
        /// What to do without it.
        instead: &'static str,
    },
    /// A value is missing or not expected.
    #[error("{0}")]
    Shape(String),
    /// A value means nothing here.
    #[error("--{name} {value:?}: {reason}")]
    BadValue {
        /// The argument's name, without dashes.
        name: &'static str,
        /// What was given.
        value: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A command line to be sent cannot be.
    #[error("--command {line:?}: {source}")]
    Command {
        /// The line.
        line: String,
        /// What is wrong with it.
        source: TemplateError,
    },
    /// Arguments contradict each other.
    #[error("{0}")]
    Conflict(&'static str),
}

impl From<lexopt::Error> for UsageError {
    fn from(error: lexopt::Error) -> Self {
        Self::Shape(error.to_string())
    }
}
