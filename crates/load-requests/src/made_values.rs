//! Values that are made from their keys, so that whoever reads one knows what it must be.

use super::DataSizes;
use crate::Settings;
use crate::random::splitmix64;

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
    /// The values that these settings ask for.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        Self { sizes: settings.data.sizes.clone(), bytes: Vec::new() }
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

/// The length that belongs to a hash. Places of keys in their range are not known to whoever reads them.
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
        let mut made = MadeValues { sizes: sizes.clone(), bytes: Vec::new() };
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
            let mut made = MadeValues { sizes: sizes.clone(), bytes: Vec::new() };
            let forward: Vec<Vec<u8>> = keys.iter().map(|key| made.of(key).to_vec()).collect();
            for (key, value) in keys.iter().zip(&forward).rev() {
                prop_assert_eq!(made.of(key), value.as_slice());
                let mut another = MadeValues { sizes: sizes.clone(), bytes: vec![1; 99] };
                prop_assert_eq!(another.of(key), value.as_slice());
            }
        }
    }
}
