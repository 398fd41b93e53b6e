//! Which ids keys have.

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

    /// The piece that `memtier_benchmark` gives one of `parts` clients (`client::setup_client` of its version 2): all
    /// pieces but the last are equally long, so that later ones may reach beyond the range or lie beyond it. One that
    /// would end before it starts is its first id alone, which is what memtier sends then.
    pub(super) fn memtier_part(self, part: usize, parts: usize) -> Self {
        let (part, parts) = (part as u64, (parts as u64).max(1));
        let size = (self.maximum - self.minimum) / parts + 1;
        let minimum = self.minimum.saturating_add(size.saturating_mul(part));
        let maximum = if part == parts - 1 { self.maximum } else { minimum.saturating_add(size - 1) };
        Self { minimum, maximum: maximum.max(minimum) }
    }

    /// The key `distance` after the first one; the last one if that is beyond it.
    pub(super) fn at(self, distance: u64) -> u64 {
        self.minimum + distance.min(self.maximum - self.minimum)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::KeyRange;

    #[test]
    fn the_ends_of_64_bits_are_no_trouble() {
        assert_eq!(KeyRange::new(0, u64::MAX), None);
        assert_eq!(KeyRange::new(2, 1), None);
        let range = KeyRange::new(1, u64::MAX).expect("a range");
        assert_eq!(range.part(6, 7).map(KeyRange::maximum), Some(u64::MAX));
        assert_eq!(range.memtier_part(6, 7).maximum(), u64::MAX);
        let last = KeyRange::new(u64::MAX - 1, u64::MAX).expect("a range");
        assert_eq!(last.memtier_part(3, 5), KeyRange::new(u64::MAX, u64::MAX).expect("a range"));
        assert_eq!([last.at(0), last.at(1), last.at(u64::MAX)], [u64::MAX - 1, u64::MAX, u64::MAX]);
    }

    #[test]
    fn memtier_leaves_the_last_clients_beyond_the_range() {
        // By hand, from its formula: 11 keys of 8 clients are 10 / 8 + 1 = 2 for each.
        let range = KeyRange::new(0, 10).expect("a range");
        let parts: Vec<(u64, u64)> = (0..8)
            .map(|part| {
                let part = range.memtier_part(part, 8);
                (part.minimum(), part.maximum())
            })
            .collect();
        assert_eq!(parts, [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11), (12, 13), (14, 14)]);
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
    }
}
