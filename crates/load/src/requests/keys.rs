//! Ids of keys.

use super::KeyPattern;
use crate::random::Random;

/// Ids from `minimum` to `maximum`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyRange {
    minimum: u64,
    maximum: u64,
}

impl KeyRange {
    /// The range, unless it is empty or has more ids than 64 bits can count.
    #[must_use]
    pub fn new(minimum: u64, maximum: u64) -> Option<Self> {
        let is_countable = maximum.checked_sub(minimum)? < u64::MAX;
        is_countable.then_some(Self { minimum, maximum })
    }

    /// The first id.
    #[must_use]
    pub const fn minimum(self) -> u64 {
        self.minimum
    }

    /// The last id.
    #[must_use]
    pub const fn maximum(self) -> u64 {
        self.maximum
    }

    /// How many ids there are.
    #[must_use]
    pub const fn size(self) -> u64 {
        self.maximum - self.minimum + 1
    }

    /// One of `parts` consecutive pieces, whose sizes differ by at most one; none if there are fewer ids than parts and
    /// this one gets none.
    #[must_use]
    pub fn part(self, part: usize, parts: usize) -> Option<Self> {
        let (part, parts) = (part as u64, (parts as u64).max(1));
        let (base, longer) = (self.size() / parts, self.size() % parts);
        let size = base + u64::from(part < longer);
        let minimum = self.minimum + part * base + part.min(longer);
        (size > 0).then(|| Self { minimum, maximum: minimum + (size - 1) })
    }
}

/// The keys of one command on one connection.
#[derive(Debug, Clone)]
pub(super) enum KeySequence {
    Random(KeyRange),
    Walk { range: KeyRange, next: u64 },
}

impl KeySequence {
    /// The sequence of the connection with index `connection` of `connections`. Where there are more connections than
    /// keys to split, those left over share keys.
    pub(super) fn new(pattern: KeyPattern, range: KeyRange, connection: usize, connections: usize) -> Self {
        let range = match pattern {
            KeyPattern::Random | KeyPattern::Gaussian | KeyPattern::Zipf => return Self::Random(range),
            KeyPattern::Sequential => range,
            KeyPattern::Parallel => range.part(connection, connections).unwrap_or_else(|| {
                let shared = range.minimum + connection as u64 % range.size();
                KeyRange { minimum: shared, maximum: shared }
            }),
        };
        Self::Walk { range, next: range.minimum }
    }

    pub(super) fn next(&mut self, random: &mut Random) -> u64 {
        match self {
            Self::Random(range) => range.minimum + random.below(range.size()),
            Self::Walk { range, next } => {
                let key = *next;
                *next = if key == range.maximum { range.minimum } else { key + 1 };
                key
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{KeyPattern, KeyRange, KeySequence};
    use crate::random::{Purpose, Random};

    #[test]
    fn a_walk_wraps_after_the_last_key() {
        let range = KeyRange::new(5, 7).expect("a range");
        let mut keys = KeySequence::new(KeyPattern::Sequential, range, 3, 4);
        let mut random = Random::new(1, Purpose::Keys, 0, 0);
        let walked: Vec<u64> = (0..7).map(|_| keys.next(&mut random)).collect();
        assert_eq!(walked, [5, 6, 7, 5, 6, 7, 5]);
    }

    #[test]
    fn the_ends_of_64_bits_are_no_trouble() {
        assert_eq!(KeyRange::new(0, u64::MAX), None);
        assert_eq!(KeyRange::new(2, 1), None);
        let range = KeyRange::new(1, u64::MAX).expect("a range");
        assert_eq!(range.part(6, 7).map(KeyRange::maximum), Some(u64::MAX));
        let mut keys =
            KeySequence::new(KeyPattern::Parallel, KeyRange::new(u64::MAX, u64::MAX).expect("a range"), 0, 1);
        let mut random = Random::new(1, Purpose::Keys, 0, 0);
        assert_eq!([keys.next(&mut random), keys.next(&mut random)], [u64::MAX; 2]);
    }

    proptest! {
        #[test]
        fn parts_cover_the_range_once(minimum in 0_u64..1000, size in 1_u64..500, parts in 1_usize..60) {
            let range = KeyRange::new(minimum, minimum + size - 1).expect("a range");
            let pieces: Vec<KeyRange> = (0..parts).filter_map(|part| range.part(part, parts)).collect();
            let ids: Vec<u64> = pieces.iter().flat_map(|piece| piece.minimum()..=piece.maximum()).collect();
            prop_assert_eq!(ids, (range.minimum()..=range.maximum()).collect::<Vec<u64>>());
            let sizes = || pieces.iter().map(|piece| piece.size());
            prop_assert!(sizes().max().unwrap_or(0) - sizes().min().unwrap_or(0) <= 1);
        }

        #[test]
        fn random_keys_stay_in_the_range(minimum: u64, more in 0_u64..1000, seed: u64) {
            let range = KeyRange::new(minimum, minimum.saturating_add(more)).expect("a range");
            let mut keys = KeySequence::new(KeyPattern::Random, range, 0, 1);
            let key = keys.next(&mut Random::new(seed, Purpose::Keys, 0, 0));
            prop_assert!(range.minimum() <= key && key <= range.maximum());
        }
    }
}
