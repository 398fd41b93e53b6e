//! What one thread counts during one piece of work.

use zerolap_resp::{Reply, ReplyKind};

use crate::Histogram;

/// Error codes that are told apart; further ones are counted together, so that no server can make it grow.
const MAXIMUM_CODES: usize = 64;
const OTHER_CODES: &str = "other";

/// Counts of one thread.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// When the first request was written, if any was.
    pub(crate) started_ns: Option<u64>,
    /// When the last reply was read.
    pub(crate) ended_ns: u64,
    /// CPU time of the thread.
    pub(crate) cpu_ns: u64,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
    /// Push frames, which answer nothing.
    pub(crate) pushes: u64,
    /// One for each command of the settings.
    pub(crate) commands: Vec<CommandTally>,
}

impl Tally {
    pub(crate) fn new(commands: usize) -> Self {
        // Made one by one, not cloned: fresh zeroed memory costs nothing until it is used.
        Self { commands: (0..commands).map(|_| CommandTally::default()).collect(), ..Self::default() }
    }

    /// Counts one reply to the command with this index.
    pub(crate) fn count(&mut self, command: usize, reply: &Reply<'_>, latency_ns: u64) {
        if let Some(tally) = self.commands.get_mut(command) {
            tally.count(reply, latency_ns);
        }
    }
}

/// Replies to one command, or to several.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommandTally {
    kinds: [u64; ReplyKind::ALL.len()],
    /// Aggregates without elements.
    pub(crate) empty_arrays: u64,
    errors: Vec<(String, u64)>,
    /// Latencies of all replies, errors too.
    pub(crate) latencies: Histogram,
}

impl CommandTally {
    fn count(&mut self, reply: &Reply<'_>, latency_ns: u64) {
        self.kinds[reply.kind as usize] += 1;
        self.empty_arrays += u64::from(reply.is_empty_aggregate());
        if reply.kind == ReplyKind::Error {
            self.count_errors(&String::from_utf8_lossy(reply.code), 1);
        }
        self.latencies.record(latency_ns);
    }

    fn count_errors(&mut self, code: &str, count: u64) {
        let code = if self.errors.len() < MAXIMUM_CODES || self.errors.iter().any(|(known, _)| known == code) {
            code
        } else {
            OTHER_CODES
        };
        match self.errors.iter_mut().find(|(known, _)| known == code) {
            Some((_, known_count)) => *known_count += count,
            None => self.errors.push((code.to_owned(), count)),
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (count, more) in self.kinds.iter_mut().zip(other.kinds) {
            *count += more;
        }
        self.empty_arrays += other.empty_arrays;
        for (code, count) in &other.errors {
            self.count_errors(code, *count);
        }
        self.latencies.merge(&other.latencies);
    }

    pub(crate) const fn replies(&self, kind: ReplyKind) -> u64 {
        self.kinds[kind as usize]
    }

    pub(crate) fn requests(&self) -> u64 {
        self.kinds.iter().sum()
    }

    pub(crate) fn succeeded(&self) -> u64 {
        self.requests() - self.replies(ReplyKind::Error)
    }

    /// Successful replies that bring something: neither nil nor an empty aggregate.
    pub(crate) fn hits(&self) -> u64 {
        self.succeeded() - self.replies(ReplyKind::Nil) - self.empty_arrays
    }

    pub(crate) fn errors(&self) -> &[(String, u64)] {
        &self.errors
    }
}

#[cfg(test)]
mod tests {
    use zerolap_resp::{Reply, ReplyKind};

    use super::{CommandTally, MAXIMUM_CODES};

    #[test]
    fn error_codes_are_limited_in_number_but_all_are_counted() {
        let mut tally = CommandTally::default();
        for number in 0..MAXIMUM_CODES + 10 {
            for _ in 0..2 {
                let code = format!("E{number}");
                let kind = ReplyKind::Error;
                tally.count(&Reply { kind, code: code.as_bytes(), text: b"", elements: 0, first: b"" }, 1);
            }
        }
        assert_eq!(tally.errors().len(), MAXIMUM_CODES + 1);
        assert_eq!(tally.errors().last(), Some(&("other".to_owned(), 20)));
        assert_eq!((tally.requests(), tally.succeeded(), tally.hits()), (148, 0, 0));
    }
}
