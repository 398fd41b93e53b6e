//! What to send, where to, and how.

use std::fmt;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use zerolap_resp::Template;

use crate::{Amount, Command, Endpoint, KeyRange, TransactionStep, Work};

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
    /// The largest number of the databases that requests are sent in; none if all are sent in that of the server's.
    pub largest_database: Option<u32>,
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
    /// How ranges are split over connections, and what `allkeys` covers.
    pub policy: Policy,
    /// Follows the cursor of a SCAN. There are two commands then: the first stands for SCANs that start a walk, the
    /// second for those that go on.
    pub scan: Option<Scan>,
    /// Connections that only read, if any.
    pub listening: Option<Listening>,
    /// Processors of the threads, in turn; empty: any.
    pub cpus: Vec<usize>,
    /// Length of the slots of time by which what happens is also counted: a power of ten in nanoseconds. None: it is
    /// not counted so.
    pub timeline: Option<Duration>,
}

/// How ranges are split over connections, and what `allkeys` covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// Ranges are split evenly, and `allkeys` covers each key.
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

    /// Whether any command begins a transaction.
    #[must_use]
    pub fn has_transactions(&self) -> bool {
        self.commands.iter().any(|command| command.transaction_step() == TransactionStep::Begin)
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

/// A server, or the first node of a cluster.
#[derive(Debug, Clone)]
pub struct Server {
    /// Where it listens.
    pub endpoint: Endpoint,
    /// Which kind of address a name must have; either if none.
    pub ip_version: Option<IpVersion>,
    /// User and password.
    pub credentials: Option<Credentials>,
    /// Which version of the protocol to ask for.
    pub protocol: Protocol,
    /// Number of the database; 0 is not asked for.
    pub database: u32,
    /// Encryption, if any.
    pub tls: Option<Tls>,
    /// Whether keys are spread over the nodes of a cluster.
    pub is_cluster: bool,
    /// Whether requests that only read go to replicas.
    pub replica_reads: bool,
}

impl Server {
    /// Whether requests of a client go to several nodes.
    #[must_use]
    pub const fn has_nodes(&self) -> bool {
        self.is_cluster || self.replica_reads
    }
}

/// Kind of address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IpVersion {
    /// IPv4
    V4,
    /// IPv6
    V6,
}

/// Version of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// Whatever the server starts with.
    #[default]
    AsIs,
    /// `HELLO 2`
    Resp2,
    /// `HELLO 3`
    Resp3,
}

impl Protocol {
    /// The word for it on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AsIs => "redis",
            Self::Resp2 => "resp2",
            Self::Resp3 => "resp3",
        }
    }
}

/// How to encrypt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tls {
    /// The client's certificate chain (PEM).
    pub certificate: Option<PathBuf>,
    /// The client's private key (PEM).
    pub key: Option<PathBuf>,
    /// Authorities that are trusted (PEM); those of the system if none.
    pub authorities: Option<PathBuf>,
    /// Whether any certificate of the server is taken.
    pub skip_verify: bool,
    /// The name that is asked for, in place of the host.
    pub server_name: Option<String>,
    /// Versions that are spoken; all that are built in if none.
    pub versions: Vec<TlsVersion>,
}

/// Version of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsVersion {
    /// TLS 1.2
    V1_2,
    /// TLS 1.3
    V1_3,
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

/// Patience and persistence.
#[derive(Debug, Clone)]
pub struct Connecting {
    /// Longest wait for a connection.
    pub connect_timeout: Duration,
    /// Longest wait for a reply.
    pub reply_timeout: Duration,
    /// Shortest and longest pause before each connection of a thread, drawn at random.
    pub jitter: (Duration, Duration),
    /// After how many replies a connection is closed and made anew.
    pub reconnect_interval: Option<NonZeroU64>,
    /// Whether and how a connection that broke is made anew; if none, it ends the run.
    pub reconnect_on_error: Option<Reconnecting>,
}

/// How to come back after a connection broke.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reconnecting {
    /// Most times in a row that a connection is tried; 0: no limit but `connect_timeout`.
    pub maximum_attempts: u64,
    /// By how much the pause between two tries grows; 0: no pause.
    pub backoff_factor: f64,
}

/// Which keys.
#[derive(Debug, Clone)]
pub struct KeySettings {
    /// Ids of keys.
    pub range: KeyRange,
    /// Text before the id of a key.
    pub prefix: String,
    /// Id that the gaussian pattern is centred on; the middle of the range if none.
    pub median: Option<f64>,
    /// Standard deviation of the gaussian pattern, in ids; a sixth of the range if none.
    pub standard_deviation: Option<f64>,
    /// Exponent of the zipf pattern.
    pub zipf_exponent: f64,
}

/// Which values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataSettings {
    /// Their lengths.
    pub sizes: DataSizes,
    /// Whether they are random bytes; all x otherwise.
    pub random: bool,
    /// Where in a string values are written, which is in the lines of the default commands already.
    pub offset: u64,
}

/// Lengths of values in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataSizes {
    /// All the same.
    Fixed(usize),
    /// From the first to the second, both included, all equally likely.
    Uniform(usize, usize),
    /// From the first to the second, in proportion to the place of the key in its range.
    ByKey(usize, usize),
    /// Each size in turn, as many times as its weight.
    Weighted(Vec<(usize, u64)>),
}

impl DataSizes {
    /// The longest.
    #[must_use]
    pub fn maximum(&self) -> usize {
        match self {
            Self::Fixed(size) => *size,
            Self::Uniform(low, high) | Self::ByKey(low, high) => *low.max(high),
            Self::Weighted(sizes) => sizes.iter().map(|&(size, _)| size).max().unwrap_or(0),
        }
    }
}

/// Listeners, and what makes the server push to them.
#[derive(Debug, Clone)]
pub struct Listening {
    /// What listeners send once, in turn; never empty.
    pub commands: Vec<ListenCommand>,
    /// How many listeners there are.
    pub connections: usize,
    /// What they authenticate with, in turn; empty: as all connections do.
    pub credentials: Vec<Credentials>,
    /// Whether nothing but listening is done.
    pub is_alone: bool,
}

/// What a listener sends.
#[derive(Debug, Clone)]
pub struct ListenCommand {
    /// The line as it was given.
    pub line: String,
    /// The line, compiled.
    pub template: Template,
    /// Words of the line.
    pub words: usize,
}

impl ListenCommand {
    /// The word of the server's confirmations, one for each channel; none where the server answers once, in any way.
    #[must_use]
    pub fn confirmation(&self) -> Option<&'static [u8]> {
        match self.template.command() {
            "SUBSCRIBE" => Some(b"subscribe"),
            "PSUBSCRIBE" => Some(b"psubscribe"),
            "SSUBSCRIBE" => Some(b"ssubscribe"),
            _ => None,
        }
    }

    /// How many confirmations or answers there are.
    #[must_use]
    pub fn confirmations(&self) -> usize {
        // Without any channel the server answers with an error.
        if self.confirmation().is_some() { (self.words - 1).max(1) } else { 1 }
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
