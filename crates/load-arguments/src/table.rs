//! All arguments: their names, their help, what they do, their defaults and their needs.

use super::draft::Draft;
use super::groups::{amount, commands, connections, keys, listeners, other, output, server, values};
use super::needs::Need;

/// Puts a value into the draft, or returns what is wrong with it.
pub(super) type Take = fn(&mut Draft, &str) -> Result<(), String>;

/// One argument.
pub(super) struct Argument {
    /// Names without dashes; the first is the one in messages.
    pub(super) long: &'static [&'static str],
    pub(super) short: &'static [char],
    pub(super) action: Action,
    pub(super) help: &'static str,
    /// The value where none is given, which is read in the same way and ends the help.
    pub(super) default: Option<&'static str>,
    /// Conditions under which it has an effect; the first that is not met is the reason in a warning.
    pub(super) needs: &'static [Need],
    pub(super) origin: Origin,
    /// Whether its value stays out of messages.
    pub(super) is_secret: bool,
}

/// What an argument does.
#[derive(Clone, Copy)]
pub(super) enum Action {
    /// Turns something on.
    Switch(fn(&mut Draft)),
    /// Takes a value, called so in the help.
    Value { called: &'static str, take: Take },
    /// Prints a text and ends.
    Print(fn() -> String),
    /// Only `memtier_benchmark` has it; the help is what to use instead.
    Refuse,
}

/// The program that an argument comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Memtier,
    Own,
}

/// Arguments under one heading of the help.
pub(super) struct Section {
    pub(super) title: &'static str,
    pub(super) arguments: &'static [Argument],
}

/// The headings of the help, in its order.
pub(super) static SECTIONS: [Section; 9] = [
    Section { title: "Server", arguments: server::ARGUMENTS },
    Section { title: "Connections", arguments: connections::ARGUMENTS },
    Section { title: "Amount and pace", arguments: amount::ARGUMENTS },
    Section { title: "Commands", arguments: commands::ARGUMENTS },
    Section { title: "Keys", arguments: keys::ARGUMENTS },
    Section { title: "Values", arguments: values::ARGUMENTS },
    Section { title: "Listeners", arguments: listeners::ARGUMENTS },
    Section { title: "Output", arguments: output::ARGUMENTS },
    Section { title: "Other", arguments: other::ARGUMENTS },
];

/// All supported arguments, then the refused ones.
pub(super) fn all() -> impl Iterator<Item = &'static Argument> {
    SECTIONS.iter().flat_map(|section| section.arguments).chain(other::REFUSED)
}

/// Arguments that are known only to be refused.
pub(super) fn refused() -> &'static [Argument] {
    other::REFUSED
}

impl Argument {
    pub(super) const fn value(
        long: &'static [&'static str],
        short: &'static [char],
        called: &'static str,
        help: &'static str,
        take: Take,
    ) -> Self {
        Self::new(long, short, Action::Value { called, take }, help)
    }

    pub(super) const fn switch(
        long: &'static [&'static str],
        short: &'static [char],
        help: &'static str,
        turn_on: fn(&mut Draft),
    ) -> Self {
        Self::new(long, short, Action::Switch(turn_on), help)
    }

    pub(super) const fn print(
        long: &'static [&'static str],
        short: &'static [char],
        help: &'static str,
        text: fn() -> String,
    ) -> Self {
        Self::new(long, short, Action::Print(text), help)
    }

    pub(super) const fn refuse(long: &'static [&'static str], instead: &'static str) -> Self {
        Self::new(long, &[], Action::Refuse, instead)
    }

    const fn new(long: &'static [&'static str], short: &'static [char], action: Action, help: &'static str) -> Self {
        Self { long, short, action, help, default: None, needs: &[], origin: Origin::Memtier, is_secret: false }
    }

    /// The same, with this value where none is given.
    pub(super) const fn default(self, value: &'static str) -> Self {
        Self { default: Some(value), ..self }
    }

    /// The same, with an effect only where all of these are met.
    pub(super) const fn needs(self, needs: &'static [Need]) -> Self {
        Self { needs, ..self }
    }

    /// The same, but not known to memtier.
    pub(super) const fn own(self) -> Self {
        Self { origin: Origin::Own, ..self }
    }

    /// The same, with a value that stays out of messages.
    pub(super) const fn secret(self) -> Self {
        Self { is_secret: true, ..self }
    }
}

/// The value of an argument with a default: it is there before any argument is read.
#[derive(Debug)]
pub(super) struct Preset<T>(Option<T>);

impl<T> Preset<T> {
    pub(super) fn get(&self) -> &T {
        self.0.as_ref().expect("its argument has a default")
    }

    pub(super) fn set_if_some(&mut self, value: Option<T>) {
        if value.is_some() {
            self.0 = value;
        }
    }
}

impl<T> Default for Preset<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// A place for the value of an argument.
pub(super) trait Field {
    type Value;
    fn set(&mut self, value: Self::Value);
}

impl<T> Field for Option<T> {
    type Value = T;

    fn set(&mut self, value: T) {
        *self = Some(value);
    }
}

impl<T> Field for Preset<T> {
    type Value = T;

    fn set(&mut self, value: T) {
        self.0 = Some(value);
    }
}

/// Takes a value into a field.
pub(super) fn put<F: Field>(field: &mut F, value: Result<F::Value, String>) -> Result<(), String> {
    field.set(value?);
    Ok(())
}
