//! Carries out a plan.

use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use zerolap_resp::Template;

use crate::listeners::Listeners;
use crate::{Crew, Watch};
use zerolap_load_measure::{Goal, ListenerTally, LoadError, Outcome, Run, clock};
use zerolap_load_requests::{Amount, Command, KeyPattern, Plan, Policy, Server, Settings, Source, Work};

/// Requests in flight on a connection while keys are written before the measurement.
const PREFILL_PIPELINE: usize = 50;

/// Time between two looks at whether the user wants the end.
const LOOK: Duration = Duration::from_millis(20);

/// Does all runs of a plan, until one fails. What a failed run counted is among them.
///
/// # Errors
/// When not even a connection can be had, or what comes before the measurement fails.
pub fn drive(settings: &Settings, plan: &Plan, watch: &Watch) -> Result<Vec<Run>, LoadError> {
    let mut runs = Vec::new();
    for number in 1..=plan.runs.get() {
        let run = one_run(settings, plan, watch, number);
        watch.live.end();
        let run = match run {
            Err(failure) if !runs.is_empty() => Run::failed(settings, failure),
            run => run?,
        };
        let has_failed = run.outcome.failure.is_some();
        runs.push(run);
        if has_failed || watch.is_interrupted() {
            break;
        }
    }
    Ok(runs)
}

fn one_run(settings: &Settings, plan: &Plan, watch: &Watch, number: u32) -> Result<Run, LoadError> {
    let mut phases = Phases { began: Instant::now(), ended: Vec::new() };
    if settings.listening.as_ref().is_some_and(|listening| listening.is_alone) {
        return listen(settings, plan, (watch, number), phases);
    }
    let mut crew = Crew::connect(settings.clone(), watch)?;
    phases.end("connect");
    let stop_if_interrupted = || if watch.is_interrupted() { Err(LoadError::Interrupted) } else { Ok(()) };
    if plan.check {
        check(settings, watch)?;
        stop_if_interrupted()?;
        phases.end("check");
    }
    if plan.prefill {
        let mut filler = Crew::connect(prefill_settings(settings)?, watch)?;
        let keys = goal(filler.settings(), Amount::AllKeys);
        watch.live.begin(number, "prefill", keys);
        let outcome = complete(&mut filler, Work::unpaced(Amount::AllKeys))?;
        refuse_errors(filler.settings(), &outcome)?;
        stop_if_interrupted()?;
        phases.end("prefill");
    }
    // After the keys are written, so that listeners do not receive those writes.
    let mut listeners = Listeners::connect(settings, watch)?;
    if listeners.is_some() {
        phases.end("listen");
    }
    if let Some(time) = plan.warm_up {
        watch.live.begin(number, "warm_up", Goal::After(time));
        complete(&mut crew, Work { amount: Amount::For(time), pace: plan.work.pace })?;
        stop_if_interrupted()?;
        phases.end("warm_up");
    }
    let started = SystemTime::now();
    listeners.iter_mut().for_each(Listeners::begin);
    watch.live.begin(number, "measure", goal(settings, plan.work.amount));
    let mut outcome = crew.run(plan.work)?;
    if let Some(listeners) = listeners {
        note_listeners(&mut outcome, listeners.finish(true));
    }
    if watch.is_interrupted() && outcome.failure.is_none() {
        outcome.failure = Some(LoadError::Interrupted);
    }
    phases.end("measure");
    Ok(Run { started, phases: phases.ended, outcome })
}

