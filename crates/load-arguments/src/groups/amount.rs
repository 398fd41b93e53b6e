//! The amount and the pace of requests.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use zerolap_load_requests::{Amount, Arrivals, Pace, Percentile, Plan, Slo, Unit, Work};

use crate::needs::{Given, Need};
use crate::numbers::{nonzero, number, positive, seconds};
use crate::table::{Argument, Preset, put};
use crate::{Mode, UsageError};

pub(crate) static ARGUMENTS: &[Argument] = &[
    Argument::value(
        &["requests"],
        &['n'],
        "NUMBER|allkeys",
        "number of requests on each connection; allkeys: one request per key in total, with pattern P \
         each key once, with pattern S each key once on each connection",
        |draft, text| {
            let amount = if text == "allkeys" {
                Ok(Amount::AllKeys)
            } else {
                number(text, 1..=u64::MAX).map(Amount::PerConnection)
            };
            put(&mut draft.amount.requests, amount)
        },
    )
    .default("10000"),
    Argument::value(&["test-time"], &[], "SECONDS", "duration of the run, instead of --requests", |draft, text| {
        put(&mut draft.amount.test_time, seconds(text))
    }),
    Argument::value(
        &["rate"],
        &[],
        "NUMBER",
        "requests per second over all connections, due whether or not the server keeps up; latencies are measured \
         from the due time (default: send as fast as replies arrive)",
        |draft, text| put(&mut draft.amount.rate, nonzero(text)),
    )
    .own(),
    Argument::value(
        &["arrivals"],
        &[],
        "fixed|poisson",
        "fixed: requests of --rate are due evenly; poisson: independently of each other",
        |draft, text| put(&mut draft.amount.arrivals, arrivals(text)),
    )
    .default("fixed")
    .needs(&[Need::Argument(&["rate", "search"])])
    .own(),
    Argument::value(&["rate-limiting"], &[], "NUMBER", "like --rate, but for each connection", |draft, text| {
        put(&mut draft.amount.rate_limiting, nonzero(text))
    }),
    Argument::value(
        &["search"],
        &[],
        "slo=PERCENTILE<TIME",
        "find the highest rate at which a percentile of response times is below a limit, such as slo=p99<1ms: p50, \
         p90, p95, p99, p99.9, p99.99 or max; us, ms or s; each rate is tried for --test-time (default 5), beginning \
         with --rate (default 1000)",
        |draft, text| put(&mut draft.amount.search, slo(text)),
    )
    .own(),
    Argument::value(&["run-count"], &['x'], "NUMBER", "number of runs, each with new connections", |draft, text| {
        put(&mut draft.amount.runs, nonzero(text))
    })
    .default("1"),
    Argument::switch(
        &["check"],
        &[],
        "before the run, send each command once, and exit if a reply is an error",
        |draft| draft.amount.check = true,
    )
    .own(),
    Argument::switch(&["prefill"], &[], "before the run, write each key of the range once", |draft| {
        draft.amount.prefill = true;
    })
    .own(),
    Argument::value(
        &["warm-up"],
        &[],
        "SECONDS",
        "duration of a phase before the run that is not measured",
        |draft, text| put(&mut draft.amount.warm_up, seconds(text)),
    )
    .own(),
    Argument::switch(
        &["control"],
        &[],
        "connect, then read JSON lines from standard input: {\"do\":\"slice\",\"requests\":N} sends N requests in \
         total and prints the result as a line, {\"do\":\"stop\"} ends the program",
        |draft| draft.amount.control = true,
    )
    .own(),
];

/// What each slice of `--control` sets.
const SET_BY_SLICES: [&str; 9] =
    ["requests", "test-time", "rate", "rate-limiting", "search", "run-count", "check", "prefill", "warm-up"];

/// Length of each step of a search.
const STEP_TIME: Duration = Duration::from_secs(5);
/// Rate of a search's first step.
const FIRST_RATE: NonZeroU64 = NonZeroU64::new(1000).unwrap();

#[derive(Debug, Default)]
pub(crate) struct AmountDraft {
    /// How much, by requests.
    pub(crate) requests: Preset<Amount>,
    pub(crate) test_time: Option<Duration>,
    /// Requests a second over all connections.
    pub(crate) rate: Option<NonZeroU64>,
    pub(crate) arrivals: Preset<Arrivals>,
    /// Requests a second of each connection.
    pub(crate) rate_limiting: Option<NonZeroU64>,
    /// The limit of `--search`.
    pub(crate) search: Option<Slo>,
    pub(crate) runs: Preset<NonZeroU32>,
    pub(crate) check: bool,
    pub(crate) prefill: bool,
    pub(crate) warm_up: Option<Duration>,
    pub(crate) control: bool,
}

