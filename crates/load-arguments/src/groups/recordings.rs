//! Commands that were recorded by MONITOR.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use zerolap_load_requests::{
    Command, Recorded, RecordedText, Recording, RecordingOrder, Server, Source, waits_without_limit,
};
use zerolap_resp::{Template, split_words};

use super::commands::CommandDraft;
use crate::UsageError;
use crate::table::Preset;
use crate::warnings::Warnings;

const PREFIX: &str = "__monitor_line";
const ANY: &str = "__monitor_line@__";
/// What stands in the place of lines that are not drawn yet.
const NOT_DRAWN: &str = "PING";
/// Each name has its own figures; a file with more of them is no output of MONITOR.
const MOST_NAMES: usize = 1000;
/// Databases that a warning names.
const MOST_SHOWN: usize = 8;
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
    recorded: Vec<RecordedText>,
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
        let (recorded, numbers) = read(path, warnings)?;
        for command in placeholders {
            let line = command.line.trim();
            let number = line.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix("__"));
            if line == ANY {
                NOT_DRAWN.clone_into(&mut command.line);
                continue;
            }
            let index = number.and_then(|text| text.parse::<usize>().ok()?.checked_sub(1));
            let Some(recorded) = index.and_then(|index| recorded.get(index)) else {
                let reason = format!("expected {ANY}, or {PREFIX}1__ to {PREFIX}{}__", recorded.len());
                return Err(no_such_line(command, reason));
            };
            command.line.clone_from(&recorded.text);
            command.database = recorded.database;
        }
        Ok(Some(Lines { path: path.clone(), recorded, numbers, places, order: *self.order.get() }))
    }
}

impl Lines {
    /// Makes the commands that stand for any line send them all. The replies to each name are counted apart: those to
    /// the first one with the command itself, those to others with commands that are never sent in a turn of their own.
    pub(crate) fn apply(
        self,
        commands: &mut Vec<Command>,
        key_prefix: &str,
        warnings: &mut Warnings,
    ) -> Result<(), UsageError> {
        if self.places.is_empty() {
            return Ok(());
        }
        let wrong = |(index, error)| wrong_line(&self.path, self.numbers[index], error);
        let recording = Arc::new(Recording::new(&self.recorded, key_prefix).map_err(wrong)?);
        if recording.length() == 0 {
            return Err(wrong_file(&self.path, "it holds only parts of transactions".to_owned()));
        }
        self.warn(&recording, warnings);
        if recording.names().len() > MOST_NAMES {
            let reason = format!("it has more than {MOST_NAMES} different commands, so it is no output of MONITOR");
            return Err(wrong_file(&self.path, reason));
        }
        for place in self.places {
            let mut slots = Vec::new();
            for (name, first) in recording.names() {
                let line = format!("{ANY} {name}");
                let template = Template::compile(self.recorded[*first].text.as_bytes(), key_prefix.as_bytes());
                let template = template.map_err(|error| wrong_line(&self.path, self.numbers[*first], error))?;
                if slots.is_empty() {
                    (commands[place].line, commands[place].template) = (line, template);
                    slots.push(place);
                    continue;
                }
                slots.push(commands.len());
                commands.push(Command { line, template, ratio: 0, ..commands[place].clone() });
            }
            let recording = Arc::clone(&recording);
            commands[place].source = Source::Recorded(Recorded { recording, order: self.order, slots });
        }
        Ok(())
    }

    /// Warns of what is not sent, and of what may wait for ever.
    fn warn(&self, recording: &Recording, warnings: &mut Warnings) {
        if recording.left_out() > 0 {
            warnings.push(format!(
                "--monitor-input: {} of its commands (WATCH, MULTI, EXEC or DISCARD) are left out: their transactions are \
                 not recorded from beginning to end",
                recording.left_out()
            ));
        }
        let waits =
            |line: &RecordedText| split_words(line.text.as_bytes()).is_ok_and(|words| waits_without_limit(&words));
        if let Some(first) = self.recorded.iter().position(waits) {
            let count = self.recorded.iter().filter(|line| waits(line)).count();
            warnings.push(format!(
                "--monitor-input: {count} of its commands block without a time limit, the first in line {}; each waits for \
                 up to --reply-timeout until another client writes",
                self.numbers[first]
            ));
        }
    }
}

