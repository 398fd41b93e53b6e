//! Bytes on their way to the socket.

/// A buffer that is filled at the end and sent from the front.
#[derive(Debug, Default)]
pub(super) struct Output {
    bytes: Vec<u8>,
    sent: usize,
}

impl Output {
    pub(super) fn is_empty(&self) -> bool {
        self.sent == self.bytes.len()
    }

    /// All bytes that are kept, sent or not.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.sent = 0;
    }

    /// Where requests are added, at the end only.
    pub(super) fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    pub(super) fn unsent(&self) -> &[u8] {
        &self.bytes[self.sent..]
    }

    /// Marks bytes as sent. The room of a buffer that was sent whole, or for the most part, is used again.
    pub(super) fn advance(&mut self, length: usize) {
        self.sent += length;
        if self.is_empty() {
            self.bytes.clear();
            self.sent = 0;
        } else if self.sent > self.bytes.len() / 2 {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Output;

    #[test]
    fn bytes_leave_once_and_in_order() {
        let mut output = Output::default();
        let mut sent = Vec::new();
        for step in [1, 3, 2, 7, 100] {
            output.bytes_mut().extend_from_slice(b"abcde");
            let length = output.unsent().len().min(step);
            sent.extend_from_slice(&output.unsent()[..length]);
            output.advance(length);
        }
        assert_eq!(sent, b"abcde".repeat(5));
        assert!(output.is_empty());
    }
}
