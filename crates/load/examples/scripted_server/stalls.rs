//! Times without replies.

use std::time::Duration;

/// Stalls of one length, the first one a period after the first request, then one each period.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stalls {
    every_ns: u64,
    length_ns: u64,
}

impl Stalls {
    /// # Errors
    /// A sentence, when the stalls leave no time for replies.
    pub(crate) fn new(every: Duration, length: Duration) -> Result<Self, String> {
        let ns = |time: Duration| u64::try_from(time.as_nanos()).map_err(|_| "a stall is too long".to_owned());
        if length >= every {
            return Err("a stall has to be shorter than the time between two".to_owned());
        }
        Ok(Self { every_ns: ns(every)?, length_ns: ns(length)? })
    }

    /// Whether a stall is on, so long after the first request.
    pub(crate) fn is_stalled(self, since_first_ns: u64) -> bool {
        since_first_ns >= self.every_ns && since_first_ns % self.every_ns < self.length_ns
    }
}
