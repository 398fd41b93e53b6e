//! One command line of the rotation.

use zerolap_resp::{Template, split_words};

use super::Source;

/// How a command's keys follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyPattern {
    /// All keys equally likely.
    Random,
    /// Each connection walks the whole range.
    Sequential,
    /// The range is split among all connections; each walks its part.
    Parallel,
    /// Those near the median are likelier.
    Gaussian,
    /// The first is the likeliest, the others by Zipf's law.
    Zipf,
}

impl KeyPattern {
    /// The letter for it on the command line.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::Random => 'R',
            Self::Sequential => 'S',
            Self::Parallel => 'P',
            Self::Gaussian => 'G',
            Self::Zipf => 'Z',
        }
    }
}

/// One command line, and its place in the rotation.
#[derive(Debug, Clone)]
pub struct Command {
    /// The line as it was given.
    pub line: String,
    /// The line, compiled.
    pub template: Template,
    /// How many times it is sent before the next one's turn; 0: never.
    pub ratio: u64,
    /// How its keys follow each other.
    pub pattern: KeyPattern,
    /// Whether it is there because no command was given.
    pub is_default: bool,
    /// What its requests are made from.
    pub source: Source,
}

impl Command {
    /// Whether any of its requests draws a key.
    #[must_use]
    pub fn draws_keys(&self) -> bool {
        match &self.source {
            Source::Recorded(recorded) => recorded.recording.draws_keys(),
            Source::Template | Source::Expiring(_) => self.template.key_count() > 0,
        }
    }

    /// Whether it reads the value of a key that it draws, and nothing else.
    #[must_use]
    pub fn reads_one_value(&self) -> bool {
        matches!(self.source, Source::Template)
            && self.template.command() == "GET"
            && self.template.key_count() == 1
            && split_words(self.line.as_bytes()).is_ok_and(|words| words.len() == 2)
    }

    /// Whether any of its requests draws a value.
    #[must_use]
    pub fn draws_values(&self) -> bool {
        match &self.source {
            Source::Recorded(recorded) => recorded.recording.draws_values(),
            Source::Template | Source::Expiring(_) => self.template.data_count() > 0,
        }
    }
}
