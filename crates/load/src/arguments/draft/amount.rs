//! How much is sent, and when.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use super::{Mode, UsageError, Warnings};
use zerolap_load_requests::{Amount, Arrivals, Pace, Plan, Slo, Unit, Work};

/// Length of each step of a search.
const STEP_TIME: Duration = Duration::from_secs(5);
/// Rate of a search's first step.
const FIRST_RATE: NonZeroU64 = NonZeroU64::new(1000).unwrap();

#[derive(Debug, Default)]
pub(in crate::arguments) struct AmountDraft {
    /// How much, by requests.
    pub(in crate::arguments) requests: Option<Amount>,
    pub(in crate::arguments) test_time: Option<Duration>,
    /// Requests a second over all connections.
    pub(in crate::arguments) rate: Option<NonZeroU64>,
    pub(in crate::arguments) arrivals: Option<Arrivals>,
    /// Requests a second of each connection.
    pub(in crate::arguments) rate_limiting: Option<NonZeroU64>,
    /// What a rate that is looked for has to meet.
    pub(in crate::arguments) search: Option<Slo>,
    pub(in crate::arguments) runs: Option<NonZeroU32>,
    pub(in crate::arguments) check: bool,
    pub(in crate::arguments) prefill: bool,
    pub(in crate::arguments) warm_up: Option<Duration>,
    pub(in crate::arguments) control: bool,
}

impl AmountDraft {
    pub(super) fn finish(self, connections: usize, warnings: &mut Warnings) -> Result<Mode, UsageError> {
        let has_rate = self.rate.is_some() || self.search.is_some();
        warnings.without_effect(self.arrivals.is_some() && !has_rate, "--arrivals", "--rate is not given");
        if self.control {
            return if self.plans() {
                Err(UsageError::Conflict(
                    "with --control each slice says how much and when: leave out --requests, --test-time, --rate, \
                     --rate-limiting, --search, --run-count, --check, --prefill and --warm-up",
                ))
            } else {
                Ok(Mode::Control)
            };
        }
        if self.search.is_some() && (self.requests.is_some() || self.rate_limiting.is_some() || self.runs.is_some()) {
            return Err(UsageError::Conflict(
                "--search excludes --requests, --rate-limiting and --run-count: each of its steps lasts --test-time",
            ));
        }
        let amount = match (self.requests, self.test_time) {
            (Some(_), Some(_)) => {
                return Err(UsageError::Conflict("--requests and --test-time exclude each other"));
            }
            (None, Some(time)) => Amount::For(time),
            (None, None) if self.search.is_some() => Amount::For(STEP_TIME),
            (requests, None) => requests.unwrap_or(Amount::PerConnection(10_000)),
        };
        Ok(Mode::Once(Plan {
            check: self.check,
            prefill: self.prefill,
            warm_up: self.warm_up,
            search: self.search,
            work: Work { amount, pace: self.pace(connections)? },
            runs: self.runs.unwrap_or(NonZeroU32::MIN),
        }))
    }

    /// Whether the command line says what the slices of `--control` say.
    fn plans(&self) -> bool {
        let has_amount = self.requests.is_some() || self.test_time.is_some() || self.runs.is_some();
        let has_pace = self.search.is_some() || self.rate.is_some() || self.rate_limiting.is_some();
        has_amount || has_pace || self.check || self.prefill || self.warm_up.is_some()
    }

    fn pace(&self, connections: usize) -> Result<Option<Pace>, UsageError> {
        let (per_second, arrivals) = match (self.rate, self.rate_limiting) {
            (Some(_), Some(_)) => {
                return Err(UsageError::Conflict("--rate and --rate-limiting exclude each other"));
            }
            (Some(rate), None) => (rate, self.arrivals.unwrap_or_default()),
            (None, Some(rate)) => {
                let connections = NonZeroU64::new(connections as u64).unwrap_or(NonZeroU64::MIN);
                (rate.saturating_mul(connections), Arrivals::Fixed)
            }
            (None, None) if self.search.is_some() => (FIRST_RATE, self.arrivals.unwrap_or_default()),
            (None, None) => return Ok(None),
        };
        Ok(Some(Pace { per_second, arrivals, unit: Unit::Request }))
    }
}
