//! The highest rate at which responses are fast enough.

use std::num::NonZeroU64;

use crate::{Watch, drive};
use zerolap_load_measure::{LoadError, Run, SearchRecord, Step};
use zerolap_load_requests::{Pace, Plan, Settings, Slo, Work};

/// How far a rate that was missed may lie above one that was met, as a share of that.
const NARROW: f64 = 0.05;
/// How often the first rate is halved before there is no hope.
const MOST_HALVINGS: u32 = 10;
/// No machine sends more.
const MOST_PER_SECOND: u64 = 1_000_000_000;

/// What a search came to.
#[derive(Debug)]
pub struct Found {
    /// The plan of the best step; of the last one if no rate was met.
    pub plan: Plan,
    /// What that step came to.
    pub run: Run,
    /// All steps.
    pub search: SearchRecord,
}

/// Looks for the highest rate that meets `slo`, from that of `plan` on: doubles it until it is missed, then halves the
/// gap. Each step has new connections; what `plan` does before the first one is not done again. Reports each step to
/// `progress`. Where no rate is met, the run of the last step has failed.
///
/// # Errors
/// When a step cannot even begin, or the user ends the search before any rate was met.
pub fn search(
    settings: &Settings,
    plan: &Plan,
    (slo, pace): (Slo, Pace),
    watch: &Watch,
    mut progress: impl FnMut(&str),
) -> Result<Found, LoadError> {
    let mut bracket = Bracket::new(pace.per_second.get());
    let mut steps: Vec<Step> = Vec::new();
    let mut best: Option<(Plan, Run)> = None;
    let mut last = None;
    while let Some(rate) = bracket.next().and_then(NonZeroU64::new) {
        let pace = Pace { per_second: rate, ..pace };
        let is_first = steps.is_empty();
        let work = Work { pace: Some(pace), ..plan.work };
        let step_plan = Plan { check: plan.check && is_first, prefill: plan.prefill && is_first, work, ..*plan };
        let runs = drive(settings, &step_plan, watch);
        if watch.is_interrupted() {
            break;
        }
        let Some(mut run) = runs?.pop() else { break };
        // A connection may fail because the rate is too high. Any other failure would occur in the next step, too.
        if let Some(failure) = run.outcome.failure.take() {
            if !failure.is_of_a_connection() {
                return Err(failure);
            }
            run.outcome.failure = Some(failure);
        }
        let step = Step::new(slo, pace, &run.outcome);
        progress(&format!("step {}: {step}", steps.len() + 1));
        bracket.note(rate.get(), step.met);
        if step.met && best.as_ref().is_none_or(|(known, _)| rate_of(known) < rate.get()) {
            best = Some((step_plan, run));
        } else {
            last = Some((step_plan, run));
        }
        steps.push(step);
    }
    let is_interrupted = watch.is_interrupted();
    let highest_rate = best.as_ref().map(|(plan, _)| rate_of(plan));
    let (step_plan, mut run) = match (best, last) {
        (None, _) if is_interrupted => return Err(LoadError::Interrupted),
        (Some(best), _) => best,
        (None, Some(last)) => last,
        (None, None) => return Err(LoadError::NoRate { slo, reason: "no step was made".to_owned() }),
    };
    if is_interrupted {
        run.outcome.failure = Some(LoadError::Interrupted);
    } else if highest_rate.is_none() {
        let reason = steps.last().and_then(|step| step.reason.clone()).unwrap_or_default();
        run.outcome.failure = Some(LoadError::NoRate { slo, reason });
    }
    // As it was asked for: what comes before the first step belongs to all of them.
    let plan = Plan { work: step_plan.work, ..*plan };
    Ok(Found { plan, run, search: SearchRecord::new(slo, steps, highest_rate) })
}

fn rate_of(plan: &Plan) -> u64 {
    plan.work.pace.map_or(0, |pace| pace.per_second.get())
}

/// What is known of the highest rate.
#[derive(Debug)]
struct Bracket {
    start: u64,
    /// The highest rate that was met, if any.
    met: Option<u64>,
    /// The lowest rate that was missed, if any.
    missed: Option<u64>,
    halvings: u32,
}

impl Bracket {
    const fn new(start: u64) -> Self {
        Self { start, met: None, missed: None, halvings: 0 }
    }

    fn note(&mut self, rate: u64, is_met: bool) {
        if is_met {
            self.met = Some(rate);
        } else {
            self.missed = Some(rate);
            self.halvings += u32::from(self.met.is_none());
        }
    }

    /// The rate to try next; none when it is known, or there is none.
    fn next(&self) -> Option<u64> {
        match (self.met, self.missed) {
            (None, None) => Some(self.start),
            (Some(met), None) => met.checked_mul(2).filter(|rate| *rate <= MOST_PER_SECOND),
            (None, Some(missed)) => Some(missed / 2).filter(|rate| *rate > 0 && self.halvings <= MOST_HALVINGS),
            (Some(met), Some(missed)) => {
                let gap = missed.saturating_sub(met);
                let is_narrow = gap <= 1 || gap as f64 <= NARROW * met as f64;
                (!is_narrow).then_some(met + gap / 2)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Bracket;

    /// The rates that are tried where all up to `limit` are met, and the highest that was.
    fn tried(start: u64, limit: u64) -> (Vec<u64>, Option<u64>) {
        let (mut bracket, mut rates) = (Bracket::new(start), Vec::new());
        while let Some(rate) = bracket.next() {
            rates.push(rate);
            bracket.note(rate, rate <= limit);
        }
        (rates, bracket.met)
    }

    #[test]
    fn a_rate_is_doubled_until_it_is_missed_and_then_closed_in_on() {
        let expected = [1000, 2000, 4000, 8000, 6000, 5000, 5500, 5750];
        assert_eq!(tried(1000, 5800), (expected.to_vec(), Some(5750)));
        assert_eq!(tried(1000, 700), (vec![1000, 500, 750, 625, 687, 718], Some(687)));
        assert_eq!(tried(8, 9), (vec![8, 16, 12, 10, 9], Some(9)));
    }

    #[test]
    fn it_ends_where_every_rate_is_missed_or_met() {
        assert_eq!(tried(5, 0), (vec![5, 2, 1], None));
        assert_eq!(tried(1_000_000, 0).0.len(), 11);
        assert_eq!(tried(1, u64::MAX).0.len(), 30);
        assert_eq!(tried(u64::MAX, u64::MAX).1, Some(u64::MAX));
    }
}
