//! A whole run, phase by phase.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::{Slo, Work};

/// What to do, in this order: connect and authenticate, check, prefill, warm up, measure until every reply is in. No
/// thread begins a phase before all have ended the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Whether each command is sent once, by itself, and the run ends if the server answers with an error.
    pub check: bool,
    /// Whether each key of the range is written once before.
    pub prefill: bool,
    /// How long to send before anything counts.
    pub warm_up: Option<Duration>,
    /// What is measured.
    pub work: Work,
    /// Searches for the highest rate that satisfies this limit, beginning with the rate of `work`.
    pub search: Option<Slo>,
    /// How many times all of it is done, each time with new connections.
    pub runs: NonZeroU32,
}

impl Plan {
    /// Nothing but the work, once.
    #[must_use]
    pub const fn only(work: Work) -> Self {
        Self { check: false, prefill: false, warm_up: None, work, search: None, runs: NonZeroU32::MIN }
    }
}
