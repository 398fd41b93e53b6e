//! What to send, where to, and how.

use std::fmt;
use std::time::Duration;

use crate::requests::{Command, KeyRange};
use crate::{Endpoint, Work};

/// Everything that stays the same for a crew.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where the server listens.
    pub endpoint: Endpoint,
    /// User and password.
    pub credentials: Option<Credentials>,
    /// Threads.
    pub threads: usize,
    /// Connections of each thread.
    pub clients: usize,
    /// Most requests in flight on a connection.
    pub pipeline: usize,
    /// Whether a connection waits for all replies to a batch before it sends the next.
    pub lockstep: bool,
    /// What to send, in rotation.
    pub commands: Vec<Command>,
    /// Ids of keys.
    pub keys: KeyRange,
    /// Text before the id of a key.
    pub key_prefix: String,
    /// Bytes of a value.
    pub data_size: usize,
    /// Whether values are random bytes.
    pub random_data: bool,
    /// Where all random streams come from.
    pub seed: u64,
    /// Processors of the threads, in turn; empty: any.
    pub cpus: Vec<usize>,
    /// Longest wait for a connection.
    pub connect_timeout: Duration,
    /// Longest wait for a reply.
    pub reply_timeout: Duration,
}

impl Settings {
    /// Connections of all threads.
    #[must_use]
    pub const fn connections(&self) -> usize {
        self.threads * self.clients
    }

    /// Requests that the connection with this index (over all threads) sends for `work`; all there are if time decides.
    #[must_use]
    pub fn quota(&self, work: &Work, connection: usize) -> u64 {
        match *work {
            Work::Total(requests) | Work::Paced { requests, .. } => share(requests, connection, self.connections()),
            Work::PerConnection(requests) => requests,
            Work::AllKeys => crate::requests::requests_for_all_keys(self, connection),
            Work::For(_) => u64::MAX,
        }
    }
}

/// What one of `parts` gets of `total`; the first get one more if it does not divide.
fn share(total: u64, part: usize, parts: usize) -> u64 {
    let (part, parts) = (part as u64, (parts as u64).max(1));
    total / parts + u64::from(part < total % parts)
}

/// What a connection authenticates with.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The user, if not the default one.
    pub user: Option<String>,
    /// The password.
    pub password: String,
}

/// Passwords stay out of messages.
impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Credentials").field("user", &self.user).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_add_up_and_differ_by_at_most_one() {
        for (total, parts) in [(0, 3), (1, 3), (10, 3), (12, 3), (7, 1), (2, 200)] {
            let shares: Vec<u64> = (0..parts).map(|part| share(total, part, parts)).collect();
            assert_eq!(shares.iter().sum::<u64>(), total);
            assert!(shares.iter().max().unwrap_or(&0) - shares.iter().min().unwrap_or(&0) <= 1);
        }
    }
}
