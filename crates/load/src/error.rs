//! Why the program fails, and its exit codes.

use std::io;
use std::path::PathBuf;

use thiserror::Error;
use zerolap_load_measure::LoadError;

/// Wrong usage.
pub const EXIT_USAGE: u8 = 2;
/// The environment cannot do it.
const EXIT_ENVIRONMENT: u8 = 3;
/// Connections cannot be had or do not hold.
const EXIT_CONNECTION: u8 = 4;
/// No rate satisfies the limit of a search.
const EXIT_NOT_FOUND: u8 = 5;
/// The shell's code for an interrupted program.
pub const EXIT_INTERRUPTED: u8 = 130;

/// Why the program failed after its command line was understood.
#[derive(Debug, Error)]
pub enum ProgramError {
    /// A line of standard input is no order.
    #[error("line {line}: {reason}")]
    BadLine {
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// Standard input cannot be read.
    #[error("cannot read standard input: {0}")]
    ReadInput(io::Error),
    /// A file or standard output cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The load ended early.
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl ProgramError {
    /// Standard output or standard error cannot be written.
    #[must_use]
    pub fn standard_output(source: io::Error) -> Self {
        Self::Write { path: PathBuf::from("standard output"), source }
    }

    /// The program's exit code for it.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::BadLine { .. } => EXIT_USAGE,
            Self::ReadInput(_) | Self::Write { .. } => EXIT_ENVIRONMENT,
            Self::Load(error) => match error {
                LoadError::Pin { .. } | LoadError::Thread(_) | LoadError::Tls(_) | LoadError::OpenFiles { .. } => {
                    EXIT_ENVIRONMENT
                }
                LoadError::NoRate { .. } => EXIT_NOT_FOUND,
                LoadError::Interrupted => EXIT_INTERRUPTED,
                _ => EXIT_CONNECTION,
            },
        }
    }
}
