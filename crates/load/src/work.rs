//! How much to do.

use std::time::Duration;

/// One piece of work for a crew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// So many requests over all connections, shared out evenly.
    Total(u64),
    /// So many requests on each connection.
    PerConnection(u64),
    /// As many as there are keys; with the parallel pattern each key once over all connections.
    AllKeys,
    /// As many as fit into this time.
    For(Duration),
}
