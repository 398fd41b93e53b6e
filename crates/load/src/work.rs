//! How much to do.

use std::num::NonZeroU64;
use std::time::Duration;

/// One piece of work for a crew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// So many requests over all connections, shared out evenly.
    Total(u64),
    /// So many requests over all connections at a fixed rate: whole pipelines are sent when they are due, on one
    /// connection after the other. Where the server does not keep up, it is not sent more than the pipeline holds.
    Paced {
        /// How many, shared out evenly.
        requests: u64,
        /// Requests a second over all connections.
        per_second: NonZeroU64,
    },
    /// So many requests on each connection.
    PerConnection(u64),
    /// As many as there are keys; with the parallel pattern each key once over all connections.
    AllKeys,
    /// As many as fit into this time.
    For(Duration),
}
