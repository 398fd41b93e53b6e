//! Commands that were recorded by MONITOR.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use zerolap_load_requests::{Command, Recorded, Recording, RecordingOrder, Source};
use zerolap_resp::Template;

use super::commands::CommandDraft;
use crate::UsageError;
use crate::table::Preset;
use crate::warnings::Warnings;

const PREFIX: &str = "__monitor_line";
const ANY: &str = "__monitor_line@__";
/// Each name has its own figures; a file with more of them is no output of MONITOR.
const MOST_NAMES: usize = 1000;
const MOST_BYTES: u64 = 1 << 30;

#[derive(Debug, Default)]
pub(crate) struct MonitorDraft {
    pub(crate) input: Option<String>,
    pub(crate) order: Preset<RecordingOrder>,
}

/// The lines of a file that hold commands.
#[derive(Debug)]
pub(crate) struct Lines {
    path: String,
    /// From the first quote on.
    texts: Vec<String>,
    /// Where in the file they stand, from 1.
    numbers: Vec<usize>,
    /// Indexes of the commands that stand for any line.
    places: Vec<usize>,
    order: RecordingOrder,
}

impl MonitorDraft {
    /// Puts recorded lines in the places of those that stand for them: a numbered one for good, any other for a while.
    pub(crate) fn expand(
        &self,
        given: &mut [CommandDraft],
        warnings: &mut Warnings,
    ) -> Result<Option<Lines>, UsageError> {
        let any = |(index, command): (usize, &CommandDraft)| (command.line.trim() == ANY).then_some(index);
        let places: Vec<usize> = given.iter().enumerate().filter_map(any).collect();
        let mut placeholders = given.iter_mut().filter(|command| command.line.trim().starts_with(PREFIX)).peekable();
        let Some(path) = &self.input else {
            let Some(command) = placeholders.next() else { return Ok(None) };
            return Err(no_such_line(command, "--monitor-input is not given".to_owned()));
        };
        let reason = format!("no --command is {PREFIX}N__ or {ANY}");
        warnings.without_effect(placeholders.peek().is_none(), "--monitor-input", &reason);
        let (texts, numbers) = read(path, warnings)?;
        for command in placeholders {
            let line = command.line.trim();
            let number = line.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix("__"));
            let index =
                if line == ANY { Some(0) } else { number.and_then(|text| text.parse::<usize>().ok()?.checked_sub(1)) };
            let Some(text) = index.and_then(|index| texts.get(index)) else {
                let reason = format!("expected {ANY}, or {PREFIX}1__ to {PREFIX}{}__", texts.len());
                return Err(no_such_line(command, reason));
            };
            command.line.clone_from(text);
        }
        Ok(Some(Lines { path: path.clone(), texts, numbers, places, order: *self.order.get() }))
    }
}

impl Lines {
    /// Makes the commands that stand for any line send them all. The replies to each name are counted apart: those to
    /// the first one with the command itself, those to others with commands that are never sent in a turn of their own.
    pub(crate) fn apply(self, commands: &mut Vec<Command>, key_prefix: &str) -> Result<(), UsageError> {
        if self.places.is_empty() {
            return Ok(());
        }
        let wrong = |(index, error)| wrong_line(&self.path, self.numbers[index], error);
        let recording = Arc::new(Recording::new(&self.texts, key_prefix).map_err(wrong)?);
        if recording.names().len() > MOST_NAMES {
            let reason = format!("it has more than {MOST_NAMES} different commands, so it is no output of MONITOR");
            return Err(wrong_file(&self.path, reason));
        }
        for place in self.places {
            let mut slots = Vec::new();
            for (name, first) in recording.names() {
                let line = format!("{ANY} {name}");
                if slots.is_empty() {
                    commands[place].line = line;
                    slots.push(place);
                    continue;
                }
                let template = Template::compile(self.texts[*first].as_bytes(), key_prefix.as_bytes());
                let template = template.map_err(|error| wrong_line(&self.path, self.numbers[*first], error))?;
                slots.push(commands.len());
                commands.push(Command { line, template, ratio: 0, ..commands[place].clone() });
            }
            let recording = Arc::clone(&recording);
            commands[place].source = Source::Recorded(Recorded { recording, order: self.order, slots });
        }
        Ok(())
    }
}

/// The commands in a file, and the numbers of their lines. As with memtier, one begins at the first quote of its line,
/// and a line without any is left out: the server's OK is one.
fn read(path: &str, warnings: &mut Warnings) -> Result<(Vec<String>, Vec<usize>), UsageError> {
    let bytes = read_regular(Path::new(path)).map_err(|error| wrong_file(path, error.to_string()))?;
    lines(&bytes, path, warnings)
}

/// The content of a regular file; a pipe would be waited for, and a device read without end.
fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let status = fs::metadata(path)?;
    if !status.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let too_large = || io::Error::other(format!("it is larger than {} MiB", MOST_BYTES >> 20));
    if status.len() > MOST_BYTES {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES { Err(too_large()) } else { Ok(bytes) }
}

/// The commands in a recording, without a file.
///
/// # Errors
/// When they are none.
pub fn recorded_lines(bytes: &[u8]) -> Result<Vec<String>, UsageError> {
    lines(bytes, "a recording", &mut Warnings::default()).map(|(texts, _)| texts)
}

fn lines(bytes: &[u8], path: &str, warnings: &mut Warnings) -> Result<(Vec<String>, Vec<usize>), UsageError> {
    let (mut texts, mut numbers, mut scripted) = (Vec::new(), Vec::new(), 0_u64);
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let Some(start) = line.iter().position(|&byte| byte == b'"') else { continue };
        let (origin, command) = line.split_at(start);
        let text = std::str::from_utf8(command).map_err(|error| wrong_line(path, index + 1, error))?.trim_end();
        Template::compile(text.as_bytes(), b"").map_err(|error| wrong_line(path, index + 1, error))?;
        scripted += u64::from(origin.ends_with(b" lua] "));
        texts.push(text.to_owned());
        numbers.push(index + 1);
    }
    if texts.is_empty() {
        return Err(wrong_file(path, "no line of it holds a command in quotes".to_owned()));
    }
    if scripted > 0 {
        warnings.push(format!(
            "--monitor-input: {scripted} of its commands were sent by scripts (lua); they are taken as any others, as with \
             memtier_benchmark, beside the calls of the scripts"
        ));
    }
    Ok((texts, numbers))
}

fn wrong_file(path: &str, reason: String) -> UsageError {
    UsageError::BadValue { name: "monitor-input", value: path.to_owned(), reason }
}

fn wrong_line(path: &str, number: usize, error: impl std::fmt::Display) -> UsageError {
    wrong_file(path, format!("line {number}: {error}"))
}

fn no_such_line(command: &CommandDraft, reason: String) -> UsageError {
    UsageError::BadValue { name: "command", value: command.line.clone(), reason }
}
