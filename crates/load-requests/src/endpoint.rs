//! Where the server listens.

use std::fmt;
use std::path::PathBuf;

/// One address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A TCP port.
    Tcp {
        /// Name or address.
        host: String,
        /// Port number.
        port: u16,
    },
    /// A unix domain socket.
    Unix(PathBuf),
}

impl fmt::Display for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(formatter, "tcp://[{host}]:{port}"),
            Self::Tcp { host, port } => write!(formatter, "tcp://{host}:{port}"),
            Self::Unix(path) => write!(formatter, "unix://{}", path.display()),
        }
    }
}
