//! The requests of a connection that have no reply yet, in the order they were sent.

/// One request under way.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Request {
    /// When it was handed to the system.
    pub(super) sent_ns: u64,
    /// Index of its command.
    pub(super) command: usize,
}

/// A ring of fixed size.
#[derive(Debug)]
pub(super) struct InFlight {
    /// A power of two of places.
    ring: Box<[Request]>,
    limit: usize,
    /// Requests that were ever answered; the place of the oldest.
    answered: usize,
    /// Requests that were ever added; the place of the next one.
    added: usize,
}

impl InFlight {
    pub(super) fn new(limit: usize) -> Self {
        let places = limit.max(1).next_power_of_two();
        Self { ring: vec![Request::default(); places].into_boxed_slice(), limit, answered: 0, added: 0 }
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

    /// Adds a request, not yet stamped. There must be room.
    pub(super) fn push(&mut self, command: usize) {
        debug_assert!(self.room() > 0, "the ring is full");
        let place = self.place(self.added);
        self.ring[place].command = command;
        self.added = self.added.wrapping_add(1);
    }

    /// Stamps the `count` requests added last.
    pub(super) fn stamp_newest(&mut self, count: usize, sent_ns: u64) {
        for back in 1..=count {
            let place = self.place(self.added.wrapping_sub(back));
            self.ring[place].sent_ns = sent_ns;
        }
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

    pub(super) fn oldest_sent_ns(&self) -> Option<u64> {
        (!self.is_empty()).then(|| self.ring[self.place(self.answered)].sent_ns)
    }

    const fn place(&self, number: usize) -> usize {
        number & (self.ring.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::InFlight;

    #[test]
    fn requests_leave_in_the_order_they_came() {
        let mut ring = InFlight::new(3);
        assert_eq!((ring.room(), ring.pop().is_none(), ring.oldest_sent_ns()), (3, true, None));
        for round in 0..10 {
            ring.push(1);
            ring.push(2);
            ring.stamp_newest(2, 100 + round);
            ring.push(3);
            ring.stamp_newest(1, 200 + round);
            assert_eq!((ring.room(), ring.length(), ring.oldest_sent_ns()), (0, 3, Some(100 + round)));
            let left: Vec<_> = std::iter::from_fn(|| ring.pop()).map(|one| (one.command, one.sent_ns)).collect();
            assert_eq!(left, [(1, 100 + round), (2, 100 + round), (3, 200 + round)]);
        }
    }
}
