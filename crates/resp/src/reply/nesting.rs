//! Which aggregates are open, and how many values each still lacks.

use super::MalformedReply;

/// Deepest nesting of aggregates and attributes that is read.
pub const MAXIMUM_DEPTH: usize = 64;

/// A stack of open aggregates and attributes, without heap.
#[derive(Debug, Clone)]
pub(super) struct Nesting {
    /// Values that each open level still lacks.
    missing: [u64; MAXIMUM_DEPTH],
    /// Bit N is set if level N is an attribute.
    attributes: u64,
    depth: usize,
    /// Values that the outermost aggregate has in all; 0 for an attribute.
    outermost: u64,
}

const _: () = assert!(MAXIMUM_DEPTH <= u64::BITS as usize, "one bit for each level");

impl Nesting {
    pub(super) const fn new() -> Self {
        Self { missing: [0; MAXIMUM_DEPTH], attributes: 0, depth: 0, outermost: 0 }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.depth == 0
    }

    /// Whether the next value is the first one of a top-level aggregate.
    pub(super) const fn is_at_first(&self) -> bool {
        self.depth == 1 && self.missing[0] == self.outermost
    }

    /// Opens a level of `values` values, at least one.
    pub(super) fn open(&mut self, values: u64, is_attribute: bool) -> Result<(), MalformedReply> {
        let missing = self.missing.get_mut(self.depth).ok_or(MalformedReply::TooDeep)?;
        *missing = values;
        let bit = 1 << self.depth;
        self.attributes = if is_attribute { self.attributes | bit } else { self.attributes & !bit };
        if self.depth == 0 {
            self.outermost = if is_attribute { 0 } else { values };
        }
        self.depth += 1;
        Ok(())
    }

    /// Counts a complete value and closes the levels that it completes. Returns whether a top-level reply is complete.
    /// An attribute completes nothing: the value that it describes is still to come.
    pub(super) fn finish_value(&mut self) -> bool {
        while let Some(level) = self.depth.checked_sub(1) {
            self.missing[level] -= 1;
            if self.missing[level] > 0 {
                return false;
            }
            self.depth = level;
            if self.attributes >> level & 1 == 1 {
                return false;
            }
        }
        true
    }
}
