//! Commands that were recorded, to be sent again.

mod units;

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use thiserror::Error;
use zerolap_resp::{Template, TemplateError, split_words, write_request};

pub use units::TransactionStep;

use crate::one_reply::why_not_among_others;
use units::units;

/// What makes a word more than itself.
const PLACEHOLDERS: [&[u8]; 2] = [b"__key__", b"__data__"];

/// A line of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedText {
    /// The command in quotes.
    pub text: String,
    /// The database that it was sent in, as far as the line names one.
    pub database: Option<u32>,
    /// Number of the client that sent it.
    pub client: usize,
}

/// Why a line cannot be sent again.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RecordingError {
    /// It is no command.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// It cannot be one of many requests on a connection.
    #[error("{command} cannot be replayed: {reason}; remove such lines")]
    NotAmongOthers {
        /// The command's name.
        command: String,
        /// Why.
        reason: &'static str,
    },
}

/// Recorded commands, ready to be sent.
#[derive(Debug)]
pub struct Recording {
    /// Requests without holes, one after the other.
    bytes: Vec<u8>,
    /// In the order in which they are sent.
    lines: Vec<RecordedLine>,
    /// Indexes of the lines with which a unit begins, which is sent on one connection: a transaction, or one command.
    starts: Vec<usize>,
    /// Lines that are not sent, as they belong to transactions that are not recorded from beginning to end.
    left_out: usize,
    /// Names of commands in upper case, in the order they are sent, each with the index of a line as it was given.
    names: Vec<(String, usize)>,
    draws_keys: bool,
    draws_values: bool,
}

/// One recorded command.
#[derive(Debug)]
pub(super) struct RecordedLine {
    /// Index of its name.
    pub(super) name: usize,
    pub(super) request: RecordedRequest,
    /// The database in which it must be sent; none where that is any, or that of the line before it.
    pub(super) database: Option<u32>,
    /// Whether the connection may be in another database afterwards.
    pub(super) selects: bool,
}

#[derive(Debug)]
pub(super) enum RecordedRequest {
    /// These bytes of the recording.
    Plain(Range<usize>),
    /// Somebody put placeholders in the recording.
    Drawn(Box<Template>),
}

/// In which order recorded commands are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RecordingOrder {
    /// One after the other over all connections, and from the first again after the last.
    #[default]
    Sequential,
    /// Any, all alike, on each connection.
    Random,
}

impl Recording {
    /// Makes requests of recorded lines, without their times. Those of a transaction follow each other.
    ///
    /// # Errors
    /// When a line is no command, or none that can be sent again; with its index.
    pub fn new(recorded: &[RecordedText], key_prefix: &str) -> Result<Self, (usize, RecordingError)> {
        let mut steps = Vec::with_capacity(recorded.len());
        for (index, line) in recorded.iter().enumerate() {
            steps.push((line.client, step(&line.text).map_err(|error| (index, error))?));
        }
        let (units, left_out) = units(steps.into_iter());
        let (bytes, lines, names) = (Vec::new(), Vec::with_capacity(recorded.len()), Vec::new());
        let starts = Vec::with_capacity(units.len());
        let mut recording = Self { bytes, lines, starts, left_out, names, draws_keys: false, draws_values: false };
        let mut known = HashMap::new();
        for unit in units {
            recording.starts.push(recording.lines.len());
            for (place, &index) in unit.iter().enumerate() {
                let failed = |error: TemplateError| (index, error.into());
                recording.add(&recorded[index], index, key_prefix.as_bytes(), &mut known).map_err(failed)?;
                if let Some(line) = recording.lines.last_mut().filter(|_| place > 0) {
                    // Within a transaction nothing may be sent but what was recorded.
                    line.database = None;
                }
            }
        }
        Ok(recording)
    }

