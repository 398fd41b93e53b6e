//! Where `memtier_benchmark` would send or report something else for the same command line.

use zerolap_load_measure::Outcome;
use zerolap_load_requests::{Amount, KeyPattern, Plan, Policy, Settings, requests_for_all_keys};

/// The differences that matter for this run, in sentences.
#[must_use]
pub fn differences(settings: &Settings, plan: &Plan, outcome: &Outcome) -> Vec<String> {
    let mut differences = Vec::new();
    if settings.policy == Policy::Lab {
        differences.extend(one_stream(settings));
        differences.extend(all_keys(settings, plan));
        let total = outcome.total();
        let errors = total.requests() - total.succeeded();
        if errors > 0 {
            differences.push(format!("{errors} error replies are left out of Ops/sec; memtier_benchmark counts them"));
        }
    }
    if plan.work.pace.is_some() {
        differences.push(
            "latencies are counted from when a request was due; memtier_benchmark counts them from when it was sent"
                .to_owned(),
        );
    }
    if outcome.total().moved + outcome.total().asked > 0 {
        differences.push("redirections were followed; memtier_benchmark counts them as replies".to_owned());
    }
    differences
}

fn one_stream(settings: &Settings) -> Option<String> {
    let draws = |pattern| matches!(pattern, KeyPattern::Random | KeyPattern::Gaussian | KeyPattern::Zipf);
    let commands = settings.commands.iter().filter(|command| command.ratio > 0);
    let is_random = commands.into_iter().any(|command| draws(command.pattern) && command.draws_keys());
    (is_random && settings.connections() > 1 && !settings.one_stream).then(|| {
        "each connection draws its own keys; with memtier_benchmark all draw the same ones, unless \
         --distinct-client-seed is given"
            .to_owned()
    })
}

fn all_keys(settings: &Settings, plan: &Plan) -> Option<String> {
    if plan.work.amount != Amount::AllKeys {
        return None;
    }
    let memtier = Settings { policy: Policy::Memtier, ..settings.clone() };
    let total = |settings: &Settings| -> u128 {
        (0..settings.connections()).map(|client| u128::from(requests_for_all_keys(settings, client))).sum()
    };
    let (ours, theirs) = (total(settings), total(&memtier));
    (ours != theirs).then(|| format!("allkeys is {ours} requests; with memtier_benchmark it is {theirs}"))
}
