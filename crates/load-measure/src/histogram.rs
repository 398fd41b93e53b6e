//! Counts of latencies in log-linear buckets.
//!
//! Below 512 ns each value has its bucket; above, each power of two is cut into 256 buckets, so that a bucket is at
//! most 0.4 % wide. Values from 2^42 ns (73 minutes) on fall into the last one; the exact maximum is kept beside.

/// Buckets to a power of two, as an exponent.
const PRECISION_BITS: u32 = 8;
const BUCKETS_PER_OCTAVE: usize = 1 << PRECISION_BITS;
/// Values of this many bits and fewer have buckets of their own.
const MAXIMUM_BITS: u32 = 42;
const LARGEST_NS: u64 = (1 << MAXIMUM_BITS) - 1;
const BUCKETS: usize = (MAXIMUM_BITS - PRECISION_BITS + 1) as usize * BUCKETS_PER_OCTAVE;

/// Latencies in nanoseconds.
#[derive(Debug, Clone)]
pub struct Histogram {
    counts: Box<[u64]>,
    count: u64,
    sum_ns: u64,
    minimum_ns: u64,
    maximum_ns: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        let counts = vec![0; BUCKETS].into_boxed_slice();
        Self { counts, count: 0, sum_ns: 0, minimum_ns: u64::MAX, maximum_ns: 0 }
    }
}

impl Histogram {
    /// Counts one value.
    pub fn record(&mut self, value_ns: u64) {
        self.counts[bucket(value_ns)] += 1;
        self.count += 1;
        self.sum_ns = self.sum_ns.saturating_add(value_ns);
        self.minimum_ns = self.minimum_ns.min(value_ns);
        self.maximum_ns = self.maximum_ns.max(value_ns);
    }

    /// Adds all values of another one.
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.count += other.count;
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.minimum_ns = self.minimum_ns.min(other.minimum_ns);
        self.maximum_ns = self.maximum_ns.max(other.maximum_ns);
    }

    /// How many values were counted.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The largest value, exactly; 0 if there is none.
    #[must_use]
    pub const fn maximum_ns(&self) -> u64 {
        self.maximum_ns
    }

    /// The smallest value, exactly; 0 if there is none.
    #[must_use]
    pub const fn minimum_ns(&self) -> u64 {
        if self.count == 0 { 0 } else { self.minimum_ns }
    }

    /// The sum of all values.
    #[must_use]
    pub const fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    /// The mean, exactly; none without values.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// The least upper edge of a bucket that at least `percent` of the values do not exceed, never above the maximum;
    /// none without values. `percent` counts to four decimals.
    #[must_use]
    pub fn percentile_ns(&self, percent: f64) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        let rank = u128::from(self.count) * u128::from(millionths(percent));
        let rank = rank.div_ceil(1_000_000).max(1);
        let mut below = 0_u128;
        let index = self.counts.iter().position(|&count| {
            below += u128::from(count);
            below >= rank
        });
        Some(index.map_or(self.maximum_ns, |index| upper_edge_ns(index).min(self.maximum_ns)))
    }

    /// The lower edge and the count of each bucket that is not empty, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let counted = self.counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        counted.map(|(index, &count)| (lower_edge_ns(index), count))
    }

    /// What was added to it since `seen` was the state of its buckets, as numbers of buckets and counts. `seen` is the
    /// new state then.
    pub fn added_since(&self, seen: &mut [u64]) -> Vec<(u16, u32)> {
        let mut added = Vec::new();
        for (index, (&count, seen)) in self.counts.iter().zip(seen).enumerate() {
            if count != *seen {
                let more = u32::try_from(count - *seen).unwrap_or(u32::MAX);
                added.push((u16::try_from(index).unwrap_or(u16::MAX), more));
                *seen = count;
            }
        }
        added.shrink_to_fit();
        added
    }

    /// The state of buckets of which none holds a value.
    #[must_use]
    pub fn no_buckets() -> Box<[u64]> {
        vec![0; BUCKETS].into_boxed_slice()
    }

    /// Adds values of which only their buckets, their sum and their ends are known.
    pub fn add_buckets(&mut self, buckets: &[(u16, u32)], sum_ns: u64, ends_ns: (u64, u64)) {
        for &(index, count) in buckets {
            self.counts[usize::from(index)] += u64::from(count);
            self.count += u64::from(count);
        }
        self.sum_ns = self.sum_ns.saturating_add(sum_ns);
        self.minimum_ns = self.minimum_ns.min(ends_ns.0);
        self.maximum_ns = self.maximum_ns.max(ends_ns.1);
    }
}

