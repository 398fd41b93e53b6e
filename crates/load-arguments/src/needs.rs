//! Conditions under which arguments have an effect.

use zerolap_load_requests::{Command, KeyPattern, Settings};

use super::Mode;
use super::table::all;
use super::warnings::Warnings;

/// A condition under which an argument has an effect.
pub(super) enum Need {
    /// Any of these arguments is given; by their first names.
    Argument(&'static [&'static str]),
    /// Something holds of the whole command line; the sentence is the reason where it does not.
    Condition { is_met: fn(&CommandLine<'_>) -> bool, otherwise: &'static str },
}

/// The arguments that were given, by their first names.
#[derive(Debug, Default)]
pub(super) struct Given(Vec<&'static str>);

impl Given {
    pub(super) fn push(&mut self, name: &'static str) {
        self.0.push(name);
    }

    pub(super) fn has(&self, name: &str) -> bool {
        debug_assert!(all().any(|argument| argument.long[0] == name), "--{name} is no argument's first name");
        self.0.contains(&name)
    }

    pub(super) fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has(name))
    }
}

/// A whole command line: the arguments given, and what they mean.
pub(super) struct CommandLine<'line> {
    pub(super) given: &'line Given,
    pub(super) settings: &'line Settings,
    pub(super) mode: Mode,
}

impl CommandLine<'_> {
    /// Warns of each given argument with a need that is not met.
    pub(super) fn check(&self, warnings: &mut Warnings) {
        for argument in all().filter(|argument| self.given.has(argument.long[0])) {
            if let Some(need) = argument.needs.iter().find(|need| !self.meets(need)) {
                warnings.without_effect(true, &format!("--{}", argument.long[0]), &need.otherwise());
            }
        }
    }

    fn meets(&self, need: &Need) -> bool {
        match need {
            Need::Argument(names) => self.given.has_any(names),
            Need::Condition { is_met, .. } => is_met(self),
        }
    }

    pub(super) fn is_prefilled(&self) -> bool {
        matches!(self.mode, Mode::Once(plan) if plan.prefill)
    }

    /// The commands that are sent.
    pub(super) fn sent(&self) -> impl Iterator<Item = &Command> {
        self.settings.commands.iter().filter(|command| command.ratio > 0)
    }

    /// Whether a command that is sent draws keys with this pattern.
    pub(super) fn draws_keys_by(&self, pattern: KeyPattern) -> bool {
        self.sent().any(|command| command.draws_keys() && command.pattern == pattern)
    }

    /// Whether anything that is sent has keys, what listeners send too.
    pub(super) fn draws_keys(&self) -> bool {
        let mut listen = self.settings.listening.iter().flat_map(|listening| &listening.commands);
        self.is_prefilled()
            || self.sent().any(Command::draws_keys)
            || listen.any(|command| command.template.key_count() > 0)
    }
}

impl Need {
    fn otherwise(&self) -> String {
        match self {
            Self::Argument([name]) => format!("--{name} is not given"),
            Self::Argument(names) => {
                let names: Vec<String> = names.iter().map(|name| format!("--{name}")).collect();
                format!("neither {} is given", names.join(" nor "))
            }
            Self::Condition { otherwise, .. } => (*otherwise).to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Need;
    use crate::table::all;

    #[test]
    fn arguments_need_arguments_that_there_are() {
        let names = all().flat_map(|argument| argument.needs).filter_map(|need| match need {
            Need::Argument(names) => Some(*names),
            Need::Condition { .. } => None,
        });
        for name in names.flatten() {
            assert!(all().any(|argument| argument.long[0] == *name), "--{name}");
        }
    }
}
