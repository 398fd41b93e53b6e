//! The connections.

use std::num::NonZeroU64;
use std::time::Duration;

use rustix::thread::CpuSet;
use zerolap_load_requests::{Connecting, Reconnecting};

use crate::UsageError;
use crate::needs::Need;
use crate::numbers::{nonzero, number, positive, seconds};
use crate::table::{Argument, Preset, put};

/// Limits that keep a typing error from exhausting the machine.
const MOST_THREADS: usize = 1024;
const MOST_CLIENTS: usize = 1_000_000;
const MOST_IN_FLIGHT: usize = 1_000_000;
/// More than an hour.
const MOST_JITTER_MICROSECONDS: u64 = u32::MAX as u64;

/// Anything but listeners.
const REQUESTS: Need = Need::Condition {
    is_met: |line| line.settings.listening.as_ref().is_none_or(|listening| !listening.is_alone),
    otherwise: "with --listen-only nothing is sent",
};

pub(crate) static ARGUMENTS: &[Argument] = &[
    Argument::value(&["threads"], &['t'], "NUMBER", "threads", |draft, text| {
        put(&mut draft.connections.threads, number(text, 1..=MOST_THREADS))
    })
    .default("4")
    .needs(&[REQUESTS]),
    Argument::value(&["clients"], &['c'], "NUMBER", "connections of each thread", |draft, text| {
        put(&mut draft.connections.clients, number(text, 1..=MOST_CLIENTS))
    })
    .default("50")
    .needs(&[REQUESTS]),
    Argument::value(
        &["pipeline"],
        &[],
        "NUMBER",
        "maximum number of requests in flight on a connection, refilled as replies arrive",
        |draft, text| put(&mut draft.connections.pipeline, number(text, 1..=MOST_IN_FLIGHT)),
    )
    .default("1")
    .needs(&[REQUESTS]),
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
        "maximum time to wait for a connection; 0: no limit",
        |draft, text| put(&mut draft.connections.connect_timeout, patience(text)),
    )
    .default("10"),
    Argument::value(
        &["reply-timeout"],
        &[],
        "SECONDS",
        "maximum time to wait for a reply; a timeout ends the run with exit code 4",
        |draft, text| put(&mut draft.connections.reply_timeout, seconds(text)),
    )
    .default("30")
    .own(),
    Argument::value(
        &["thread-conn-start-min-jitter-micros"],
        &[],
        "NUMBER",
        "minimum pause before each connection of a thread, in microseconds",
        |draft, text| {
            put(&mut draft.connections.jitter_minimum_microseconds, number(text, 0..=MOST_JITTER_MICROSECONDS))
        },
    )
    .default("0"),
    Argument::value(
        &["thread-conn-start-max-jitter-micros"],
        &[],
        "NUMBER",
        "maximum pause before each connection of a thread, in microseconds; each is drawn at random",
        |draft, text| {
            put(&mut draft.connections.jitter_maximum_microseconds, number(text, 0..=MOST_JITTER_MICROSECONDS))
        },
    )
    .default("0"),
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
        "maximum number of consecutive attempts of --reconnect-on-error; 0: until --connection-timeout is over",
        |draft, text| put(&mut draft.connections.maximum_attempts, number(text, 0..=u64::MAX)),
    )
    .default("0")
    .needs(&[Need::Argument(&["reconnect-on-error"])]),
    Argument::value(
        &["reconnect-backoff-factor"],
        &[],
        "NUMBER",
        "growth factor of the pause between attempts of --reconnect-on-error (default: no pause)",
        |draft, text| put(&mut draft.connections.backoff_factor, positive(text)),
    )
    .needs(&[Need::Argument(&["reconnect-on-error"])]),
];

#[derive(Debug, Default)]
pub(crate) struct ConnectionsDraft {
    pub(crate) threads: Preset<usize>,
    pub(crate) clients: Preset<usize>,
    pub(crate) pipeline: Preset<usize>,
    pub(crate) lockstep: bool,
    pub(crate) busy_poll: bool,
    pub(crate) cpus: Vec<usize>,
    pub(crate) connect_timeout: Preset<Duration>,
    pub(crate) reply_timeout: Preset<Duration>,
    pub(crate) jitter_minimum_microseconds: Preset<u64>,
    pub(crate) jitter_maximum_microseconds: Preset<u64>,
    pub(crate) reconnect_interval: Option<NonZeroU64>,
    pub(crate) reconnect_on_error: bool,
    pub(crate) maximum_attempts: Preset<u64>,
    pub(crate) backoff_factor: Option<f64>,
}

impl ConnectionsDraft {
    pub(crate) fn connecting(&self) -> Result<Connecting, UsageError> {
        let jitter = [&self.jitter_minimum_microseconds, &self.jitter_maximum_microseconds]
            .map(|microseconds| Duration::from_micros(*microseconds.get()));
        if jitter[0] > jitter[1] {
            return Err(UsageError::Conflict(
                "--thread-conn-start-max-jitter-micros must not be below --thread-conn-start-min-jitter-micros",
            ));
        }
        let reconnecting = Reconnecting {
            maximum_attempts: *self.maximum_attempts.get(),
            backoff_factor: self.backoff_factor.unwrap_or(0.0),
        };
        Ok(Connecting {
            connect_timeout: *self.connect_timeout.get(),
            reply_timeout: *self.reply_timeout.get(),
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
