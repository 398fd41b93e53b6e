//! The connections.

use std::num::NonZeroU64;
use std::time::Duration;

use rustix::thread::CpuSet;
use zerolap_load_requests::{Connecting, Reconnecting};

use crate::UsageError;
use crate::numbers::{nonzero, number, positive, seconds};
use crate::table::{Argument, put};
use crate::warnings::Warnings;

/// Limits that keep a typing error from exhausting the machine.
const MOST_THREADS: usize = 1024;
const MOST_CLIENTS: usize = 1_000_000;
const MOST_IN_FLIGHT: usize = 1_000_000;
/// More than an hour.
const MOST_JITTER_MICROSECONDS: u64 = u32::MAX as u64;

pub(crate) static ARGUMENTS: &[Argument] = &[
    Argument::value(&["threads"], &['t'], "NUMBER", "threads (default 4)", |draft, text| {
        put(&mut draft.connections.threads, number(text, 1..=MOST_THREADS))
    }),
    Argument::value(&["clients"], &['c'], "NUMBER", "connections of each thread (default 50)", |draft, text| {
        put(&mut draft.connections.clients, number(text, 1..=MOST_CLIENTS))
    }),
    Argument::value(
        &["pipeline"],
        &[],
        "NUMBER",
        "maximum number of requests in flight on a connection (default 1), refilled as replies arrive",
        |draft, text| put(&mut draft.connections.pipeline, number(text, 1..=MOST_IN_FLIGHT)),
    ),
    Argument::switch(
        &["lockstep"],
        &[],
        "send each pipeline in one write, and wait for all its replies before the next",
        |draft| draft.connections.lockstep = true,
    )
    .own(),
    Argument::switch(
        &["busy-poll"],
        &[],
        "poll for replies and due times without sleeping: accurate to a few microseconds, but each thread uses a whole \
         processor",
        |draft| draft.connections.busy_poll = true,
    )
    .own(),
    Argument::value(
        &["cpus"],
        &[],
        "LIST",
        "pin the threads to these processors in turn, such as 0,2,4-7",
        |draft, text| {
            draft.connections.cpus = cpus(text)?;
            Ok(())
        },
    )
    .own(),
    Argument::value(
        &["connection-timeout", "connect-timeout"],
        &[],
        "SECONDS",
        "maximum time to wait for a connection (default 10; 0: no limit)",
        |draft, text| put(&mut draft.connections.connect_timeout, patience(text)),
    ),
    Argument::value(
        &["reply-timeout"],
        &[],
        "SECONDS",
        "maximum time to wait for a reply (default 30); a timeout ends the run with exit code 4",
        |draft, text| put(&mut draft.connections.reply_timeout, seconds(text)),
    )
    .own(),
    Argument::value(
        &["thread-conn-start-min-jitter-micros"],
        &[],
        "NUMBER",
        "minimum pause before each connection of a thread, in microseconds (default 0)",
        |draft, text| {
            put(&mut draft.connections.jitter_minimum_microseconds, number(text, 0..=MOST_JITTER_MICROSECONDS))
        },
    ),
    Argument::value(
        &["thread-conn-start-max-jitter-micros"],
        &[],
        "NUMBER",
        "maximum pause before each connection of a thread, in microseconds (default 0); each is drawn at random",
        |draft, text| {
            put(&mut draft.connections.jitter_maximum_microseconds, number(text, 0..=MOST_JITTER_MICROSECONDS))
        },
    ),
    Argument::value(
        &["reconnect-interval"],
        &[],
        "NUMBER",
        "reconnect each connection after this number of replies",
        |draft, text| put(&mut draft.connections.reconnect_interval, nonzero(text)),
    ),
    Argument::switch(
        &["reconnect-on-error"],
        &[],
        "reconnect a broken connection (default: it ends the run with exit code 4)",
        |draft| draft.connections.reconnect_on_error = true,
    ),
    Argument::value(
        &["max-reconnect-attempts"],
        &[],
        "NUMBER",
        "maximum number of consecutive attempts of --reconnect-on-error (default 0: until --connect-timeout is over)",
        |draft, text| put(&mut draft.connections.maximum_attempts, number(text, 0..=u64::MAX)),
    ),
    Argument::value(
        &["reconnect-backoff-factor"],
        &[],
        "NUMBER",
        "growth factor of the pause between attempts of --reconnect-on-error (default: no pause)",
        |draft, text| put(&mut draft.connections.backoff_factor, positive(text)),
    ),
];

#[derive(Debug, Default)]
pub(crate) struct ConnectionsDraft {
    pub(crate) threads: Option<usize>,
    pub(crate) clients: Option<usize>,
    pub(crate) pipeline: Option<usize>,
    pub(crate) lockstep: bool,
    pub(crate) busy_poll: bool,
    pub(crate) cpus: Vec<usize>,
    pub(crate) connect_timeout: Option<Duration>,
    pub(crate) reply_timeout: Option<Duration>,
    pub(crate) jitter_minimum_microseconds: Option<u64>,
    pub(crate) jitter_maximum_microseconds: Option<u64>,
    pub(crate) reconnect_interval: Option<NonZeroU64>,
    pub(crate) reconnect_on_error: bool,
    pub(crate) maximum_attempts: Option<u64>,
    pub(crate) backoff_factor: Option<f64>,
}

impl ConnectionsDraft {
    pub(crate) fn finish(self, warnings: &mut Warnings) -> Result<Connecting, UsageError> {
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

/// Reads a list such as `0,2,4-7`.
fn cpus(text: &str) -> Result<Vec<usize>, String> {
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<usize>().ok().filter(|&cpu| cpu < CpuSet::MAX_CPU);
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => cpus.extend(first..=last),
            _ => return Err("expected processor numbers such as 0,2,4-7".to_owned()),
        }
    }
    Ok(cpus)
}

/// What stands for no limit: longer than any run.
const NO_LIMIT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A time in seconds; 0 for no limit.
fn patience(text: &str) -> Result<Duration, String> {
    if text == "0" { Ok(NO_LIMIT) } else { seconds(text) }
}

#[cfg(test)]
mod tests {
    use super::{cpus, patience};

    #[test]
    fn numbers_and_ranges_are_read() {
        assert_eq!(cpus("3"), Ok(vec![3]));
        assert_eq!(cpus("0,4-6,1"), Ok(vec![0, 4, 5, 6, 1]));
        for wrong in ["", "a", "1,", "3-1", "-1", "1000000"] {
            assert!(cpus(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_time_of_0_is_no_limit() {
        assert!(patience("0").is_ok_and(|time| time.as_secs() > 100_000));
        assert_eq!(patience("2").map(|time| time.as_secs()), Ok(2));
    }
}
