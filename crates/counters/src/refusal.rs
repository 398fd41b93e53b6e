//! Why something is not counted.

use std::io;

use thiserror::Error;

/// Why events are not counted, or what they counted is not used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Refusal {
    /// Neither processor nor kernel, or not this virtual machine, has such a counter.
    #[error("not supported by this machine")]
    NotSupported,
    /// Only for other users, or under other settings.
    #[error("not permitted")]
    NotPermitted,
    /// There are too few counters for the events that are to count at the same time.
    #[error("there are too few counters")]
    DoesNotFit,
    /// The counters were used for something else for a part of the time.
    #[error("the counters were shared with other events")]
    Multiplexed,
    /// An event that happens all the time was never seen.
    #[error("it counted nothing")]
    CountsNothing,
    /// Any other error of the system.
    #[error("{0}")]
    System(String),
}

impl Refusal {
    /// What an error of opening the first event of a group means.
    pub(crate) fn of_leader(error: &io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::EINVAL) => Self::NotSupported,
            _ => Self::of_system(error),
        }
    }

    /// What an error of opening a further event means.
    pub(crate) fn of_member(error: &io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::EINVAL | libc::ENOSPC) => Self::DoesNotFit,
            _ => Self::of_system(error),
        }
    }

    /// What an error of reading a group means.
    pub(crate) fn of_reading(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::UnexpectedEof { Self::DoesNotFit } else { Self::of_system(error) }
    }

    fn of_system(error: &io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV | libc::ENOSYS) => Self::NotSupported,
            Some(libc::EACCES | libc::EPERM) => Self::NotPermitted,
            _ => Self::System(error.to_string()),
        }
    }
}
