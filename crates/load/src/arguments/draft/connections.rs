//! How many connections, and what holds for each.

use std::num::NonZeroU64;
use std::time::Duration;

use super::{UsageError, Warnings};
use zerolap_load_requests::{Connecting, Reconnecting};

#[derive(Debug, Default)]
pub(in crate::arguments) struct ConnectionsDraft {
    pub(in crate::arguments) threads: Option<usize>,
    pub(in crate::arguments) clients: Option<usize>,
    pub(in crate::arguments) pipeline: Option<usize>,
    pub(in crate::arguments) lockstep: bool,
    pub(in crate::arguments) busy_poll: bool,
    pub(in crate::arguments) cpus: Vec<usize>,
    pub(in crate::arguments) connect_timeout: Option<Duration>,
    pub(in crate::arguments) reply_timeout: Option<Duration>,
    pub(in crate::arguments) jitter_minimum_microseconds: Option<u64>,
    pub(in crate::arguments) jitter_maximum_microseconds: Option<u64>,
    pub(in crate::arguments) reconnect_interval: Option<NonZeroU64>,
    pub(in crate::arguments) reconnect_on_error: bool,
    pub(in crate::arguments) maximum_attempts: Option<u64>,
    pub(in crate::arguments) backoff_factor: Option<f64>,
}

impl ConnectionsDraft {
    pub(super) fn finish(self, warnings: &mut Warnings) -> Result<Connecting, UsageError> {
        let jitter = [self.jitter_minimum_microseconds, self.jitter_maximum_microseconds]
            .map(|microseconds| Duration::from_micros(microseconds.unwrap_or(0)));
        if jitter[0] > jitter[1] {
            return Err(UsageError::Conflict(
                "--thread-conn-start-max-jitter-micros must not be below --thread-conn-start-min-jitter-micros",
            ));
        }
        let needs_reconnecting = [
            (self.maximum_attempts.is_some(), "--max-reconnect-attempts"),
            (self.backoff_factor.is_some(), "--reconnect-backoff-factor"),
        ];
        for (is_given, argument) in needs_reconnecting {
            warnings.without_effect(
                is_given && !self.reconnect_on_error,
                argument,
                "--reconnect-on-error is not given",
            );
        }
        let reconnecting = Reconnecting {
            maximum_attempts: self.maximum_attempts.unwrap_or(0),
            backoff_factor: self.backoff_factor.unwrap_or(0.0),
        };
        Ok(Connecting {
            connect_timeout: self.connect_timeout.unwrap_or(Duration::from_secs(10)),
            reply_timeout: self.reply_timeout.unwrap_or(Duration::from_secs(30)),
            jitter: jitter.into(),
            reconnect_interval: self.reconnect_interval,
            reconnect_on_error: self.reconnect_on_error.then_some(reconnecting),
        })
    }
}
