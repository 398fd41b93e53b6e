//! What is under way on a connection: bytes that the socket has not taken, requests that have no reply.

use std::collections::VecDeque;

use zerolap_load_measure::Request;

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

/// The requests that have no reply yet, in the order they were sent: a ring of fixed size.
#[derive(Debug)]
pub(super) struct InFlight {
    /// A power of two of places.
    ring: Box<[Request]>,
    limit: usize,
    /// Requests that were ever answered; the place of the oldest.
    answered: usize,
    /// Requests that were ever added; the place of the next one.
    added: usize,
    /// Their bytes, where they may have to be sent again to another node.
    kept: Option<VecDeque<Vec<u8>>>,
}

impl InFlight {
    /// Room for `limit` requests, which are kept with their bytes or not. What prepares a request may be before each.
    pub(super) fn new(limit: usize, keeps_bytes: bool, has_preparations: bool) -> Self {
        let places = (if has_preparations { 2 * limit } else { limit }).max(1).next_power_of_two();
        let ring = vec![Request::default(); places].into_boxed_slice();
        Self { ring, limit, answered: 0, added: 0, kept: keeps_bytes.then(VecDeque::new) }
    }

    pub(super) const fn length(&self) -> usize {
        self.added.wrapping_sub(self.answered)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.length() == 0
    }

    /// How many more may be sent.
    pub(super) const fn room(&self) -> usize {
        self.limit.saturating_sub(self.length())
    }

    /// Adds a request. There must be room.
    pub(super) fn push(&mut self, request: Request, bytes: &[u8]) {
        debug_assert!(self.length() < self.ring.len(), "the ring is full");
        let place = self.place(self.added);
        self.ring[place] = request;
        self.added = self.added.wrapping_add(1);
        if let Some(kept) = &mut self.kept {
            kept.push_back(bytes.to_vec());
        }
    }

    /// The `count` requests added last, oldest first.
    pub(super) fn newest(&mut self, count: usize) -> impl Iterator<Item = &mut Request> {
        let mask = self.ring.len() - 1;
        let first = self.added.wrapping_sub(count) & mask;
        // The ring is cut where it ends: what lies behind the cut is older.
        let (wrapped, straight) = self.ring.split_at_mut(first);
        let wrapped_count = count.saturating_sub(straight.len());
        straight.iter_mut().take(count).chain(wrapped.iter_mut().take(wrapped_count))
    }

    /// Takes the oldest.
    pub(super) fn pop(&mut self) -> Option<Request> {
        if self.is_empty() {
            return None;
        }
        let request = self.ring[self.place(self.answered)];
        self.answered = self.answered.wrapping_add(1);
        Some(request)
    }

    /// Takes the bytes of the request that [`Self::pop`] took, where they are kept. To be called after each.
    pub(super) fn pop_bytes(&mut self) -> Option<Vec<u8>> {
        self.kept.as_mut().and_then(VecDeque::pop_front)
    }

    pub(super) fn oldest(&self) -> Option<&Request> {
        (!self.is_empty()).then(|| &self.ring[self.place(self.answered)])
    }

    pub(super) fn oldest_sent_ns(&self) -> Option<u64> {
        self.oldest().map(|request| request.sent_ns)
    }

    const fn place(&self, number: usize) -> usize {
        number & (self.ring.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::{InFlight, Output};
    use zerolap_load_measure::Request;

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

    #[test]
    fn requests_leave_in_the_order_they_came() {
        let mut ring = InFlight::new(3, true, true);
        assert_eq!((ring.room(), ring.pop().is_none(), ring.oldest_sent_ns()), (3, true, None));
        for round in 0..10 {
            for (command, sent_ns) in [(1, 100 + round), (2, 100 + round), (3, 200 + round)] {
                ring.push(Request { command, ..Request::default() }, &[u8::try_from(command).expect("small")]);
                ring.newest(1).for_each(|request| request.sent_ns = sent_ns);
            }
            ring.newest(2).for_each(|request| request.due_ns = 7);
            assert_eq!((ring.room(), ring.length(), ring.oldest_sent_ns()), (0, 3, Some(100 + round)));
            let left: Vec<_> = std::iter::from_fn(|| ring.pop())
                .map(|request| (request.command, request.sent_ns, request.due_ns))
                .collect();
            let bytes: Vec<_> = std::iter::from_fn(|| ring.pop_bytes()).flatten().collect();
            assert_eq!(bytes, [1, 2, 3]);
            let sent = [(1, 100 + round, 0), (2, 100 + round, 7), (3, 200 + round, 7)];
            assert_eq!(left, sent);
        }
    }
}
