//! Commands that were recorded, to be sent again.

use std::collections::HashMap;
use std::ops::Range;

use zerolap_resp::{Template, TemplateError, split_words, write_request};

/// What makes a word more than itself.
const PLACEHOLDERS: [&[u8]; 2] = [b"__key__", b"__data__"];

/// Recorded commands, ready to be sent.
#[derive(Debug)]
pub struct Recording {
    /// Requests without holes, one after the other.
    bytes: Vec<u8>,
    lines: Vec<RecordedLine>,
    /// Names of commands in upper case, in the order they came, each with the index of its first line.
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
    /// Makes requests of recorded lines, without their time and origin.
    ///
    /// # Errors
    /// When a line is no command; with its index.
    pub fn new(texts: &[String], key_prefix: &str) -> Result<Self, (usize, TemplateError)> {
        let (bytes, lines, names) = (Vec::new(), Vec::with_capacity(texts.len()), Vec::new());
        let mut recording = Self { bytes, lines, names, draws_keys: false, draws_values: false };
        let mut known = HashMap::new();
        for (index, text) in texts.iter().enumerate() {
            recording.add(text.as_bytes(), key_prefix.as_bytes(), &mut known).map_err(|error| (index, error))?;
        }
        Ok(recording)
    }

    /// Adds a line; `known` has the indexes of names.
    fn add(&mut self, text: &[u8], key_prefix: &[u8], known: &mut HashMap<String, usize>) -> Result<(), TemplateError> {
        let words = split_words(text)?;
        let command = String::from_utf8_lossy(words.first().ok_or(TemplateError::Empty)?).to_uppercase();
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
            self.names.push((command.clone(), self.lines.len()));
            self.names.len() - 1
        });
        self.lines.push(RecordedLine { name, request });
        Ok(())
    }

    /// How many commands there are.
    #[must_use]
    pub const fn length(&self) -> usize {
        self.lines.len()
    }

    /// Names of commands in upper case, in the order they came, each with the index of its first line.
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

    /// The line at this place; after the last comes the first.
    pub(super) fn line(&self, place: u64) -> &RecordedLine {
        let place = place % (self.lines.len() as u64).max(1);
        &self.lines[usize::try_from(place).unwrap_or(0)]
    }

    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.bytes[range]
    }
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

    use super::{RecordedRequest, Recording};

    fn recording(lines: &[&str]) -> Result<Recording, usize> {
        let lines: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
        Recording::new(&lines, "p").map_err(|(index, _)| index)
    }

    #[test]
    fn names_come_once_whatever_their_case() {
        let names: Vec<(String, usize)> =
            [("SET", 0), ("GET", 1), ("EVAL", 4)].map(|(name, at)| (name.into(), at)).into();
        let lines = [r#""set" "a" "b""#, r#""GET" "a""#, r#""SET" "__key__" "b""#, r#""get" "c""#, r#""eval" "x" "0""#];
        let recording = recording(&lines).expect("lines in order");
        assert_eq!(recording.names(), names);
        assert_eq!((recording.length(), recording.draws_keys(), recording.draws_values()), (5, true, false));
        assert_eq!(recording.line(8).name, recording.line(3).name);
    }

    #[test]
    fn the_line_that_is_no_command_is_named() {
        assert_eq!(recording(&[r#""GET" "a""#, r#""GET" "b"#]).expect_err("an open quote"), 1);
        assert_eq!(recording(&[r#""SET" "a" "x__data__""#]).expect_err("a part of an argument"), 0);
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