impl AmountDraft {
    pub(crate) fn finish(self, given: &Given, connections: usize) -> Result<Mode, UsageError> {
        if self.control {
            return if given.has_any(&SET_BY_SLICES) {
                Err(UsageError::Conflict(
                    "with --control each slice sets its amount and its pace: leave out --requests, --test-time, --rate, \
                     --rate-limiting, --search, --run-count, --check, --prefill and --warm-up",
                ))
            } else {
                Ok(Mode::Control)
            };
        }
        if self.search.is_some() && given.has_any(&["requests", "rate-limiting", "run-count"]) {
            return Err(UsageError::Conflict(
                "--search excludes --requests, --rate-limiting and --run-count: each of its steps lasts --test-time",
            ));
        }
        let amount = match self.test_time {
            Some(_) if given.has("requests") => {
                return Err(UsageError::Conflict("--requests and --test-time exclude each other"));
            }
            Some(time) => Amount::For(time),
            None if self.search.is_some() => Amount::For(STEP_TIME),
            None => *self.requests.get(),
        };
        Ok(Mode::Once(Plan {
            check: self.check,
            prefill: self.prefill,
            warm_up: self.warm_up,
            search: self.search,
            work: Work { amount, pace: self.pace(connections)? },
            runs: *self.runs.get(),
        }))
    }

    fn pace(&self, connections: usize) -> Result<Option<Pace>, UsageError> {
        let (per_second, arrivals) = match (self.rate, self.rate_limiting) {
            (Some(_), Some(_)) => {
                return Err(UsageError::Conflict("--rate and --rate-limiting exclude each other"));
            }
            (Some(rate), None) => (rate, *self.arrivals.get()),
            (None, Some(rate)) => {
                let connections = NonZeroU64::new(connections as u64).unwrap_or(NonZeroU64::MIN);
                (rate.saturating_mul(connections), Arrivals::Fixed)
            }
            (None, None) if self.search.is_some() => (FIRST_RATE, *self.arrivals.get()),
            (None, None) => return Ok(None),
        };
        Ok(Some(Pace { per_second, arrivals, unit: Unit::Request }))
    }
}

const EXPECTED_SLO: &str = "expected slo=, a percentile (p50, p90, p95, p99, p99.9, p99.99 or max), <, and a time in us, ms \
                        or s, such as slo=p99<1ms";

/// Such as `slo=p99<1ms`.
fn slo(text: &str) -> Result<Slo, String> {
    read_slo(text).ok_or_else(|| EXPECTED_SLO.to_owned())
}

fn read_slo(text: &str) -> Option<Slo> {
    let (name, limit) = text.strip_prefix("slo=")?.split_once('<')?;
    let percentile = Percentile::ALL.into_iter().find(|percentile| percentile.name() == name)?;
    // "us" and "ms" end with an "s", too.
    let units = [("us", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    let (number, seconds) = units.into_iter().find_map(|(unit, seconds)| Some((limit.strip_suffix(unit)?, seconds)))?;
    let limit = Duration::try_from_secs_f64(positive(number).ok()? * seconds).ok()?;
    (!limit.is_zero()).then_some(Slo { percentile, limit })
}

/// How due requests follow each other.
fn arrivals(text: &str) -> Result<Arrivals, String> {
    match text {
        "fixed" => Ok(Arrivals::Fixed),
        "poisson" => Ok(Arrivals::Poisson),
        _ => Err("expected fixed or poisson".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::slo;

    #[test]
    fn what_is_read_is_shown_alike() {
        for (text, shown) in [
            ("slo=p99<1ms", "p99<1ms"),
            ("slo=p99.9<250us", "p99.9<250us"),
            ("slo=p50<1.5s", "p50<1.5s"),
            ("slo=max<1500us", "max<1.5ms"),
            ("slo=p99.99<0.3ms", "p99.99<300us"),
        ] {
            assert_eq!(slo(text).map(|slo| slo.to_string()), Ok(shown.to_owned()));
        }
    }

    #[test]
    fn what_is_no_limit_is_refused() {
        let wrong =
            ["", "p99<1ms", "slo=p98<1ms", "slo=p99<1", "slo=p99<ms", "slo=p99<0ms", "slo=p99>1ms", "slo=p99<-1s"];
        let strange = ["slo=p99<1m", "slo=p99<nans", "slo=p99<1e300s", "slo=p99<1 ms", "slo=<1ms", "slo=p99<1e-30s"];
        for text in wrong.into_iter().chain(strange) {
            assert!(slo(text).is_err_and(|reason| reason.contains("slo=p99<1ms")), "{text:?}");
        }
    }
}
