//! One run of a plan, and what it came to.

use std::time::SystemTime;

use crate::{LoadError, Outcome};
use zerolap_load_requests::Settings;

/// What was measured, and when.
#[derive(Debug)]
pub struct Run {
    /// When the measured work began.
    pub started: SystemTime,
    /// How long each phase took, in seconds, in the order they came.
    pub phases: Vec<(&'static str, f64)>,
    /// What was counted.
    pub outcome: Outcome,
}

impl Run {
    /// A run that failed before anything was measured.
    #[must_use]
    pub fn failed(settings: &Settings, failure: LoadError) -> Self {
        let outcome = Outcome { failure: Some(failure), ..Outcome::empty(settings.commands.len()) };
        Self { started: SystemTime::now(), phases: Vec::new(), outcome }
    }

    /// All runs as if they had been one: counts are added, times too.
    #[must_use]
    pub fn merged(settings: &Settings, runs: &[Self]) -> Self {
        let mut outcome = Outcome::empty(settings.commands.len());
        for run in runs {
            outcome.append(&run.outcome);
        }
        let started = runs.first().map_or(SystemTime::UNIX_EPOCH, |run| run.started);
        Self { started, phases: Vec::new(), outcome }
    }
}
