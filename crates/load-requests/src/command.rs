//! Commands, and where their requests come from.

use std::sync::Arc;

use zerolap_resp::{Template, split_words};

use crate::random::Random;
use crate::{LookUp, Recording, RecordingOrder, TransactionStep};

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
    /// The database that it was recorded in; none if it was not recorded.
    pub database: Option<u32>,
    /// Whether it is there because no command was given.
    pub is_default: bool,
    /// What its requests are made from.
    pub source: Source,
}

impl Command {
    /// What its requests do to the transaction of their connection. Of a recording only that of the first line is known.
    #[must_use]
    pub fn transaction_step(&self) -> TransactionStep {
        TransactionStep::of(self.template.command())
    }

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

    /// How its replies are read; none of a command that looks nothing up. Of recorded ones only the name is known.
    #[must_use]
    pub fn look_up(&self) -> Option<LookUp> {
        let name = self.template.command();
        let is_whole = split_words(self.line.as_bytes())
            .is_ok_and(|words| words.first().is_some_and(|first| first.eq_ignore_ascii_case(name.as_bytes())));
        if is_whole { LookUp::of_line(&self.line) } else { LookUp::of_words(&[name.as_bytes()]) }
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

/// Where the requests of a command come from.
#[derive(Debug, Clone, Default)]
pub enum Source {
    /// From its template alone.
    #[default]
    Template,
    /// From its template or, where there is a time to live, from another one.
    Expiring(Box<Expiry>),
    /// From a recording, another line each time.
    Recorded(Recorded),
}

/// A command that stands for recorded ones.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// What was recorded.
    pub recording: Arc<Recording>,
    /// In which order it is sent.
    pub order: RecordingOrder,
    /// For each name in the recording the index of the command that its replies are counted with.
    pub slots: Vec<usize>,
}

/// How long values live.
#[derive(Debug, Clone)]
pub struct Expiry {
    /// Seconds, from the first to the second, all equally likely; 0 stands for a value that stays.
    pub seconds: (u32, u32),
    /// The request for a value that does not stay. Its first value is the time, in seconds.
    pub template: Template,
}

impl Expiry {
    /// The next time, in seconds.
    pub(super) fn draw(&self, random: &mut Random) -> u64 {
        let (least, most) = self.seconds;
        u64::from(least) + random.below(u64::from(most.saturating_sub(least)) + 1)
    }
}
