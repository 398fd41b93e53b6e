//! Clocks, in nanoseconds.

use rustix::time::{ClockId, Timespec, clock_gettime};

const NS_PER_SECOND: u64 = 1_000_000_000;

fn ns(time: Timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let below_second = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds * NS_PER_SECOND + below_second
}

/// Time since some fixed point, the same for all threads.
#[must_use]
pub fn now_ns() -> u64 {
    ns(clock_gettime(ClockId::Monotonic))
}

/// CPU time that the calling thread has used.
#[must_use]
pub fn thread_cpu_ns() -> u64 {
    ns(clock_gettime(ClockId::ThreadCPUTime))
}
