//! What the requests of a command are made from.

use std::sync::Arc;

use zerolap_resp::Template;

use super::{Recording, RecordingOrder};
use crate::random::Random;

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
