//! All arguments: their names, their help and what they do.

use super::draft::Draft;
use super::groups::{amount, commands, connections, keys, listeners, other, output, server, values};

/// Puts a value into the draft, or returns what is wrong with it.
pub(super) type Take = fn(&mut Draft, &str) -> Result<(), String>;

/// One argument.
pub(super) struct Argument {
    /// Names without dashes; the first is the one in messages.
    pub(super) long: &'static [&'static str],
    pub(super) short: &'static [char],
    pub(super) action: Action,
    pub(super) help: &'static str,
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
        Self { long, short, action: Action::Value { called, take }, help, origin: Origin::Memtier, is_secret: false }
    }

    pub(super) const fn switch(
        long: &'static [&'static str],
        short: &'static [char],
        help: &'static str,
        turn_on: fn(&mut Draft),
    ) -> Self {
        Self { long, short, action: Action::Switch(turn_on), help, origin: Origin::Memtier, is_secret: false }
    }

    pub(super) const fn print(
        long: &'static [&'static str],
        short: &'static [char],
        help: &'static str,
        text: fn() -> String,
    ) -> Self {
        Self { long, short, action: Action::Print(text), help, origin: Origin::Memtier, is_secret: false }
    }

    pub(super) const fn refuse(long: &'static [&'static str], instead: &'static str) -> Self {
        Self { long, short: &[], action: Action::Refuse, help: instead, origin: Origin::Memtier, is_secret: false }
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

/// Takes a value into a field that may be absent.
pub(super) fn put<T>(field: &mut Option<T>, value: Result<T, String>) -> Result<(), String> {
    *field = Some(value?);
    Ok(())
}
