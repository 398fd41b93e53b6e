//! What is counted of the replies to one command.

use serde::Serialize;
use zerolap_resp::{Reply, ReplyKind};

use crate::Histogram;
use zerolap_load_requests::{Answer, Command, LookUp, Settings};

/// Codes that are counted separately; further ones are counted together, so that no server can make it grow.
const MAXIMUM_CODES: usize = 64;
const OTHER_CODES: &str = "other";

/// Replies to one command, or to several.
#[derive(Debug, Clone)]
pub struct CommandTally {
    kinds: [u64; ReplyKind::ALL.len()],
    /// How its replies are read; none of a command that looks nothing up, and of several commands.
    look_up: Option<LookUp>,
    answers: [u64; Answer::ALL.len()],
    /// Aggregates without elements.
    pub empty_arrays: u64,
    /// Integers that are 0: a miss of commands such as `SISMEMBER`, a value like any other of commands such as `INCRBY`.
    pub zeros: u64,
    errors: ErrorCounts,
    /// Errors within other replies: commands of a transaction or script that failed. They are among the errors by code.
    pub error_elements: u64,
    /// The text of the first error.
    pub first_error: Option<String>,
    /// Requests whose connection ended before their reply.
    pub disconnected: u64,
    /// Requests whose reply did not come in time.
    pub timed_out: u64,
    /// Redirections that were followed; they are no replies.
    pub moved: u64,
    /// The same of those that go for one request only.
    pub asked: u64,
    /// Bytes of its requests.
    pub bytes_sent: u64,
    /// Bytes of its replies.
    pub bytes_received: u64,
    /// Latencies of all replies, errors too, and of lost requests what was waited for them.
    pub latencies: Histogram,
    /// The least and the greatest latency since the timeline took them.
    pub recent_ends_ns: (u64, u64),
    /// Only where values are compared.
    pub checked: Option<CheckedValues>,
}

impl Default for CommandTally {
    fn default() -> Self {
        Self {
            kinds: [0; ReplyKind::ALL.len()],
            look_up: None,
            answers: [0; Answer::ALL.len()],
            empty_arrays: 0,
            zeros: 0,
            errors: ErrorCounts::default(),
            error_elements: 0,
            first_error: None,
            disconnected: 0,
            timed_out: 0,
            moved: 0,
            asked: 0,
            bytes_sent: 0,
            bytes_received: 0,
            latencies: Histogram::default(),
            recent_ends_ns: (u64::MAX, 0),
            checked: None,
        }
    }
}

impl CommandTally {
    /// Nothing counted for this command.
    pub fn new(command: &Command, settings: &Settings) -> Self {
        let is_checked = settings.verify && command.reads_one_value();
        let checked = is_checked.then(CheckedValues::default);
        Self { look_up: command.look_up(), checked, ..Self::default() }
    }

    /// Counts a reply to this command, and returns what it shows.
    pub fn count(&mut self, reply: &Reply<'_>, latency_ns: u64) -> Answer {
        let answer = match &self.look_up {
            Some(rule) => rule.answer(reply),
            None => Answer::NoLookUp,
        };
        self.count_as(reply, answer, latency_ns);
        answer
    }

    /// Counts a reply to any command that shows this.
    #[inline]
    pub fn count_as(&mut self, reply: &Reply<'_>, answer: Answer, latency_ns: u64) {
        self.kinds[reply.kind as usize] += 1;
        self.answers[answer as usize] += 1;
        self.empty_arrays += u64::from(reply.is_empty_aggregate());
        self.zeros += u64::from(reply.is_zero());
        if reply.kind == ReplyKind::Error || reply.error_elements > 0 {
            self.count_errors(reply);
        }
        self.record_latency(latency_ns);
    }

    // Apart, so that little is left to be done for an ordinary reply.
    #[cold]
    #[inline(never)]
    fn count_errors(&mut self, reply: &Reply<'_>) {
        self.error_elements += reply.error_elements;
        self.errors.add(&String::from_utf8_lossy(reply.code), reply.error_elements.max(1));
        if self.first_error.is_none() {
            self.first_error = Some(String::from_utf8_lossy(reply.text).into_owned());
        }
    }

    fn record_latency(&mut self, latency_ns: u64) {
        self.latencies.record(latency_ns);
        let (least_ns, greatest_ns) = self.recent_ends_ns;
        self.recent_ends_ns = (least_ns.min(latency_ns), greatest_ns.max(latency_ns));
    }

