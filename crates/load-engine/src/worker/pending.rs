//! Links that wait for their time: few of many.

use std::collections::BTreeSet;

/// Time between two looks.
const LOOK_NS: u64 = 1_000_000;

/// Links, by index, that have to be looked at from time to time, however often the event loop wakes up.
#[derive(Debug, Default)]
pub(super) struct PendingLinks {
    indices: BTreeSet<usize>,
    next_look_ns: u64,
}

impl PendingLinks {
    pub(super) fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// Adds a link, unless it is among them.
    pub(super) fn add(&mut self, index: usize) {
        self.indices.insert(index);
    }

    /// Takes a link away, if it is among them.
    pub(super) fn remove(&mut self, index: usize) {
        self.indices.remove(&index);
    }

    /// The links, if it is time to look at them again; otherwise none.
    pub(super) fn look(&mut self, now_ns: u64) -> Vec<usize> {
        if self.indices.is_empty() || now_ns < self.next_look_ns {
            return Vec::new();
        }
        self.next_look_ns = now_ns + LOOK_NS;
        self.indices.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{LOOK_NS, PendingLinks};

    #[test]
    fn links_are_looked_at_once_a_millisecond_while_they_are_pending() {
        let mut links = PendingLinks::default();
        assert!(links.look(0).is_empty());
        for index in [700, 3, 700] {
            links.add(index);
        }
        assert_eq!(links.look(5), [3, 700]);
        assert!(links.look(5 + LOOK_NS - 1).is_empty(), "not at each event");
        assert_eq!(links.look(5 + LOOK_NS), [3, 700]);
        links.remove(700);
        links.remove(9);
        assert_eq!(links.look(5 + 3 * LOOK_NS), [3]);
        links.remove(3);
        assert!(links.is_empty());
    }
}
