//! The first word of an error, kept in place.

/// Longer codes are cut. The longest of Redis 7 has 11 bytes.
const CAPACITY: usize = 64;

/// Collects bytes up to the first space.
#[derive(Debug, Clone)]
pub(super) struct ErrorCode {
    bytes: [u8; CAPACITY],
    length: usize,
    closed: bool,
}

impl ErrorCode {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; CAPACITY], length: 0, closed: false }
    }

    pub(super) fn clear(&mut self) {
        self.length = 0;
        self.closed = false;
    }

    /// Takes the next piece of the error's text.
    pub(super) fn extend(&mut self, text: &[u8]) {
        if self.closed {
            return;
        }
        let end = text.iter().position(|&byte| byte == b' ');
        self.closed = end.is_some();
        let word = &text[..end.unwrap_or(text.len())];
        let taken = word.len().min(CAPACITY - self.length);
        self.bytes[self.length..self.length + taken].copy_from_slice(&word[..taken]);
        self.length += taken;
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}