/// Percent as millionths of the whole.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
fn millionths(percent: f64) -> u64 {
    (percent.clamp(0.0, 100.0) * 10_000.0).round() as u64
}

/// The bucket of a value.
fn bucket(value_ns: u64) -> usize {
    let value_ns = value_ns.min(LARGEST_NS);
    let shift = (u64::BITS - value_ns.leading_zeros()).saturating_sub(PRECISION_BITS + 1);
    let within = usize::try_from(value_ns >> shift).unwrap_or(0);
    shift as usize * BUCKETS_PER_OCTAVE + within
}

fn lower_edge_ns(index: usize) -> u64 {
    let octave = (index / BUCKETS_PER_OCTAVE).saturating_sub(1);
    ((index - octave * BUCKETS_PER_OCTAVE) as u64) << octave
}

fn upper_edge_ns(index: usize) -> u64 {
    lower_edge_ns(index + 1) - 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{BUCKETS, Histogram, LARGEST_NS, bucket, lower_edge_ns, upper_edge_ns};

    #[test]
    fn edges_meet_and_buckets_are_narrow() {
        for index in 0..BUCKETS {
            let (lower, upper) = (lower_edge_ns(index), upper_edge_ns(index));
            assert_eq!((bucket(lower), bucket(upper)), (index, index));
            assert!((upper - lower) as f64 <= lower as f64 * 0.004, "bucket {index}");
        }
        assert_eq!(bucket(LARGEST_NS), BUCKETS - 1);
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
        const { assert!(LARGEST_NS > 60_000_000_000) };
    }

    #[test]
    fn nothing_counted_has_no_percentiles() {
        let histogram = Histogram::default();
        assert_eq!((histogram.percentile_ns(50.0), histogram.mean_ns()), (None, None));
        assert_eq!(histogram.buckets().count(), 0);
    }

    proptest! {
        #[test]
        fn percentiles_are_near_the_exact_ones_however_merged(
            values in prop::collection::vec(0_u64..200_000_000_000, 1..300), permille in 0_u32..=1000, split: usize,
        ) {
            let (left, right) = values.split_at(split % values.len());
            let mut histogram = Histogram::default();
            for &value in left {
                histogram.record(value);
            }
            let mut other = Histogram::default();
            for &value in right {
                other.record(value);
            }
            histogram.merge(&other);

            let mut sorted = values.clone();
            sorted.sort_unstable();
            let rank = (sorted.len() * permille as usize).div_ceil(1000).max(1);
            let exact = sorted[rank - 1];
            let found = histogram.percentile_ns(f64::from(permille) / 10.0).expect("values");
            prop_assert!(found <= sorted[sorted.len() - 1]);
            if exact <= LARGEST_NS {
                prop_assert!(found >= exact && (found - exact) as f64 <= exact as f64 * 0.004, "{found} for {exact}");
            }
            prop_assert_eq!(histogram.maximum_ns(), sorted[sorted.len() - 1]);
            prop_assert_eq!(histogram.minimum_ns(), sorted[0]);
            prop_assert_eq!(histogram.count(), values.len() as u64);
            prop_assert_eq!(histogram.buckets().map(|(_, count)| count).sum::<u64>(), values.len() as u64);

            let (mut seen, mut whole) = (Histogram::no_buckets(), Histogram::default());
            for part in [&other, &histogram] {
                let (before, ends_ns) = (whole.sum_ns(), (part.minimum_ns(), part.maximum_ns()));
                whole.add_buckets(&part.added_since(&mut seen), part.sum_ns() - before, ends_ns);
            }
            prop_assert_eq!(whole.buckets().collect::<Vec<_>>(), histogram.buckets().collect::<Vec<_>>());
            prop_assert_eq!((whole.sum_ns(), whole.count()), (histogram.sum_ns(), histogram.count()));
            prop_assert_eq!(whole.percentile_ns(99.99), histogram.percentile_ns(99.99));
        }
    }
}
