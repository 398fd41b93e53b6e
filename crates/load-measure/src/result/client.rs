//! What the load generator says of itself.

use serde::Serialize;

use super::record::LatencyRecord;
use crate::Outcome;
use crate::health::Health;

/// The load generator's own part.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ClientRecord {
    /// Whether its limits were measured, not the server's.
    client_bound: bool,
    /// Why.
    reasons: Vec<String>,
    threads: Vec<ThreadRecord>,
}

#[derive(Debug, Clone, Serialize)]
struct ThreadRecord {
    elapsed_ns: u64,
    cpu_ns: u64,
    /// Of this, looking for events in vain: only with busy polling.
    spin_ns: u64,
    /// Time that it could have run, but got no processor; null where the system does not tell.
    run_queue_ns: Option<u64>,
    /// How long it did not look for replies, each time.
    loop_lag_us: Option<LatencyRecord>,
}

impl ClientRecord {
    pub(super) fn new(outcome: &Outcome) -> Self {
        let reasons = outcome.client_bounds();
        let threads = outcome.threads.iter().map(ThreadRecord::new).collect();
        Self { client_bound: !reasons.is_empty(), reasons, threads }
    }
}

impl ThreadRecord {
    fn new(health: &Health) -> Self {
        Self {
            elapsed_ns: health.elapsed_ns,
            cpu_ns: health.cpu_ns,
            spin_ns: health.spin_ns,
            run_queue_ns: health.run_queue_ns,
            loop_lag_us: LatencyRecord::new(&health.lag),
        }
    }
}