    /// Adds the line with this index; `known` has the indexes of names.
    fn add(
        &mut self,
        recorded: &RecordedText,
        index: usize,
        key_prefix: &[u8],
        known: &mut HashMap<String, usize>,
    ) -> Result<(), TemplateError> {
        let text = recorded.text.as_bytes();
        let words = split_words(text)?;
        let command = String::from_utf8_lossy(words.first().ok_or(TemplateError::Empty)?).to_uppercase();
        // MONITOR writes the database that it leads to.
        let selects = command == "SELECT";
        let database = recorded.database.filter(|_| !selects);
        let request = if words.iter().any(|word| may_be_drawn(word)) {
            let template = Template::compile(text, key_prefix)?;
            self.draws_keys |= template.key_count() > 0;
            self.draws_values |= template.data_count() > 0;
            RecordedRequest::Drawn(Box::new(template))
        } else {
            let start = self.bytes.len();
            let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
            write_request(&words, &mut self.bytes);
            RecordedRequest::Plain(start..self.bytes.len())
        };
        let name = *known.entry(command).or_insert_with_key(|command| {
            self.names.push((command.clone(), index));
            self.names.len() - 1
        });
        self.lines.push(RecordedLine { name, request, database, selects });
        Ok(())
    }

    /// How many commands are not sent, as they belong to transactions that are not recorded from beginning to end.
    #[must_use]
    pub const fn left_out(&self) -> usize {
        self.left_out
    }

    /// The databases in which they have to be sent.
    #[must_use]
    pub fn databases(&self) -> BTreeSet<u32> {
        self.lines.iter().filter_map(|line| line.database).collect()
    }

    /// Whether any of them is a `SELECT`.
    #[must_use]
    pub fn has_selects(&self) -> bool {
        self.lines.iter().any(|line| line.selects)
    }

    /// How many commands there are.
    #[must_use]
    pub const fn length(&self) -> usize {
        self.lines.len()
    }

    /// Names of commands in upper case, in the order they are sent, each with the index of a line as it was given.
    #[must_use]
    pub fn names(&self) -> &[(String, usize)] {
        &self.names
    }

    /// Whether any line has `__key__`.
    #[must_use]
    pub const fn draws_keys(&self) -> bool {
        self.draws_keys
    }

    /// Whether any line has `__data__`.
    #[must_use]
    pub const fn draws_values(&self) -> bool {
        self.draws_values
    }

    /// How many units there are.
    pub(super) const fn units(&self) -> u64 {
        self.starts.len() as u64
    }

    /// Indexes of the lines of the unit at this place; after the last comes the first.
    pub(super) fn unit(&self, place: u64) -> Range<usize> {
        let place = usize::try_from(place % self.units().max(1)).unwrap_or(0);
        let start = self.starts.get(place).copied().unwrap_or_default();
        start..self.starts.get(place + 1).copied().unwrap_or(self.lines.len())
    }

    pub(super) fn line(&self, index: usize) -> &RecordedLine {
        &self.lines[index]
    }

    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.bytes[range]
    }
}

/// What a line does to the transaction of its connection, if it can be sent again.
fn step(text: &str) -> Result<TransactionStep, RecordingError> {
    let words = split_words(text.as_bytes()).map_err(TemplateError::from)?;
    let command = String::from_utf8_lossy(words.first().ok_or(TemplateError::Empty)?).to_uppercase();
    let Some(reason) = why_not_among_others(&words) else { return Ok(TransactionStep::of(&command)) };
    // What follows a CLIENT is a part of its name.
    let rest =
        words.iter().skip(1).filter(|_| command == "CLIENT").map(|word| String::from_utf8_lossy(word).to_uppercase());
    let command = [command.clone()].into_iter().chain(rest).collect::<Vec<_>>().join(" ");
    Err(RecordingError::NotAmongOthers { command, reason })
}