/// A run that sends nothing.
fn listen(
    settings: &Settings,
    plan: &Plan,
    (watch, number): (&Watch, u32),
    mut phases: Phases,
) -> Result<Run, LoadError> {
    let listeners = Listeners::connect(settings, watch)?;
    phases.end("listen");
    let (started, began, begin_ns) = (SystemTime::now(), Instant::now(), clock::now_ns());
    let time = if let Amount::For(time) = plan.work.amount { time } else { Duration::ZERO };
    watch.live.begin(number, "measure", Goal::After(time));
    let mut outcome = Outcome::empty(settings.commands.len());
    outcome.begin_ns = begin_ns;
    if let Some(mut listeners) = listeners {
        listeners.begin();
        while let Some(left) = time.checked_sub(began.elapsed()).filter(|left| !left.is_zero()) {
            if watch.is_interrupted() {
                outcome.failure = Some(LoadError::Interrupted);
                break;
            }
            sleep(left.min(LOOK));
        }
        note_listeners(&mut outcome, listeners.finish(false));
    }
    outcome.elapsed_ns = clock::now_ns() - begin_ns;
    phases.end("measure");
    Ok(Run { started, phases: phases.ended, outcome })
}

fn note_listeners(outcome: &mut Outcome, heard: Result<ListenerTally, LoadError>) {
    match heard {
        Ok(tally) => outcome.listeners = Some(tally),
        Err(error) => outcome.failure = outcome.failure.take().or(Some(error)),
    }
}

/// When work of this amount is done.
fn goal(settings: &Settings, amount: Amount) -> Goal {
    let quota = |client| settings.quota(&Work::unpaced(amount), client);
    match amount {
        Amount::For(time) => Goal::After(time),
        _ => Goal::Requests((0..settings.connections()).map(quota).fold(0, u64::saturating_add)),
    }
}

/// Lengths of phases.
struct Phases {
    began: Instant,
    ended: Vec<(&'static str, f64)>,
}

impl Phases {
    fn end(&mut self, name: &'static str) {
        self.ended.push((name, self.began.elapsed().as_secs_f64()));
        self.began = Instant::now();
    }
}

fn complete(crew: &mut Crew, work: Work) -> Result<Outcome, LoadError> {
    let mut outcome = crew.run(work)?;
    outcome.failure.take().map_or(Ok(outcome), Err)
}

/// Fails if any command was answered with an error.
fn refuse_errors(settings: &Settings, outcome: &Outcome) -> Result<(), LoadError> {
    let refused = settings
        .commands
        .iter()
        .zip(&outcome.commands)
        .find_map(|(command, tally)| tally.first_error.as_ref().map(|reply| (command.line.clone(), reply.clone())));
    let endpoint = settings.server.endpoint.clone();
    refused.map_or(Ok(()), |(line, reply)| Err(LoadError::CheckFailed { endpoint, line, reply }))
}

/// Sends each command once over one connection and fails at the first that the server answers with an error.
fn check(settings: &Settings, watch: &Watch) -> Result<(), LoadError> {
    let mut once = Settings { threads: 1, clients: 1, pipeline: 1, timeline: None, ..settings.clone() };
    for command in &mut once.commands {
        command.ratio = command.ratio.min(1);
    }
    let commands = once.commands.iter().map(|command| command.ratio).sum();
    let mut crew = Crew::connect(once, watch)?;
    let outcome = complete(&mut crew, Work::unpaced(Amount::Total(commands)))?;
    refuse_errors(crew.settings(), &outcome)
}

/// Settings that write each key of the range once.
fn prefill_settings(settings: &Settings) -> Result<Settings, LoadError> {
    let line = "SET __key__ __data__".to_owned();
    let template = Template::compile(line.as_bytes(), settings.keys.prefix.as_bytes());
    let template = template.map_err(|error| LoadError::Thread(std::io::Error::other(error)))?;
    Ok(Settings {
        pipeline: PREFILL_PIPELINE,
        lockstep: false,
        commands: vec![Command {
            line,
            template,
            ratio: 1,
            pattern: KeyPattern::Parallel,
            database: None,
            is_default: false,
            source: Source::Template,
        }],
        policy: Policy::Lab,
        timeline: None,
        scan: None,
        largest_database: None,
        server: Server { replica_reads: false, ..settings.server.clone() },
        ..settings.clone()
    })
}
