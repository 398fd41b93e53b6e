//! Which values a connection draws.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::random::Purpose;
use crate::random::Random;
use crate::random::splitmix64;
use crate::{DataSizes, KeyRange, Settings};

/// How many different slices of a random pool the longest value can be.
const RANDOM_OFFSETS: usize = 1 << 16;

/// The bytes that all values are slices of, and how many recorded commands were sent in their order.
#[derive(Debug, Clone)]
pub struct DataPool {
    bytes: Arc<[u8]>,
    is_random: bool,
    recorded: Arc<AtomicU64>,
}

impl DataPool {
    /// The pool that these settings ask for.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let maximum = settings.data.sizes.maximum();
        if !settings.data.random {
            return Self { bytes: vec![b'x'; maximum].into(), is_random: false, recorded: Arc::default() };
        }
        let mut bytes = vec![0; maximum + RANDOM_OFFSETS - 1];
        Random::new(settings.seed, Purpose::Pool, 0, 0).fill(&mut bytes);
        Self { bytes: bytes.into(), is_random: true, recorded: Arc::default() }
    }

    /// The place in a recording that is next over all connections.
    pub(super) fn next_place(&self) -> u64 {
        self.recorded.fetch_add(1, Ordering::Relaxed)
    }

    /// One value of `size` bytes, which is at most the maximum of the settings.
    pub(super) fn slice(&self, size: usize, random: &mut Random) -> &[u8] {
        if !self.is_random {
            return &self.bytes[..size];
        }
        let offsets = self.bytes.len() - size + 1;
        let offset = usize::try_from(random.below(offsets as u64)).unwrap_or(0);
        &self.bytes[offset..offset + size]
    }
}

/// The lengths of the values of one connection.
#[derive(Debug, Clone)]
pub(super) enum SizeSequence {
    Fixed(usize),
    Uniform { low: usize, choices: u64 },
    ByKey { low: usize, growth: usize, keys: KeyRange },
    Weighted(Turns),
}

/// Sizes in turn.
#[derive(Debug, Clone)]
pub(super) struct Turns {
    /// Sizes and how often each comes in its turn; at least one, none with 0.
    sizes: Vec<(usize, u64)>,
    /// Whose turn it is.
    index: usize,
    /// How often it came in this turn.
    given: u64,
}

impl SizeSequence {
    pub(super) fn new(settings: &Settings) -> Self {
        match &settings.data.sizes {
            &DataSizes::Fixed(size) => Self::Fixed(size),
            &DataSizes::Uniform(one, other) => {
                let (low, high) = (one.min(other), one.max(other));
                Self::Uniform { low, choices: (high - low) as u64 + 1 }
            }
            &DataSizes::ByKey(one, other) => {
                let (low, high) = (one.min(other), one.max(other));
                Self::ByKey { low, growth: high - low, keys: settings.keys.range }
            }
            DataSizes::Weighted(sizes) => {
                let sizes: Vec<(usize, u64)> = sizes.iter().copied().filter(|&(_, weight)| weight > 0).collect();
                if sizes.is_empty() { Self::Fixed(0) } else { Self::Weighted(Turns { sizes, index: 0, given: 0 }) }
            }
        }
    }

    /// The next length; `key` is the last one before the value in the same request.
    pub(super) fn next(&mut self, key: Option<u64>, random: &mut Random) -> usize {
        match self {
            Self::Fixed(size) => *size,
            Self::Uniform { low, choices } => *low + usize::try_from(random.below(*choices)).unwrap_or(0),
            Self::ByKey { low, growth, keys } => *low + key.map_or(0, |key| grown(*growth, key, *keys)),
            Self::Weighted(turns) => turns.next(),
        }
    }
}

impl Turns {
    fn next(&mut self) -> usize {
        let (size, weight) = self.sizes[self.index];
        self.given += 1;
        if self.given == weight {
            (self.index, self.given) = ((self.index + 1) % self.sizes.len(), 0);
        }
        size
    }
}

/// The part of `growth` that belongs to the place of the key in its range, rounded down.
fn grown(growth: usize, key: u64, keys: KeyRange) -> usize {
    let length = keys.maximum() - keys.minimum();
    let place = key.saturating_sub(keys.minimum()).min(length);
    let grown = (growth as u128 * u128::from(place)).checked_div(u128::from(length));
    grown.and_then(|grown| usize::try_from(grown).ok()).unwrap_or(0)
}

