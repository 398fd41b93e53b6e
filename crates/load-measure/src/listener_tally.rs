//! What listeners count.

use zerolap_resp::{Reply, ReplyKind};

use crate::command_tally::ErrorCounts;

/// What a pushed message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// Of a channel.
    Message,
    /// Of a pattern of channels.
    PatternMessage,
    /// Of a sharded channel.
    ShardedMessage,
    /// Keys that are no longer what they were.
    Invalidate,
    /// Anything else.
    Other,
}

impl MessageKind {
    /// All kinds, in the order of their discriminants.
    pub const ALL: [Self; 5] =
        [Self::Message, Self::PatternMessage, Self::ShardedMessage, Self::Invalidate, Self::Other];

    /// The server's word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::PatternMessage => "pmessage",
            Self::ShardedMessage => "smessage",
            Self::Invalidate => "invalidate",
            Self::Other => "other",
        }
    }

    fn of(reply: &Reply<'_>) -> Self {
        let named = Self::ALL.into_iter().find(|kind| kind.name().as_bytes() == reply.first);
        named.unwrap_or(Self::Other)
    }
}

/// Counts of all listeners.
#[derive(Debug, Clone, Default)]
pub struct ListenerTally {
    /// Listeners that were opened.
    pub connections: usize,
    messages: [u64; MessageKind::ALL.len()],
    /// Bytes that were read.
    pub bytes: u64,
    /// Error replies, by code.
    pub errors: ErrorCounts,
    /// Listeners whose connection ended.
    pub disconnects: u64,
    /// Why the first of these was.
    pub first_disconnect: Option<String>,
    /// From when counting began to the last message.
    pub elapsed_ns: u64,
}

impl ListenerTally {
    /// Counts a message, or an error.
    pub fn count(&mut self, reply: &Reply<'_>) {
        if reply.kind == ReplyKind::Error {
            self.errors.add(&String::from_utf8_lossy(reply.code), 1);
        } else {
            self.messages[MessageKind::of(reply) as usize] += 1;
        }
    }

    /// Forgets all but connections.
    pub fn forget_messages(&mut self) {
        self.messages = Default::default();
        self.bytes = 0;
        self.errors = ErrorCounts::default();
    }

    /// Messages of one kind.
    #[must_use]
    pub const fn messages(&self, kind: MessageKind) -> u64 {
        self.messages[kind as usize]
    }

    /// Messages of all kinds.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.messages.iter().sum()
    }

    /// Messages in a second; 0 if no time went by.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        if self.elapsed_ns == 0 { 0.0 } else { self.total() as f64 / (self.elapsed_ns as f64 / 1e9) }
    }

    /// Adds what was counted in a later run.
    pub fn merge(&mut self, later: &Self) {
        self.connections = self.connections.max(later.connections);
        for (count, more) in self.messages.iter_mut().zip(later.messages) {
            *count += more;
        }
        self.bytes += later.bytes;
        self.errors.merge(&later.errors);
        self.disconnects += later.disconnects;
        if self.first_disconnect.is_none() {
            self.first_disconnect.clone_from(&later.first_disconnect);
        }
        self.elapsed_ns += later.elapsed_ns;
    }

    /// What the user has to know, in a sentence.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let reason = self.first_disconnect.as_ref()?;
        Some(format!("{} of {} listeners were disconnected; the first: {reason}", self.disconnects, self.connections))
    }
}

#[cfg(test)]
mod tests {
    use zerolap_resp::ReplyReader;

    use super::{ListenerTally, MessageKind};

    #[test]
    fn kinds_are_told_by_the_first_element_in_both_protocols() {
        let mut input: &[u8] =
            b"*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n>3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n\
            *4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$1\r\na\r\n$1\r\nx\r\n>3\r\n$8\r\nsmessage\r\n$1\r\na\r\n$1\r\nx\r\n\
            >2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\na\r\n>2\r\n$10\r\ninvalidate\r\n_\r\n+OK\r\n-ERR no\r\n";
        let (mut reader, mut tally) = (ReplyReader::new(), ListenerTally::default());
        while let Some(reply) = reader.next(&mut input).expect("replies") {
            tally.count(&reply);
        }
        assert_eq!(MessageKind::ALL.map(|kind| tally.messages(kind)), [2, 1, 1, 2, 1]);
        assert_eq!((tally.total(), tally.errors.list()), (7, &[("ERR".to_owned(), 1)][..]));
    }
}
