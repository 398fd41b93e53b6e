//! Where the server is, and how to speak to it.

use std::fmt;
use std::path::PathBuf;

use crate::Endpoint;

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
