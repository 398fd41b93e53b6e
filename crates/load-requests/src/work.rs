//! How much to do, and when.

use std::num::NonZeroU64;
use std::time::Duration;

/// One piece of work for a crew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// How much.
    pub amount: Amount,
    /// When; if none, as soon as replies make room.
    pub pace: Option<Pace>,
}

/// How much to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// So many requests over all connections, shared out evenly.
    Total(u64),
    /// So many requests on each connection.
    PerConnection(u64),
    /// As many as there are keys, over all connections; with the parallel pattern each key once. With the sequential
    /// pattern each connection walks all keys.
    AllKeys,
    /// As many as fit into this time.
    For(Duration),
}

/// When requests are due, whatever the replies do. Where the server does not keep up, what is due waits until a
/// pipeline has room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Requests a second over all connections.
    pub per_second: NonZeroU64,
    /// How they follow each other.
    pub arrivals: Arrivals,
    /// What is sent at a time.
    pub unit: Unit,
}

/// How requests that are due follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arrivals {
    /// Evenly.
    #[default]
    Fixed,
    /// Independently of each other: gaps are exponentially distributed.
    Poisson,
}

/// What is sent when its time has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// One request, on a connection that has room.
    Request,
    /// A whole pipeline, on a connection that waits for nothing.
    Pipeline,
}

impl Work {
    /// Work without a rate.
    #[must_use]
    pub const fn unpaced(amount: Amount) -> Self {
        Self { amount, pace: None }
    }
}