/// Settles in which databases requests are sent: recorded ones where they were recorded, unless `is_given` one for all.
/// Returns the largest number of them if there are several.
pub(crate) fn settle_databases(
    server: &mut Server,
    commands: &[Command],
    is_given: bool,
    warnings: &mut Warnings,
) -> Result<Option<u32>, UsageError> {
    let mut recorded = BTreeSet::new();
    let (mut has_others, mut has_selects) = (false, false);
    for command in commands.iter().filter(|command| command.ratio > 0) {
        recorded.extend(command.database);
        if let Source::Recorded(Recorded { recording, .. }) = &command.source {
            recorded.extend(recording.databases());
            has_selects |= recording.has_selects();
        } else {
            has_others |= command.database.is_none();
        }
        if server.is_cluster && command.database.is_some_and(|database| database > 0) {
            let reason = "it was recorded in another database than 0, and a cluster has no other".to_owned();
            return Err(UsageError::BadValue { name: "command", value: command.line.clone(), reason });
        }
    }
    let is_elsewhere = recorded.iter().any(|database| *database != server.database);
    if is_given && (is_elsewhere || has_selects) {
        let recorded: Vec<String> = recorded.iter().take(MOST_SHOWN).map(u32::to_string).collect();
        warnings.push(format!(
            "--monitor-input: commands were recorded in the databases {}{}, and are sent in database {}, but for those \
             that follow a recorded SELECT: leave out --select-db to send each in its own",
            recorded.join(", "),
            if recorded.len() < MOST_SHOWN { "" } else { ", ..." },
            server.database
        ));
    }
    if is_given || recorded.is_empty() || !(is_elsewhere || has_selects) {
        return Ok(None);
    }
    if has_others {
        recorded.insert(server.database);
    }
    match (recorded.last(), recorded.len()) {
        (Some(only), 1) if !has_selects => {
            server.database = *only;
            Ok(None)
        }
        _ if server.replica_reads => Err(UsageError::Conflict(
            "--replica-reads excludes a recording of several databases: give --select-db to send all in one",
        )),
        (largest, _) => Ok(largest.copied()),
    }
}

/// The commands in a file, and the numbers of their lines. As with memtier, one begins at the first quote of its line,
/// and a line without any is left out: the server's OK is one.
fn read(path: &str, warnings: &mut Warnings) -> Result<(Vec<RecordedText>, Vec<usize>), UsageError> {
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
pub fn recorded_lines(bytes: &[u8]) -> Result<Vec<RecordedText>, UsageError> {
    lines(bytes, "a recording", &mut Warnings::default()).map(|(recorded, _)| recorded)
}

fn lines(bytes: &[u8], path: &str, warnings: &mut Warnings) -> Result<(Vec<RecordedText>, Vec<usize>), UsageError> {
    let (mut recorded, mut numbers, mut scripted) = (Vec::new(), Vec::new(), 0_u64);
    let mut clients: HashMap<&[u8], usize> = HashMap::new();
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let Some(start) = line.iter().position(|&byte| byte == b'"') else { continue };
        let (origin, command) = line.split_at(start);
        let text = std::str::from_utf8(command).map_err(|error| wrong_line(path, index + 1, error))?.trim_end();
        Template::compile(text.as_bytes(), b"").map_err(|error| wrong_line(path, index + 1, error))?;
        let (database, client) = origin_of(origin);
        scripted += u64::from(client == b"lua");
        let next_client = clients.len();
        let client = *clients.entry(client).or_insert(next_client);
        recorded.push(RecordedText { text: text.to_owned(), database, client });
        numbers.push(index + 1);
    }
    if recorded.is_empty() {
        return Err(wrong_file(path, "no line of it holds a command in quotes".to_owned()));
    }
    if scripted > 0 {
        warnings.push(format!(
            "--monitor-input: {scripted} of its commands were sent by scripts (lua); they are taken as any others, as with \
             memtier_benchmark, beside the calls of the scripts"
        ));
    }
    Ok((recorded, numbers))
}

/// The number of the database and the client in what stands before a command, such as `1634567890.123456 [3 [::1]:5000] `
/// or `1634567890.123456 [0 unix:/run/redis.sock] `; a line may lack them.
fn origin_of(before: &[u8]) -> (Option<u32>, &[u8]) {
    let opening = |(at, byte): (usize, &u8)| {
        let digits = before[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let end = at + 1 + digits;
        let is_origin = *byte == b'[' && digits > 0 && before.get(end) == Some(&b' ');
        is_origin.then_some((at + 1, end))
    };
    let Some((start, end)) = before.iter().enumerate().find_map(opening) else { return (None, b"") };
    let database = std::str::from_utf8(&before[start..end]).ok().and_then(|digits| digits.parse().ok());
    let client = before[end + 1..].trim_ascii_end();
    (database, client.strip_suffix(b"]").unwrap_or(client))
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

#[cfg(test)]
mod tests {
    use super::origin_of;

    #[test]
    fn database_and_client_are_read_whatever_kind_of_client_it_is() {
        let origins: [(&str, Option<u32>, &str); 9] = [
            ("1634567890.123456 [0 127.0.0.1:5000] ", Some(0), "127.0.0.1:5000"),
            ("1634567890.123456 [15 [::1]:5000] ", Some(15), "[::1]:5000"),
            ("1634567890.123456 [3 unix:/run/x [1] y/r.sock] ", Some(3), "unix:/run/x [1] y/r.sock"),
            ("[ proxy49 ] 1764031576.604009 [2 lua] ", Some(2), "lua"),
            ("+1634567890.123456 [7 ?:0] ", Some(7), "?:0"),
            ("1.0 [99999999999999999999 a:1] ", None, "a:1"),
            ("1.0 [0 a] [1 b] ", Some(0), "a] [1 b"),
            ("", None, ""),
            ("[12", None, ""),
        ];
        for (text, database, client) in origins {
            assert_eq!(origin_of(text.as_bytes()), (database, client.as_bytes()), "{text}");
        }
    }
}
