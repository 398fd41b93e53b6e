//! When a thread's connections are to send, at a fixed rate.

use std::num::NonZeroU64;

use crate::{Settings, Work};

/// The rhythm of one thread: its connections take turns, each with a whole pipeline.
///
/// A turn that comes late is made up for at once, so that the rate holds over the whole.
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
        let Work::Paced { per_second, .. } = *work else { return None };
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

    /// The connection whose turn has come, and goes with this call; none if it is too early.
    pub(super) fn due(&mut self, now_ns: u64) -> Option<usize> {
        if now_ns < self.next_ns() {
            return None;
        }
        let index = usize::try_from(self.turns % self.connections as u64).ok();
        self.turns += 1;
        index
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use super::Pace;

    #[test]
    fn connections_take_turns_and_late_ones_are_made_up_for() {
        let per_turns = NonZeroU64::MIN;
        let mut pace = Pace { started_ns: 1_000, turns_ns: 10, per_turns, turns: 0, connections: 2 };
        assert_eq!((pace.due(999), pace.due(1_000), pace.due(1_000)), (None, Some(0), None));
        assert_eq!(pace.next_ns(), 1_010);
        assert_eq!((pace.due(1_025), pace.due(1_025), pace.due(1_025)), (Some(1), Some(0), None));
        assert_eq!(pace.next_ns(), 1_030);
    }
}
