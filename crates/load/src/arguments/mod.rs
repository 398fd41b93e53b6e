//! The command line: memtier's names where it has them, read and explained by one table.

mod draft;
mod error;
mod help;
mod table;
mod values;

use std::ffi::OsString;

use lexopt::{Arg, Parser};

pub use error::UsageError;

use crate::{Plan, ReportSettings, Settings};
use draft::Draft;
use table::{ARGUMENTS, Argument};

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

/// Who says how much to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The command line.
    Once(Plan),
    /// Another program, over standard input.
    Control,
}

/// Reads a command line, without the program's name.
///
/// # Errors
/// When it asks for something that is not known, not possible, or contradicts itself.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Invocation, UsageError> {
    let mut parser = Parser::from_args(arguments);
    let mut draft = Draft::default();
    while let Some(given) = parser.next()? {
        let argument = match given {
            Arg::Long("help") => return Ok(Invocation::Print(help::text())),
            Arg::Short('v') | Arg::Long("version") => return Ok(Invocation::Print(help::version())),
            Arg::Long(name) => find(|argument| argument.long.contains(&name), || format!("--{name}"))?,
            Arg::Short(letter) => find(|argument| argument.short.contains(&letter), || format!("-{letter}"))?,
            Arg::Value(value) => return Err(UsageError::Stray(value.to_string_lossy().into_owned())),
        };
        let value = if argument.value.is_some() { parser.value()? } else { OsString::new() };
        let bad_value =
            |value: &str, reason| UsageError::BadValue { name: argument.long[0], value: value.to_owned(), reason };
        let text = value.to_str().ok_or_else(|| bad_value(&value.to_string_lossy(), "not UTF-8".to_owned()))?;
        (argument.apply)(&mut draft, text).map_err(|reason| bad_value(text, reason))?;
    }
    draft.finish().map(|arguments| Invocation::Run(Box::new(arguments)))
}

fn find(is_it: impl Fn(&Argument) -> bool, name: impl Fn() -> String) -> Result<&'static Argument, UsageError> {
    ARGUMENTS.iter().find(|argument| is_it(argument)).ok_or_else(|| UsageError::Unknown(name()))
}
