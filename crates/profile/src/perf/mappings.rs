//! Which file's code lies where in a process.

use std::collections::BTreeMap;

use super::images::ImageId;

/// A mapped part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mapping {
    pub(super) start: u64,
    /// Behind the last byte.
    pub(super) end: u64,
    /// Place of `start` in the file, in bytes.
    pub(super) offset: u64,
    pub(super) image: ImageId,
}

/// The mappings of a process, none over another.
#[derive(Debug, Clone, Default)]
pub(super) struct Mappings {
    by_start: BTreeMap<u64, Mapping>,
    /// Counts the changes.
    pub(super) version: u64,
}

impl Mappings {
    pub(super) fn len(&self) -> usize {
        self.by_start.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Mapping> {
        self.by_start.values()
    }

    pub(super) fn find(&self, address: u64) -> Option<&Mapping> {
        let (_, mapping) = self.by_start.range(..=address).next_back()?;
        (address < mapping.end).then_some(mapping)
    }

    /// Maps over what was there before, as mmap(2) does: what reaches beyond the new mapping stays.
    pub(super) fn insert(&mut self, new: Mapping) {
        let before = self.by_start.range(..new.start).next_back().map(|(_, mapping)| *mapping);
        let covered: Vec<Mapping> = self.by_start.range(new.start..new.end).map(|(_, mapping)| *mapping).collect();
        for old in before.into_iter().filter(|old| old.end > new.start).chain(covered) {
            self.by_start.remove(&old.start);
            if old.start < new.start {
                self.by_start.insert(old.start, Mapping { end: new.start, ..old });
            }
            if old.end > new.end {
                let offset = old.offset.wrapping_add(new.end - old.start);
                self.by_start.insert(new.end, Mapping { start: new.end, offset, ..old });
            }
        }
        self.by_start.insert(new.start, new);
        self.version += 1;
    }

    /// For another process, which had that version before; none where it is new.
    pub(super) fn inherited(&self, version_before: Option<u64>) -> Self {
        let version = self.version.max(version_before.map_or(0, |version| version + 1));
        Self { by_start: self.by_start.clone(), version }
    }

    pub(super) fn clear(&mut self) {
        self.by_start.clear();
        self.version += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{Mapping, Mappings};

    fn mapping(start: u64, end: u64, image: usize) -> Mapping {
        Mapping { start, end, offset: start, image }
    }

    #[test]
    fn a_new_mapping_cuts_what_it_covers() {
        let mut mappings = Mappings::default();
        for new in [mapping(10, 50, 0), mapping(60, 70, 1), mapping(20, 30, 2), mapping(45, 80, 3)] {
            mappings.insert(new);
        }
        let found: Vec<_> = mappings.iter().copied().collect();
        assert_eq!(found, [mapping(10, 20, 0), mapping(20, 30, 2), mapping(30, 45, 0), mapping(45, 80, 3)]);
        assert_eq!(mappings.find(29).map(|found| found.image), Some(2));
        assert_eq!(mappings.find(9), None);
        assert_eq!(mappings.find(80), None);
    }
}
