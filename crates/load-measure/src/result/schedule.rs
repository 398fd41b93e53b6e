//! How requests kept to their times.

use serde::Serialize;

use super::record::LatencyRecord;
use crate::Outcome;
use crate::tally::ScheduleTally;
use zerolap_load_requests::{Arrivals, Pace};

/// An open loop's three times of a request.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ScheduleRecord {
    per_second: u64,
    arrivals: &'static str,
    /// From when a request was due to its reply.
    response_us: Option<LatencyRecord>,
    /// From handing it to the system to its reply.
    service_us: Option<LatencyRecord>,
    /// From when it was due to handing it to the system.
    slip_us: Option<LatencyRecord>,
    /// The slip of requests that did not wait for room in a pipeline.
    own_slip_us: Option<LatencyRecord>,
    /// Requests that were due, but never sent.
    unsent: u64,
    /// Whether requests were sent when they were due, or nearly.
    is_kept: bool,
    service_histogram_ns: Vec<(u64, u64)>,
    slip_histogram_ns: Vec<(u64, u64)>,
}

impl ScheduleRecord {
    pub(super) fn new(pace: Pace, outcome: &Outcome, tally: &ScheduleTally) -> Self {
        Self {
            per_second: pace.per_second.get(),
            arrivals: match pace.arrivals {
                Arrivals::Fixed => "fixed",
                Arrivals::Poisson => "poisson",
            },
            response_us: LatencyRecord::new(&outcome.total().latencies),
            service_us: LatencyRecord::new(&tally.service),
            slip_us: LatencyRecord::new(&tally.slip),
            own_slip_us: LatencyRecord::new(&tally.own_slip),
            unsent: tally.unsent,
            is_kept: outcome.slip_warnings().is_empty(),
            service_histogram_ns: tally.service.buckets().collect(),
            slip_histogram_ns: tally.slip.buckets().collect(),
        }
    }
}
