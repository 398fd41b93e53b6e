//! What became of transactions, by the replies to `EXEC`.

use serde::Serialize;
use zerolap_load_requests::Command;
use zerolap_resp::ReplyKind;

use crate::CommandTally;

/// Replies to `EXEC`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TransactionCounts {
    /// Transactions of which at least one command was executed.
    pub executed: u64,
    /// Transactions without any command.
    pub empty: u64,
    /// Transactions that were not executed, because a watched key had changed.
    pub unexecuted: u64,
    /// Transactions that the server refused.
    pub refused: u64,
    /// Commands of transactions that were executed and failed.
    pub failed_commands: u64,
}

impl TransactionCounts {
    /// The counts of what commands came to.
    #[must_use]
    pub fn of(commands: &[Command], tallies: &[CommandTally]) -> Self {
        let mut counts = Self::default();
        for (_, tally) in commands.iter().zip(tallies).filter(|(command, _)| command.template.command() == "EXEC") {
            let (empty, unexecuted) = (tally.empty_arrays, tally.replies(ReplyKind::Nil));
            counts.merge(Self {
                executed: tally.replies(ReplyKind::Array).saturating_sub(empty),
                empty,
                unexecuted,
                refused: tally.replies(ReplyKind::Error),
                failed_commands: tally.error_elements,
            });
        }
        counts
    }

    /// Whether there were none.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Adds those of another run.
    pub fn merge(&mut self, other: Self) {
        self.executed += other.executed;
        self.empty += other.empty;
        self.unexecuted += other.unexecuted;
        self.refused += other.refused;
        self.failed_commands += other.failed_commands;
    }

    /// What the user has to know of them, in sentences.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let all = self.executed + self.empty + self.unexecuted + self.refused;
        let troubles = [
            (self.empty, "had no commands: EXEC was answered with an empty array"),
            (self.unexecuted, "were not executed because a watched key had changed: EXEC was answered with nil"),
            (self.refused, "were refused: EXEC was answered with an error"),
        ];
        let mut warnings = Vec::new();
        for (count, what) in troubles.into_iter().filter(|(count, _)| *count > 0) {
            warnings.push(format!("{count} of {all} transactions {what}"));
        }
        if self.failed_commands > 0 {
            warnings.push(format!("{} commands of transactions failed when EXEC executed them", self.failed_commands));
        }
        warnings
    }
}
