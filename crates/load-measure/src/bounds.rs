//! Whether the figures are the server's, or the load generator's own.

use crate::Outcome;

/// Share of its time from which on a thread that has or wants a processor is taken to be at its limit.
const MOST_DEMAND: f64 = 0.85;
/// Share of the latency from which on the load generator's own delay is no longer negligible.
const MOST_DELAY: f64 = 0.1;
/// Delays below this are those of any timer.
const LEAST_DELAY_NS: u64 = 1_000_000;

impl Outcome {
    /// Why the load generator itself set a limit, in sentences; empty if it did not.
    #[must_use]
    pub fn client_bounds(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        for (number, thread) in self.threads.iter().enumerate() {
            if thread.demand() > MOST_DEMAND {
                let percent = thread.demand() * 100.0;
                reasons.push(format!("thread {number} had or wanted a processor for {percent:.0} % of its time"));
            }
        }
        let latency_ns = self.total().latencies.percentile_ns(99.0).unwrap_or(0);
        let is_long = |delay_ns: u64| delay_ns > LEAST_DELAY_NS && delay_ns as f64 > latency_ns as f64 * MOST_DELAY;
        let own_slip_ns = self.schedule.as_ref().and_then(|schedule| schedule.own_slip.percentile_ns(99.0));
        if let Some(slip_ns) = own_slip_ns.filter(|&slip_ns| is_long(slip_ns)) {
            reasons.push(format!("1 % of the requests were sent {:.1} ms late or more", slip_ns as f64 / 1e6));
        }
        for (number, thread) in self.threads.iter().enumerate() {
            let lag_ns = thread.lag.percentile_ns(99.0).unwrap_or(0);
            if is_long(lag_ns) {
                let milliseconds = lag_ns as f64 / 1e6;
                reasons.push(format!("thread {number} left replies unread for {milliseconds:.1} ms, 1 % of the times"));
            }
        }
        reasons
    }

    /// What keeps the latencies from being those of the schedule, in sentences; empty without a schedule.
    #[must_use]
    pub fn slip_warnings(&self) -> Vec<String> {
        let Some(schedule) = &self.schedule else { return Vec::new() };
        let mut warnings = Vec::new();
        if schedule.unsent > 0 {
            warnings.push(format!(
                "the server did not keep up: {} requests that were due were never sent, and no latency counts them",
                schedule.unsent
            ));
        }
        let slip_ns = schedule.slip.percentile_ns(99.0).unwrap_or(0);
        let latency_ns = self.total().latencies.percentile_ns(99.0).unwrap_or(0);
        if slip_ns > LEAST_DELAY_NS && slip_ns as f64 > latency_ns as f64 * MOST_DELAY {
            warnings.push(format!(
                "slip is not negligible: 1 % of the requests were sent {:.1} ms or more after they were due; \
                 latencies count that time, service times do not",
                slip_ns as f64 / 1e6
            ));
        }
        warnings
    }
}
