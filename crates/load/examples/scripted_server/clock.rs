//! The clock of all times here.

use rustix::time::{ClockId, clock_gettime};

const NS_PER_SECOND: u64 = 1_000_000_000;

/// Time on `CLOCK_MONOTONIC`, which other processes can read as well.
pub(crate) fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    let part = |number| u64::try_from(number).unwrap_or(0);
    part(time.tv_sec) * NS_PER_SECOND + part(time.tv_nsec)
}
