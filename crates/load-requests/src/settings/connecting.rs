//! How connections are made, and what happens when they end.

use std::num::NonZeroU64;
use std::time::Duration;

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
