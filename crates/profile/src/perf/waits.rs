//! From samples of threads that leave the processor to the time until they run again.
//!
//! The recording is one of `sched:sched_switch`, whose sample is the stack of a thread that leaves, with context switches
//! (`perf record --switch-events`), which tell when it was on the processor again.

use std::collections::HashMap;
use std::ops::Range;

use super::samples::Sampled;

/// The waits that have begun. A wait counts if it begins and ends within one of the windows.
pub(super) struct Waits {
    /// In nanoseconds of the recording's clock.
    windows: Vec<Range<u64>>,
    /// By number of the thread.
    begun: HashMap<i32, Begun>,
    /// Number of waits that began within a window, and whose end was not recorded.
    pub(super) lost: u64,
}

struct Begun {
    at: u64,
    sampled: Sampled,
    has_left: bool,
}

impl Waits {
    pub(super) fn within(windows: &[Range<u64>]) -> Self {
        Self { windows: windows.to_vec(), begun: HashMap::new(), lost: 0 }
    }

    /// A thread was sampled as it was about to leave its processor.
    pub(super) fn begin(&mut self, thread: i32, at: u64, sampled: Sampled) {
        if let Some(earlier) = self.begun.insert(thread, Begun { at, sampled, has_left: false }) {
            self.lose(&earlier);
        }
    }

    /// A thread has left its processor, whether it was sampled or not.
    pub(super) fn leave(&mut self, thread: i32) {
        let Some(mut begun) = self.begun.remove(&thread) else { return };
        if begun.has_left {
            // That it had run in between was not recorded.
            self.lose(&begun);
            return;
        }
        begun.has_left = true;
        self.begun.insert(thread, begun);
    }

    /// A thread runs again: its sample, and how long it was off the processor, in nanoseconds.
    pub(super) fn end(&mut self, thread: i32, at: u64) -> Option<(Sampled, u64)> {
        let begun = self.begun.remove(&thread)?;
        let is_within = self.windows.iter().any(|window| window.contains(&begun.at) && at <= window.end);
        is_within.then(|| (begun.sampled, at.saturating_sub(begun.at)))
    }

    fn lose(&mut self, begun: &Begun) {
        if self.windows.iter().any(|window| window.contains(&begun.at)) {
            self.lost = self.lost.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::Code;
    use super::*;

    const THREAD: i32 = 7;

    fn sampled(address: u64) -> Sampled {
        (0, Box::new([Code::Kernel(address)]))
    }

    #[test]
    fn a_wait_is_from_the_sample_to_the_return_of_its_thread() {
        let mut waits = Waits::within(&[100..1000, 2000..3000]);
        waits.begin(THREAD, 150, sampled(1));
        waits.leave(THREAD);
        assert_eq!(waits.end(THREAD + 1, 160), None);
        assert_eq!(waits.end(THREAD, 400), Some((sampled(1), 250)));
        assert_eq!((waits.end(THREAD, 500), waits.lost), (None, 0));
    }

    #[test]
    fn what_reaches_beyond_its_window_does_not_count() {
        let mut waits = Waits::within(&[100..200, 300..400]);
        for (from, to) in [(50, 150), (150, 250), (150, 350), (250, 350)] {
            waits.begin(THREAD, from, sampled(1));
            waits.leave(THREAD);
            assert_eq!(waits.end(THREAD, to), None, "from {from} to {to}");
        }
        waits.begin(THREAD, 300, sampled(2));
        assert_eq!(waits.end(THREAD, 400), Some((sampled(2), 100)));
        assert_eq!(waits.lost, 0);
    }

    #[test]
    fn a_wait_whose_end_is_missing_is_lost() {
        let mut waits = Waits::within(&[100..1000, 2000..3000]);
        waits.begin(THREAD, 150, sampled(1));
        waits.leave(THREAD);
        // It must have run in between.
        waits.leave(THREAD);
        assert_eq!((waits.end(THREAD, 900), waits.lost), (None, 1));
        waits.begin(THREAD, 910, sampled(2));
        waits.begin(THREAD, 920, sampled(3));
        assert_eq!((waits.end(THREAD, 930), waits.lost), (Some((sampled(3), 10)), 2));
    }
}
