//! Keys one after the other, from one's own place in the range.

use zerolap_resp::Values;

use super::KeyRange;

/// Draws the key at a place of the range and those that follow it; after the last comes the first.
#[derive(Debug)]
pub struct ConsecutiveKeys {
    range: KeyRange,
    place: u64,
}

impl ConsecutiveKeys {
    /// The keys of `range` from its `index`th on.
    #[must_use]
    pub const fn new(range: KeyRange, index: usize) -> Self {
        Self { range, place: index as u64 }
    }
}

impl Values for ConsecutiveKeys {
    fn next_key(&mut self) -> u64 {
        let key = self.range.minimum() + self.place % self.range.size();
        self.place = self.place.wrapping_add(1);
        key
    }

    fn next_data(&mut self) -> &[u8] {
        b""
    }
}