/// The offset and the prime of FNV-1a with 64 bits: RFC 9923.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;
/// The lower six bits of each byte of a word.
const SIX_BITS: u64 = 0x3f3f_3f3f_3f3f_3f3f;
/// The digit 0 in each byte of a word: with six bits more a byte is never more than an o, so it can be read.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Makes values. They depend on nothing but their key and the lengths that were asked for, so that a later run with
/// other patterns and another seed makes the same.
#[derive(Debug, Clone)]
pub struct MadeValues {
    sizes: DataSizes,
    /// The last one.
    bytes: Vec<u8>,
}

impl MadeValues {
    /// Values of these lengths.
    #[must_use]
    pub fn new(sizes: &DataSizes) -> Self {
        Self { sizes: sizes.clone(), bytes: Vec::new() }
    }

    /// The value of this key, which is a whole argument.
    pub fn of(&mut self, key: &[u8]) -> &[u8] {
        let mut state = key.iter().fold(FNV_OFFSET, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME));
        let size = size(&self.sizes, splitmix64(&mut state));
        self.bytes.resize(size, 0);
        for chunk in self.bytes.chunks_mut(8) {
            let word = (splitmix64(&mut state) & SIX_BITS) + ZEROS;
            chunk.copy_from_slice(&word.to_le_bytes()[..chunk.len()]);
        }
        &self.bytes
    }
}

/// The length that belongs to a hash. The position of a key in its range is unknown where its value is read.
fn size(sizes: &DataSizes, hash: u64) -> usize {
    match sizes {
        DataSizes::Fixed(size) => *size,
        &DataSizes::Uniform(one, other) | &DataSizes::ByKey(one, other) => {
            let (low, high) = (one.min(other), one.max(other));
            low + usize::try_from(hash % ((high - low) as u64 + 1)).unwrap_or(0)
        }
        DataSizes::Weighted(sizes) => {
            let total = sizes.iter().fold(0_u64, |sum, &(_, weight)| sum.saturating_add(weight));
            let mut place = hash % total.max(1);
            let chosen = sizes.iter().find(|&&(_, weight)| {
                let is_here = place < weight;
                place = place.saturating_sub(weight);
                is_here
            });
            chosen.map_or(0, |&(size, _)| size)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::MadeValues;
    use crate::DataSizes;

    fn values(sizes: &DataSizes) -> Vec<Vec<u8>> {
        let mut made = MadeValues::new(sizes);
        (0..6000).map(|id| made.of(format!("memtier-{id}").as_bytes()).to_vec()).collect()
    }

    #[test]
    fn lengths_are_those_of_the_policy() {
        let counts = |sizes| {
            let mut counts = BTreeMap::<usize, u32>::new();
            for value in values(&sizes) {
                *counts.entry(value.len()).or_default() += 1;
            }
            counts
        };
        assert_eq!(counts(DataSizes::Fixed(7)), [(7, 6000)].into());
        for range in [DataSizes::Uniform(5, 7), DataSizes::ByKey(5, 7)] {
            let counts = counts(range);
            assert_eq!(counts.keys().copied().collect::<Vec<usize>>(), [5, 6, 7]);
            // 2000 of each are expected; 5 standard deviations are 183.
            assert!(counts.values().all(|count| count.abs_diff(2000) < 183), "{counts:?}");
        }
        let counts = counts(DataSizes::Weighted(vec![(3, 1), (9, 0), (5, 2)]));
        assert_eq!(counts.keys().copied().collect::<Vec<usize>>(), [3, 5]);
        assert!(counts[&3].abs_diff(2000) < 183, "{counts:?}");
    }

    #[test]
    fn each_key_has_a_value_of_its_own_that_can_be_read() {
        let values = values(&DataSizes::Fixed(16));
        assert!(values.iter().flatten().all(|byte| (b'0'..=b'o').contains(byte)));
        assert_eq!(values.iter().collect::<BTreeSet<_>>().len(), values.len());
    }

    proptest! {
        #[test]
        fn a_value_depends_on_its_key_alone(keys in vec(vec(any::<u8>(), 0..12), 2..20)) {
            let sizes = DataSizes::Uniform(0, 90);
            let mut made = MadeValues::new(&sizes);
            let forward: Vec<Vec<u8>> = keys.iter().map(|key| made.of(key).to_vec()).collect();
            for (key, value) in keys.iter().zip(&forward).rev() {
                prop_assert_eq!(made.of(key), value.as_slice());
                let mut another = MadeValues { sizes: sizes.clone(), bytes: vec![1; 99] };
                prop_assert_eq!(another.of(key), value.as_slice());
            }
        }
    }
}
