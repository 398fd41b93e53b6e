//! The steps of a search for the highest rate, and whether each was met.

use std::fmt;

use serde::Serialize;

use crate::Outcome;
use zerolap_load_requests::{Arrivals, Pace, Slo};

/// Share of the rate that has to be achieved.
const LEAST_ACHIEVED: f64 = 0.98;

/// All steps of a search.
#[derive(Debug, Clone, Serialize)]
pub struct SearchRecord {
    slo: String,
    steps: Vec<Step>,
    /// The highest rate that was met; null if none was.
    highest_rate: Option<u64>,
}

impl SearchRecord {
    /// The record of these steps.
    #[must_use]
    pub fn new(slo: Slo, steps: Vec<Step>, highest_rate: Option<u64>) -> Self {
        Self { slo: slo.to_string(), steps, highest_rate }
    }
}

impl fmt::Display for SearchRecord {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (slo, steps) = (&self.slo, self.steps.len());
        match self.highest_rate {
            Some(rate) => write!(formatter, "{rate}/s is the highest rate with {slo}, of {steps} that were tried"),
            None => write!(formatter, "none of {steps} rates that were tried has {slo}"),
        }
    }
}

/// What a run at one rate came to.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    /// Requests a second.
    pub rate: u64,
    achieved_per_second: f64,
    /// Of the percentile that has a limit; null without replies.
    percentile_us: Option<f64>,
    /// Whether it was met.
    pub met: bool,
    /// Why it was not met; null if it was.
    pub reason: Option<String>,
    #[serde(skip)]
    slo: Slo,
}

impl Step {
    /// Judges the outcome of a run at `pace`.
    #[must_use]
    pub fn new(slo: Slo, pace: Pace, outcome: &Outcome) -> Self {
        let total = outcome.total();
        let achieved = outcome.per_second(total.requests());
        let percentile_ns = match total.latencies.count() {
            0 => None,
            _ if slo.percentile == zerolap_load_requests::Percentile::Max => Some(total.latencies.maximum_ns()),
            _ => total.latencies.percentile_ns(slo.percentile.percent()),
        };
        let mut reasons = Vec::new();
        if let Some(failure) = &outcome.failure {
            reasons.push(failure.to_string());
        }
        let errors = total.requests() - total.succeeded();
        if errors > 0 {
            reasons.push(format!("{errors} replies were errors"));
        }
        let lost = total.timed_out + total.disconnected;
        if lost > 0 {
            reasons.push(format!("{lost} requests were lost"));
        }
        let rate = pace.per_second.get();
        if achieved < asked(pace, outcome, lost) * LEAST_ACHIEVED {
            reasons.push(format!("only {achieved:.0} of {rate} requests a second were answered"));
        }
        if percentile_ns.is_none_or(|value_ns| u128::from(value_ns) >= slo.limit.as_nanos()) {
            reasons.push(format!("not {slo}"));
        }
        reasons.extend(outcome.client_bounds().into_iter().map(|bound| format!("client_bound: {bound}")));
        Self {
            rate,
            achieved_per_second: achieved,
            percentile_us: percentile_ns.map(|value_ns| value_ns as f64 / 1e3),
            met: reasons.is_empty(),
            reason: (!reasons.is_empty()).then(|| reasons.join("; ")),
            slo,
        }
    }
}

/// Requests a second that were due: by chance they may be fewer than the rate implies.
fn asked(pace: Pace, outcome: &Outcome, lost: u64) -> f64 {
    let rate = pace.per_second.get() as f64;
    match pace.arrivals {
        Arrivals::Fixed => rate,
        Arrivals::Poisson => {
            let unsent = outcome.schedule.as_ref().map_or(0, |schedule| schedule.unsent);
            rate.min(outcome.per_second(outcome.requests() + lost + unsent))
        }
    }
}

/// A line of the progress.
impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.slo.percentile.name();
        write!(formatter, "{}/s: ", self.rate)?;
        if let Some(value_us) = self.percentile_us {
            write!(formatter, "{name} {value_us:.1} us, ")?;
        }
        match &self.reason {
            None => write!(formatter, "met"),
            Some(reason) => write!(formatter, "missed: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;
    use std::time::Duration;

    use zerolap_resp::{Leaves, Reply, ReplyKind};

    use super::Step;
    use crate::Outcome;
    use zerolap_load_requests::{Arrivals, Pace, Percentile, Slo, Unit};

    const SLO: Slo = Slo { percentile: Percentile::P99, limit: Duration::from_millis(1) };

    /// 100 replies a second for a second, of which the last few are other than the first.
    fn outcome(few: usize, kind: ReplyKind, latency_ns: u64) -> Outcome {
        let mut outcome = Outcome { elapsed_ns: 1_000_000_000, ..Outcome::empty(1) };
        for number in 0..100 {
            let (kind, latency_ns) = if number + few < 100 { (ReplyKind::Bulk, 1000) } else { (kind, latency_ns) };
            outcome.commands[0].count(
                &Reply {
                    kind,
                    code: b"ERR",
                    text: b"",
                    elements: 0,
                    first: b"",
                    leaves: Leaves::VALUE,
                    leaves_after_first: Leaves::NONE,
                    error_elements: 0,
                },
                latency_ns,
            );
        }
        outcome
    }

    fn reason(rate: u64, arrivals: Arrivals, outcome: &Outcome) -> Option<String> {
        let per_second = NonZeroU64::new(rate).expect("a rate");
        let step = Step::new(SLO, Pace { per_second, arrivals, unit: Unit::Request }, outcome);
        assert_eq!(step.met, step.reason.is_none());
        step.reason
    }

    #[test]
    fn a_rate_is_met_only_without_any_reason_against_it() {
        let good = outcome(0, ReplyKind::Bulk, 0);
        assert_eq!(reason(100, Arrivals::Fixed, &good), None);
        assert_eq!(reason(102, Arrivals::Fixed, &good), None, "98 % are enough");
        let reason_at = |rate, outcome: &Outcome| reason(rate, Arrivals::Fixed, outcome).expect("a reason");
        assert_eq!(reason_at(103, &good), "only 100 of 103 requests a second were answered");
        assert_eq!(reason_at(100, &outcome(1, ReplyKind::Error, 1000)), "1 replies were errors");
        assert_eq!(reason(100, Arrivals::Fixed, &outcome(1, ReplyKind::Bulk, 9_000_000)), None, "99 of 100 are fast");
        assert_eq!(reason_at(100, &outcome(2, ReplyKind::Bulk, 9_000_000)), "not p99<1ms");
        let nothing = reason_at(100, &Outcome::empty(1));
        assert_eq!(nothing, "only 0 of 100 requests a second were answered; not p99<1ms");
    }

    #[test]
    fn chance_that_leaves_fewer_requests_due_is_no_fault() {
        let good = outcome(0, ReplyKind::Bulk, 0);
        assert_eq!(reason(110, Arrivals::Poisson, &good), None);
        let mut late = outcome(0, ReplyKind::Bulk, 0);
        late.schedule.get_or_insert_default().unsent = 10;
        assert!(reason(110, Arrivals::Poisson, &late).is_some());
    }
}
