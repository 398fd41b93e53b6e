//! What a thread of the load generator itself did: shows whether its own limits were measured, not the server's.

use std::fs;

use crate::{Histogram, clock};

/// The thread's own part in the figures.
#[derive(Debug, Clone, Default)]
pub struct Health {
    /// CPU time.
    pub cpu_ns: u64,
    /// Time that it polled without finding an event, instead of sleeping; part of its CPU time.
    pub spin_ns: u64,
    /// Time for which it could have run, but did not get a processor; none where the system does not report it.
    pub run_queue_ns: Option<u64>,
    /// Time that it was at work, waiting included.
    pub elapsed_ns: u64,
    /// How long it did not look for replies, each time. What arrives meanwhile is read late by as much.
    pub lag: Histogram,
}

/// Totals of the calling thread at one moment.
#[expect(clippy::struct_field_names, reason = "units stand in names")]
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    at_ns: u64,
    cpu_ns: u64,
    run_queue_ns: Option<u64>,
}

impl Moment {
    /// Totals up to now.
    #[must_use]
    pub fn now() -> Self {
        Self { at_ns: clock::now_ns(), cpu_ns: clock::thread_cpu_ns(), run_queue_ns: run_queue_ns() }
    }
}

impl Health {
    /// Notes what the calling thread used since `before`.
    pub fn note_since(&mut self, before: Moment) {
        let now = Moment::now();
        self.cpu_ns = now.cpu_ns.saturating_sub(before.cpu_ns);
        self.elapsed_ns = now.at_ns.saturating_sub(before.at_ns);
        let run_queue_ns = now.run_queue_ns.zip(before.run_queue_ns);
        self.run_queue_ns = run_queue_ns.map(|(now_ns, before_ns)| now_ns.saturating_sub(before_ns));
    }

    /// Adds what the same thread did later.
    pub fn merge(&mut self, later: &Self) {
        self.cpu_ns += later.cpu_ns;
        self.spin_ns += later.spin_ns;
        self.elapsed_ns += later.elapsed_ns;
        self.run_queue_ns = match (self.run_queue_ns, later.run_queue_ns) {
            (Some(before_ns), Some(more_ns)) => Some(before_ns + more_ns),
            (before_ns, more_ns) => before_ns.or(more_ns),
        };
        self.lag.merge(&later.lag);
    }

    /// Share of its time that it needed a processor, whether it had one or not.
    #[must_use]
    pub fn demand(&self) -> f64 {
        if self.elapsed_ns == 0 {
            return 0.0;
        }
        let needed_ns = match self.spin_ns {
            0 => self.cpu_ns + self.run_queue_ns.unwrap_or(0),
            // While it spins it may lose the processor too: only what is left was needed.
            spin_ns => self.elapsed_ns.saturating_sub(spin_ns),
        };
        needed_ns as f64 / self.elapsed_ns as f64
    }
}

/// Time that the calling thread waited for a processor so far: the second number of its `schedstat`.
fn run_queue_ns() -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}
