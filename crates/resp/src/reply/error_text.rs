//! The beginning of an error's text, kept in place.

/// Longer texts are cut.
const CAPACITY: usize = 192;
/// Longer codes are cut. The longest of Redis 7 has 11 bytes.
const CODE_CAPACITY: usize = 64;

/// Collects the first bytes of an error.
#[derive(Debug, Clone)]
pub(super) struct ErrorText {
    bytes: [u8; CAPACITY],
    length: usize,
}

impl ErrorText {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; CAPACITY], length: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.length = 0;
    }

    /// Takes the next piece of the error's text.
    pub(super) fn extend(&mut self, text: &[u8]) {
        let taken = text.len().min(CAPACITY - self.length);
        self.bytes[self.length..self.length + taken].copy_from_slice(&text[..taken]);
        self.length += taken;
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// The first word.
    pub(super) fn code(&self) -> &[u8] {
        let start = &self.bytes[..self.length.min(CODE_CAPACITY)];
        let end = start.iter().position(|&byte| byte == b' ');
        &start[..end.unwrap_or(start.len())]
    }
}