fn may_be_drawn(word: &[u8]) -> bool {
    let holds = |placeholder: &&[u8]| word.windows(placeholder.len()).any(|window| window == *placeholder);
    PLACEHOLDERS.iter().any(holds)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use zerolap_resp::write_request;

    use super::{RecordedRequest, RecordedText, Recording, RecordingError};

    /// A recording of lines, each of another client.
    fn recording(lines: &[&str]) -> Result<Recording, (usize, RecordingError)> {
        let line = |(client, text): (usize, &&str)| RecordedText { text: (*text).to_owned(), database: None, client };
        Recording::new(&lines.iter().enumerate().map(line).collect::<Vec<_>>(), "p")
    }

    /// The databases of all lines, and whether they change it.
    fn databases(lines: &[(&str, u32)]) -> Vec<(Option<u32>, bool)> {
        let line = |(text, database): &(&str, u32)| RecordedText {
            text: (*text).to_owned(),
            database: Some(*database),
            client: 0,
        };
        let recording = Recording::new(&lines.iter().map(line).collect::<Vec<_>>(), "p").expect("a recording");
        (0..recording.length()).map(|index| recording.line(index)).map(|line| (line.database, line.selects)).collect()
    }

    #[test]
    fn names_come_once_whatever_their_case() {
        let names: Vec<(String, usize)> =
            [("SET", 0), ("GET", 1), ("EVAL", 4)].map(|(name, at)| (name.into(), at)).into();
        let lines = [r#""set" "a" "b""#, r#""GET" "a""#, r#""SET" "__key__" "b""#, r#""get" "c""#, r#""eval" "x" "0""#];
        let recording = recording(&lines).expect("lines in order");
        assert_eq!(recording.names(), names);
        assert_eq!((recording.length(), recording.draws_keys(), recording.draws_values()), (5, true, false));
        assert_eq!((recording.units(), recording.unit(3), recording.unit(8)), (5, 3..4, 3..4));
    }

    #[test]
    fn databases_are_changed_before_transactions_and_not_within_them() {
        let lines = [("GET a", 3), ("SELECT 4", 4), ("MULTI", 4), ("SELECT 5", 5), ("SET a 1", 5), ("EXEC", 5)];
        let expected = [(Some(3), false), (None, true), (Some(4), false), (None, true), (None, false), (None, false)];
        assert_eq!(databases(&lines), expected);
    }

    #[test]
    fn the_line_that_cannot_be_sent_is_named() {
        let index = |lines: &[&str]| recording(lines).expect_err("a line that cannot be sent").0;
        assert_eq!(index(&[r#""GET" "a""#, r#""GET" "b"#]), 1, "an open quote");
        assert_eq!(index(&[r#""SET" "a" "x__data__""#]), 0, "a part of an argument");
        let (index, error) = recording(&[r#""GET" "a""#, r#""subscribe" "a" "b""#]).expect_err("several replies");
        assert!(index == 1 && error.to_string().starts_with("SUBSCRIBE cannot be replayed: "), "{error}");
    }

    proptest! {
        #[test]
        fn any_words_come_back_as_they_were_recorded(words in vec(vec(any::<u8>(), 0..20), 1..5)) {
            // As the server writes them, in the way that needs no table of escapes.
            let quoted = |word: &Vec<u8>| {
                let bytes: Vec<String> = word.iter().map(|byte| format!("\\x{byte:02x}")).collect();
                format!("\"{}\"", bytes.concat())
            };
            let line = words.iter().map(quoted).collect::<Vec<_>>().join(" ");
            let recording = recording(&[&line]).expect("words");
            let mut expected = Vec::new();
            write_request(&words.iter().map(Vec::as_slice).collect::<Vec<_>>(), &mut expected);
            match &recording.line(0).request {
                RecordedRequest::Plain(range) => prop_assert_eq!(recording.bytes(range.clone()), expected),
                RecordedRequest::Drawn(_) => prop_assert!(false, "twenty random bytes are no placeholder"),
            }
        }
    }
}
