//! What a run has come to while it goes on.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Counts of all threads since a phase of a run began, a tenth of a second late.
#[derive(Debug, Default)]
pub struct Live {
    requests: AtomicU64,
    latency_ns: AtomicU64,
    bytes: AtomicU64,
    phase: Mutex<Option<Phase>>,
}

/// What is being done.
#[derive(Debug, Clone, Copy)]
pub struct Phase {
    /// From 1.
    pub run: u32,
    /// As it is called in the document.
    pub name: &'static str,
    /// When it ends.
    pub goal: Goal,
    /// When it began.
    pub began: Instant,
}

/// When a phase ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// After so long.
    After(Duration),
    /// After so many requests.
    Requests(u64),
}

/// Totals at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LiveCounts {
    /// Replies, and requests that will never have one.
    pub requests: u64,
    /// The sum of their latencies.
    pub latency_ns: u64,
    /// Sent and received.
    pub bytes: u64,
}

impl Live {
    /// Begins a phase, which no thread works on yet.
    pub fn begin(&self, run: u32, name: &'static str, goal: Goal) {
        let mut phase = self.phase();
        for count in [&self.requests, &self.latency_ns, &self.bytes] {
            count.store(0, Ordering::Relaxed);
        }
        *phase = Some(Phase { run, name, goal, began: Instant::now() });
    }

    /// Ends the phase: what is done until the next one is not shown.
    pub fn end(&self) {
        *self.phase() = None;
    }

    /// Adds what a thread counted since it last did so.
    pub fn add(&self, more: LiveCounts) {
        self.requests.fetch_add(more.requests, Ordering::Relaxed);
        self.latency_ns.fetch_add(more.latency_ns, Ordering::Relaxed);
        self.bytes.fetch_add(more.bytes, Ordering::Relaxed);
    }

    /// What is being done, if anything is.
    pub fn current(&self) -> Option<Phase> {
        *self.phase()
    }

    fn phase(&self) -> MutexGuard<'_, Option<Phase>> {
        // It is never half written.
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Totals of the phase so far.
    pub fn counts(&self) -> LiveCounts {
        LiveCounts {
            requests: self.requests.load(Ordering::Relaxed),
            latency_ns: self.latency_ns.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }
}

impl LiveCounts {
    /// What was added since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            requests: self.requests.saturating_sub(earlier.requests),
            latency_ns: self.latency_ns.saturating_sub(earlier.latency_ns),
            bytes: self.bytes.saturating_sub(earlier.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Goal, Live, LiveCounts};

    #[test]
    fn each_phase_begins_at_nothing() {
        let live = Live::default();
        let counts = LiveCounts { requests: 5, latency_ns: 6, bytes: 7 };
        live.add(counts);
        live.add(counts);
        assert_eq!(live.counts().since(counts), counts);
        live.begin(1, "measure", Goal::Requests(1));
        assert_eq!(live.counts(), LiveCounts::default());
    }
}
