//! What requests are made of, as far as arguments act on it.

use zerolap_load_requests::{Command, KeyPattern};

use crate::Mode;

/// What the commands that are sent draw.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) is_prefilled: bool,
    pub(crate) keys: bool,
    pub(crate) values: bool,
    /// How keys are drawn.
    pub(crate) patterns: Vec<KeyPattern>,
}

impl Sent {
    pub(crate) fn new(commands: &[Command], mode: Mode) -> Self {
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
