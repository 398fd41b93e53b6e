//! What a piece of work came to, over all threads.

use crate::tally::{CommandTally, Tally};

/// Counts of all threads.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// From the first write to the last reply of any thread.
    pub(crate) elapsed_ns: u64,
    /// CPU time of all threads.
    pub(crate) client_cpu_ns: u64,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
    pub(crate) pushes: u64,
    /// One for each command of the settings.
    pub(crate) commands: Vec<CommandTally>,
}

impl Outcome {
    /// What the threads counted at the same time.
    pub(crate) fn new(commands: usize, tallies: &[Tally]) -> Self {
        let started_ns = tallies.iter().filter_map(|tally| tally.started_ns).min();
        let ended_ns = tallies.iter().filter(|tally| tally.started_ns.is_some()).map(|tally| tally.ended_ns).max();
        let mut outcome = Self::empty(commands);
        outcome.elapsed_ns = ended_ns.unwrap_or(0).saturating_sub(started_ns.unwrap_or(0));
        for tally in tallies {
            outcome.client_cpu_ns += tally.cpu_ns;
            outcome.bytes_sent += tally.bytes_sent;
            outcome.bytes_received += tally.bytes_received;
            outcome.pushes += tally.pushes;
            outcome.merge_commands(&tally.commands);
        }
        outcome
    }

    /// Nothing done yet.
    #[must_use]
    pub fn empty(commands: usize) -> Self {
        let commands = (0..commands).map(|_| CommandTally::default()).collect();
        Self { elapsed_ns: 0, client_cpu_ns: 0, bytes_sent: 0, bytes_received: 0, pushes: 0, commands }
    }

    /// Adds what was done after this; times add up without the pause in between.
    pub fn append(&mut self, later: &Self) {
        self.elapsed_ns += later.elapsed_ns;
        self.client_cpu_ns += later.client_cpu_ns;
        self.bytes_sent += later.bytes_sent;
        self.bytes_received += later.bytes_received;
        self.pushes += later.pushes;
        self.merge_commands(&later.commands);
    }

    /// All commands together.
    pub(crate) fn total(&self) -> CommandTally {
        let mut total = CommandTally::default();
        for command in &self.commands {
            total.merge(command);
        }
        total
    }

    /// Requests in a second of `elapsed_ns`; 0 if no time went by.
    pub(crate) fn per_second(&self, requests: u64) -> f64 {
        if self.elapsed_ns == 0 { 0.0 } else { requests as f64 / (self.elapsed_ns as f64 / 1e9) }
    }

    fn merge_commands(&mut self, commands: &[CommandTally]) {
        for (command, more) in self.commands.iter_mut().zip(commands) {
            command.merge(more);
        }
    }
}
