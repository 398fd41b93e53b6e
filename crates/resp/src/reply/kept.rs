//! The beginning of a text, kept in place.

/// Collects bytes up to its capacity; further ones are dropped.
#[derive(Debug, Clone)]
pub(super) struct Kept<const CAPACITY: usize> {
    bytes: [u8; CAPACITY],
    length: usize,
}

impl<const CAPACITY: usize> Kept<CAPACITY> {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; CAPACITY], length: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.length = 0;
    }

    /// Takes the next piece of the text.
    pub(super) fn extend(&mut self, text: &[u8]) {
        let taken = text.len().min(CAPACITY - self.length);
        self.bytes[self.length..self.length + taken].copy_from_slice(&text[..taken]);
        self.length += taken;
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}