    /// Counts a request that will never get a reply, for which was waited so long.
    pub fn count_lost(&mut self, is_timeout: bool, waited_ns: u64) {
        self.record_latency(waited_ns);
        if is_timeout {
            self.timed_out += 1;
        } else {
            self.disconnected += 1;
        }
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.kinds.iter_mut().zip(other.kinds) {
            *count += more;
        }
        for (count, more) in self.answers.iter_mut().zip(other.answers) {
            *count += more;
        }
        self.empty_arrays += other.empty_arrays;
        self.zeros += other.zeros;
        self.errors.merge(&other.errors);
        self.error_elements += other.error_elements;
        if self.first_error.is_none() {
            self.first_error.clone_from(&other.first_error);
        }
        self.disconnected += other.disconnected;
        self.timed_out += other.timed_out;
        self.moved += other.moved;
        self.asked += other.asked;
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
        self.latencies.merge(&other.latencies);
        if let Some(checked) = other.checked {
            self.checked.get_or_insert_default().merge(checked);
        }
    }

    /// Replies of one kind.
    #[must_use]
    pub const fn replies(&self, kind: ReplyKind) -> u64 {
        self.kinds[kind as usize]
    }

    /// Replies of all kinds.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.kinds.iter().sum()
    }

    /// Requests that never got a reply.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.disconnected + self.timed_out
    }

    /// Replies that are no errors.
    #[must_use]
    pub fn succeeded(&self) -> u64 {
        self.requests() - self.replies(ReplyKind::Error)
    }

    /// Replies that show this.
    #[must_use]
    pub const fn answers(&self, answer: Answer) -> u64 {
        self.answers[answer as usize]
    }

    /// Replies that show whether something was there.
    #[must_use]
    pub fn look_ups(&self) -> u64 {
        self.answers.iter().sum::<u64>() - self.answers(Answer::NoLookUp)
    }

    /// Replies that did not find what was asked for. Values that may also stand for a key that does not exist, such as a
    /// bit that is 0, are none.
    #[must_use]
    pub const fn misses(&self) -> u64 {
        self.answers(Answer::Nothing) + self.answers(Answer::NoMember) + self.answers(Answer::Unclear)
    }

    /// Successful replies that are no misses.
    #[must_use]
    pub fn hits(&self) -> u64 {
        self.succeeded() - self.misses()
    }

    /// Errors by code, in the order they first came: replies that are errors, and those within other replies.
    #[must_use]
    pub fn errors(&self) -> &[(String, u64)] {
        self.errors.list()
    }
}

/// How often each error code came.
#[derive(Debug, Clone, Default)]
pub struct ErrorCounts(Vec<(String, u64)>);

impl ErrorCounts {
    /// Counts errors with this code.
    pub fn add(&mut self, code: &str, count: u64) {
        let is_known = self.0.iter().any(|(known, _)| known == code);
        let code = if self.0.len() < MAXIMUM_CODES || is_known { code } else { OTHER_CODES };
        match self.0.iter_mut().find(|(known, _)| known == code) {
            Some((_, known_count)) => *known_count += count,
            None => self.0.push((code.to_owned(), count)),
        }
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: &Self) {
        for (code, count) in &other.0 {
            self.add(code, *count);
        }
    }

    /// In the order they first came.
    #[must_use]
    pub fn list(&self) -> &[(String, u64)] {
        &self.0
    }
}

/// Values that were compared with what they must be.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct CheckedValues {
    /// All that were compared.
    pub compared: u64,
    /// Those that were something else.
    pub mismatches: u64,
}

impl CheckedValues {
    /// Counts a value that was compared.
    pub fn count(&mut self, is_match: bool) {
        self.compared += 1;
        self.mismatches += u64::from(!is_match);
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: Self) {
        self.compared += other.compared;
        self.mismatches += other.mismatches;
    }
}

#[cfg(test)]
mod tests {
    use zerolap_resp::{Leaves, Reply, ReplyKind};

    use super::{CommandTally, MAXIMUM_CODES};

    #[test]
    fn error_codes_are_limited_in_number_but_all_are_counted() {
        let mut tally = CommandTally::default();
        for number in 0..MAXIMUM_CODES + 10 {
            for _ in 0..2 {
                let code = format!("E{number}");
                let kind = ReplyKind::Error;
                tally.count(
                    &Reply {
                        kind,
                        code: code.as_bytes(),
                        text: b"",
                        elements: 0,
                        first: b"",
                        leaves: Leaves::VALUE,
                        leaves_after_first: Leaves::NONE,
                        error_elements: 0,
                    },
                    1,
                );
            }
        }
        assert_eq!(tally.errors().len(), MAXIMUM_CODES + 1);
        assert_eq!(tally.errors().last(), Some(&("other".to_owned(), 20)));
        assert_eq!((tally.requests(), tally.succeeded(), tally.hits()), (148, 0, 0));
    }
}
