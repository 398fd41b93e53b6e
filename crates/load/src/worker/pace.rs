//! When a thread's connections are to send, at a fixed rate.

use std::num::NonZeroU64;

use crate::{Settings, Work};

/// The rhythm of one thread: its connections take turns, each with a whole pipeline.
///
/// A turn that comes late, or finds no connection free, is made up for, so that the rate holds over the whole.
#[derive(Debug)]
pub(super) struct Pace {
    started_ns: u64,
    /// Nanoseconds of so many turns.
    turns_ns: u64,
    per_turns: NonZeroU64,
    turns: u64,
    connections: usize,
}

impl Pace {
    /// The rhythm that `work` asks for; none where it asks for none.
    pub(super) fn of(work: &Work, settings: &Settings, started_ns: u64) -> Option<Self> {
        let per_second = work.pace?.per_second;
        let requests_per_turn = settings.pipeline as u64 * settings.threads as u64;
        Some(Self {
            started_ns,
            turns_ns: requests_per_turn.saturating_mul(1_000_000_000),
            per_turns: per_second,
            turns: 0,
            connections: settings.clients.max(1),
        })
    }

    /// When the next turn is.
    pub(super) fn next_ns(&self) -> u64 {
        let since_ns = u128::from(self.turns) * u128::from(self.turns_ns) / u128::from(self.per_turns.get());
        self.started_ns.saturating_add(u64::try_from(since_ns).unwrap_or(u64::MAX))
    }

    /// Whether a turn has come that was not taken yet.
    pub(super) fn is_due(&self, now_ns: u64) -> bool {
        now_ns >= self.next_ns()
    }

    /// The connection from which on a free one is looked for.
    pub(super) fn first(&self) -> usize {
        usize::try_from(self.turns % self.connections as u64).unwrap_or(0)
    }

    /// Counts a turn as taken.
    pub(super) fn take(&mut self) {
        self.turns += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use super::Pace;

    #[test]
    fn turns_come_evenly_and_late_ones_are_made_up_for() {
        let per_turns = NonZeroU64::MIN;
        let mut pace = Pace { started_ns: 1_000, turns_ns: 10, per_turns, turns: 0, connections: 2 };
        assert!(!pace.is_due(999) && pace.is_due(1_000));
        let mut taken = Vec::new();
        while pace.is_due(1_025) {
            taken.push(pace.first());
            pace.take();
        }
        assert_eq!((taken, pace.next_ns()), (vec![0, 1, 0], 1_030));
    }
}
