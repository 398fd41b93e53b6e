//! Why a run ends early.

use std::io;
use std::time::Duration;

use thiserror::Error;
use zerolap_resp::MalformedReply;

use zerolap_load_requests::{Endpoint, Slo};

/// The code of the error with which a server answers while it loads its data.
pub const LOADING: &str = "LOADING";

/// Why a run ended early.
#[derive(Debug, Error)]
pub enum LoadError {
    /// A host name has no address.
    #[error("cannot find an address of {endpoint}: {source}")]
    Resolve {
        /// Where to.
        endpoint: Endpoint,
        /// The error of the resolver.
        source: io::Error,
    },
    /// A connection cannot be made.
    #[error("cannot connect to {endpoint}: {source}")]
    Connect {
        /// Where to.
        endpoint: Endpoint,
        /// The error of the system.
        source: io::Error,
    },
    /// The settings for TLS cannot be used.
    #[error(transparent)]
    Tls(Box<dyn std::error::Error + Send + Sync>),
    /// The server refuses what prepares a connection: the user or password, the protocol, the database.
    #[error("{endpoint} refused {request}: {reply}")]
    SetupRefused {
        /// Who refused.
        endpoint: Endpoint,
        /// Name of the request.
        request: &'static str,
        /// The server's words.
        reply: String,
    },
    /// A command fails before anything is measured.
    #[error("{endpoint} refused {line:?}: {reply}")]
    CheckFailed {
        /// Who refused.
        endpoint: Endpoint,
        /// The command line.
        line: String,
        /// The server's words.
        reply: String,
    },
    /// A cluster's map of slots cannot be had.
    #[error("{endpoint} does not report which node has which slot: {reason}")]
    NoSlots {
        /// Who was asked.
        endpoint: Endpoint,
        /// What it reported instead.
        reason: String,
    },
    /// There are no replicas to read from, or nothing that they could be asked.
    #[error("cannot read from replicas: {endpoint} {reason}")]
    NoReplicas {
        /// Who was asked.
        endpoint: Endpoint,
        /// Why.
        reason: String,
    },
    /// No rate satisfies the limit of a search.
    #[error("no rate satisfies {slo}; the lowest rate tried: {reason}")]
    NoRate {
        /// The limit.
        slo: Slo,
        /// Why the last step missed it.
        reason: String,
    },
    /// The server closed a connection.
    #[error("{endpoint} closed a connection with {in_flight} requests unanswered")]
    Disconnected {
        /// Who closed.
        endpoint: Endpoint,
        /// Requests without reply on that connection.
        in_flight: usize,
    },
    /// A connection broke.
    #[error("a connection to {endpoint} broke: {source}")]
    Broken {
        /// Where to.
        endpoint: Endpoint,
        /// The error of the system.
        source: io::Error,
    },
    /// The server is silent.
    #[error("{endpoint} left a request unanswered for {} s", timeout.as_secs_f64())]
    ReplyTimeout {
        /// Who is silent.
        endpoint: Endpoint,
        /// How long was waited.
        timeout: Duration,
    },
    /// What the server sends is no reply.
    #[error("{endpoint} sent a malformed reply: {source}")]
    MalformedReply {
        /// Who sent it.
        endpoint: Endpoint,
        /// What is wrong with it.
        source: MalformedReply,
    },
    /// A reply to a question before the load has no end.
    #[error("{endpoint} sent a reply of more than {limit} bytes")]
    LongReply {
        /// Who sent it.
        endpoint: Endpoint,
        /// The most that is read.
        limit: usize,
    },
    /// More files would be open than the system allows.
    #[error(
        "{needed} open files are needed and {allowed} are allowed\n\
         hint: `ulimit -n {needed}` in the shell before, as root where its hard limit is lower; or fewer --clients"
    )]
    OpenFiles {
        /// Files that would be open.
        needed: u64,
        /// The hard limit.
        allowed: u64,
    },
    /// The server sent more replies than it got requests.
    #[error("{endpoint} sent a reply ({reply}) to no request")]
    UnexpectedReply {
        /// Who sent it.
        endpoint: Endpoint,
        /// Its kind, and its code if it is an error.
        reply: String,
    },
    /// A thread cannot be pinned.
    #[error("cannot pin a thread to processor {cpu}: {source}")]
    Pin {
        /// The processor's number.
        cpu: usize,
        /// The error of the system.
        source: io::Error,
    },
    /// The system refuses a thread or an event loop.
    #[error("cannot set up a thread: {0}")]
    Thread(io::Error),
    /// A thread ended without an error.
    #[error("a thread of the load generator ended unexpectedly")]
    ThreadLost,
    /// Another thread failed first.
    #[error("stopped")]
    Stopped,
    /// The user asked for the end.
    #[error("interrupted")]
    Interrupted,
}

impl LoadError {
    /// Whether the server is there, but still loads its data and answers nothing else.
    #[must_use]
    pub fn is_loading(&self) -> bool {
        matches!(self, Self::SetupRefused { reply, .. } if reply.starts_with(LOADING))
    }

    /// Whether only one connection failed, which can be opened again.
    #[must_use]
    pub const fn is_of_a_connection(&self) -> bool {
        matches!(
            self,
            Self::Connect { .. } | Self::Disconnected { .. } | Self::Broken { .. } | Self::ReplyTimeout { .. }
        )
    }
}
