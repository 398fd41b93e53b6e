//! Ids of keys, one after the other.

use super::gaussian::Gaussian;
use super::zipf::Zipf;
use super::{KeyPattern, KeyRange};
use crate::random::Random;
use crate::{Policy, Settings};

/// The keys of one command on one connection.
#[derive(Debug, Clone)]
pub(super) enum KeySequence {
    Random(KeyRange),
    Walk { range: KeyRange, next: u64 },
    Gaussian(Gaussian),
    Zipf(Zipf),
}

impl KeySequence {
    /// The sequence of a command with this pattern, on the connection with this index over all threads.
    pub(super) fn new(settings: &Settings, pattern: KeyPattern, connection: usize) -> Self {
        let keys = &settings.keys;
        match pattern {
            KeyPattern::Random => Self::Random(keys.range),
            KeyPattern::Sequential => Self::walk(keys.range),
            KeyPattern::Parallel => Self::walk(part(settings, connection)),
            KeyPattern::Gaussian => Self::Gaussian(Gaussian::new(keys.range, keys.median, keys.standard_deviation)),
            KeyPattern::Zipf => Self::Zipf(match settings.policy {
                Policy::Lab => Zipf::new(keys.range, 1, keys.zipf_exponent),
                Policy::Memtier => Zipf::ranked_by_id(keys.range, keys.zipf_exponent),
            }),
        }
    }

    fn walk(range: KeyRange) -> Self {
        Self::Walk { range, next: range.minimum() }
    }

    pub(super) fn next(&mut self, random: &mut Random) -> u64 {
        match self {
            Self::Random(range) => range.minimum() + random.below(range.size()),
            Self::Walk { range, next } => {
                let key = *next;
                *next = if key == range.maximum() { range.minimum() } else { key + 1 };
                key
            }
            Self::Gaussian(gaussian) => gaussian.next(random),
            Self::Zipf(zipf) => zipf.next(random),
        }
    }
}

/// What a connection walks under the parallel pattern. Where there are more connections than keys to split, those left
/// over share keys.
fn part(settings: &Settings, connection: usize) -> KeyRange {
    let (range, connections) = (settings.keys.range, settings.connections().max(1));
    match settings.policy {
        Policy::Memtier => range.memtier_part(connection, connections),
        Policy::Lab => {
            let parts = usize::try_from(range.size()).map_or(connections, |size| size.min(connections));
            range.part(connection % parts, parts).unwrap_or(range)
        }
    }
}
