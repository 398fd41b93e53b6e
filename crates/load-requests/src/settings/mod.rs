//! What to send, where to, and how.

mod connecting;
mod keys_and_values;
mod listening;
mod server;

pub use connecting::{Connecting, Reconnecting};
pub use keys_and_values::{DataSettings, DataSizes, KeySettings};
pub use listening::{ListenCommand, Listening};
pub use server::{Credentials, IpVersion, Protocol, Server, Tls, TlsVersion};

use crate::Command;
use crate::{Amount, Work};

/// Everything that stays the same for a crew.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct Settings {
    /// Where the server is, and how to speak to it.
    pub server: Server,
    /// How long to wait for it, and what to do when a connection ends.
    pub connecting: Connecting,
    /// Threads.
    pub threads: usize,
    /// Connections of each thread; in a cluster each is one connection to each node that it needs.
    pub clients: usize,
    /// Most requests in flight on a connection.
    pub pipeline: usize,
    /// Whether a connection waits for all replies to a batch before it sends the next.
    pub lockstep: bool,
    /// Whether threads never sleep while they work.
    pub busy_poll: bool,
    /// What to send, in rotation.
    pub commands: Vec<Command>,
    /// Which keys.
    pub keys: KeySettings,
    /// Which values.
    pub data: DataSettings,
    /// Whether values are made from their keys, and compared where they are read.
    pub verify: bool,
    /// Where all random streams come from.
    pub seed: u64,
    /// Whether all connections draw the same keys and values.
    pub one_stream: bool,
    /// Whose oddities to keep.
    pub policy: Policy,
    /// Follows the cursor of a SCAN. There are two commands then: the first stands for SCANs that start a walk, the
    /// second for those that go on.
    pub scan: Option<Scan>,
    /// Connections that only read, if any.
    pub listening: Option<Listening>,
    /// Processors of the threads, in turn; empty: any.
    pub cpus: Vec<usize>,
    /// Whether what happens is also counted by tenths of a second.
    pub timeline: bool,
}

/// Whose oddities to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// Nobody's.
    #[default]
    Lab,
    /// `memtier_benchmark`'s: ranges are split as it splits them, and `allkeys` leaves out the last key.
    Memtier,
}

/// How a SCAN goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scan {
    /// The command; its second word is the first cursor.
    pub words: Vec<Vec<u8>>,
    /// Replies after which it starts anew though the cursor is not 0; 0: never.
    pub maximum_iterations: u64,
}

impl Settings {
    /// Clients of all threads.
    #[must_use]
    pub const fn connections(&self) -> usize {
        self.threads * self.clients
    }

    /// Requests that the client with this index (over all threads) sends for `work`; all there are if time decides.
    #[must_use]
    pub fn quota(&self, work: &Work, client: usize) -> u64 {
        match work.amount {
            Amount::Total(requests) => share(requests, client, self.connections()),
            Amount::PerConnection(requests) => requests,
            Amount::AllKeys => crate::requests_for_all_keys(self, client),
            Amount::For(_) => u64::MAX,
        }
    }
}

/// What one of `parts` gets of `total`; the first get one more if it does not divide.
pub fn share(total: u64, part: usize, parts: usize) -> u64 {
    let (part, parts) = (part as u64, (parts as u64).max(1));
    total / parts + u64::from(part < total % parts)
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
