//! What requests are made of, as far as arguments act on it.

use zerolap_load_requests::{Command, KeyPattern};

use crate::arguments::Mode;

/// What the commands that are sent draw.
#[derive(Debug)]
pub(in crate::arguments) struct Sent {
    pub(in crate::arguments) is_prefilled: bool,
    pub(in crate::arguments) keys: bool,
    pub(in crate::arguments) values: bool,
    /// How keys are drawn.
    pub(in crate::arguments) patterns: Vec<KeyPattern>,
}

impl Sent {
    pub(in crate::arguments) fn new(commands: &[Command], mode: Mode) -> Self {
        let is_prefilled = matches!(mode, Mode::Once(plan) if plan.prefill);
        let sent = || commands.iter().filter(|command| command.ratio > 0);
        let with_keys = sent().filter(|command| command.draws_keys());
        let patterns: Vec<KeyPattern> = with_keys.map(|command| command.pattern).collect();
        Self {
            is_prefilled,
            keys: is_prefilled || !patterns.is_empty(),
            values: is_prefilled || sent().any(Command::draws_values),
            patterns,
        }
    }
}
