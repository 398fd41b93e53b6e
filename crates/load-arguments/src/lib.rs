//! The command line: that of `memtier_benchmark`, with some arguments more, read and explained by one table.
//!
//! Names, letters and the way they are read follow GNU `getopt_long`: arguments come in any order, long names may be
//! cut short while they are clear, the last value given is the one that counts, and `--` ends the arguments. What is
//! given without effect is reported in [`ReportSettings::warnings`]; contradictions are errors.

mod description;
mod draft;
mod error;
mod groups;
mod help;
mod names;
mod needs;
mod numbers;
#[cfg(test)]
mod properties;
mod table;
mod warnings;

use std::ffi::{OsStr, OsString};

use lexopt::{Arg, Parser};

pub use description::{Description, describe};
pub use error::UsageError;
pub use groups::recordings::recorded_lines;

use draft::Draft;
use table::{Action, Argument};
use zerolap_load_output::ReportSettings;
use zerolap_load_requests::{Amount, Plan, Settings};

/// What the command line asks for.
#[derive(Debug)]
pub enum Invocation {
    /// To print this text.
    Print(String),
    /// To send requests.
    Run(Box<Arguments>),
}

/// A run.
#[derive(Debug)]
pub struct Arguments {
    /// What to send, where to, and how.
    pub settings: Settings,
    /// How much.
    pub mode: Mode,
    /// What is written down.
    pub report: ReportSettings,
}

/// Where the amount of work comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The command line.
    Once(Plan),
    /// Another program, over standard input.
    Control,
}

impl Mode {
    /// Whether the keys determine how much is sent.
    fn is_all_keys(self) -> bool {
        matches!(self, Self::Once(plan) if plan.work.amount == Amount::AllKeys)
    }
}

/// Reads a command line, without the program's name.
///
/// # Errors
/// When it asks for something that is not known, not possible, or contradicts itself.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Invocation, UsageError> {
    read(arguments, |_, _| ())
}

/// Reads a command line, and calls `note` with each argument that acts and its value.
fn read(
    arguments: impl IntoIterator<Item = OsString>,
    mut note: impl FnMut(&Argument, Option<&str>),
) -> Result<Invocation, UsageError> {
    let mut parser = Parser::from_args(arguments);
    // As with getopt_long: the value of `-n=5` is `=5`.
    parser.set_short_equals(false);
    let mut draft = Draft::default();
    for argument in table::all() {
        if let (Action::Value { take, .. }, Some(value)) = (argument.action, argument.default) {
            take_value(argument, take, &mut draft, OsStr::new(value))?;
        }
    }
    while let Some(given) = parser.next()? {
        let argument = match given {
            Arg::Long(name) => names::by_name(name)?,
            Arg::Short(letter) => names::by_letter(letter)?,
            Arg::Value(word) => {
                draft.warnings.push(format!("{:?} belongs to no argument and is ignored", word.to_string_lossy()));
                continue;
            }
        };
        match argument.action {
            Action::Switch(turn_on) => {
                turn_on(&mut draft);
                draft.given.push(argument.long[0]);
                note(argument, None);
            }
            Action::Value { take, .. } => {
                let value = parser.value()?;
                take_value(argument, take, &mut draft, &value)?;
                draft.given.push(argument.long[0]);
                note(argument, value.to_str());
            }
            Action::Print(text) => return Ok(Invocation::Print(text())),
            Action::Refuse => {
                return Err(UsageError::OnlyMemtier { name: argument.long[0], instead: argument.help });
            }
        }
    }
    draft.finish().map(|arguments| Invocation::Run(Box::new(arguments)))
}

fn take_value(argument: &Argument, take: table::Take, draft: &mut Draft, value: &OsStr) -> Result<(), UsageError> {
    let bad_value = |reason| {
        let shown = if argument.is_secret { "(not shown)".into() } else { value.to_string_lossy() };
        UsageError::BadValue { name: argument.long[0], value: shown.into_owned(), reason }
    };
    let text = value.to_str().ok_or_else(|| bad_value("not UTF-8".to_owned()))?;
    take(draft, text).map_err(bad_value)
}
