//! The highest rate at which responses are fast enough.

mod bracket;

use std::num::NonZeroU64;

use crate::{Watch, drive};
use bracket::Bracket;
use zerolap_load_measure::{LoadError, Run};
use zerolap_load_measure::{SearchRecord, Step};
use zerolap_load_requests::{Pace, Plan, Settings, Slo, Work};

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
/// gap. Each step has new connections; what `plan` does before the first one is not done again. Tells each step to
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
        // What befalls a connection may be too high a rate's doing; all else would befall the next step, too.
        if let Some(failure) = run.outcome.take_failure() {
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
