//! When a thread's requests are due.

use std::collections::VecDeque;

use zerolap_load_requests::{Arrivals, Purpose, Random, Settings, Unit, Work};

/// The rhythm of one thread, and who can take what is due next.
///
/// The schedule does not depend on replies: what comes late, or finds no room, is sent as soon as it can be, and is
/// still charged from when it was due.
#[derive(Debug)]
pub(super) struct Schedule {
    times: Times,
    /// When the next turn is.
    pub(super) next_ns: u64,
    /// Whether a turn stands for a whole pipeline.
    pub(super) is_whole: bool,
    /// Clients that had room when last looked at, in the order they get their turns.
    pub(super) free: VecDeque<usize>,
    /// Whether the next turn has come, but found no client free.
    pub(super) is_held_up: bool,
    /// Turns until then had to wait for a client, or for turns that had to.
    pub(super) held_up_until_ns: u64,
}

#[derive(Debug)]
enum Times {
    /// Turn N of this thread is `(N * threads + thread) * unit / rate` seconds after the start.
    Fixed { started_ns: u64, turn: u64, thread: u64, threads: u64, unit_ns: u64, per_second: u64 },
    /// Gaps are exponentially distributed; the processes of all threads add up to one of the whole rate.
    Poisson { at_ns: f64, mean_gap_ns: f64, random: Random },
}

impl Schedule {
    /// The rhythm that `work` asks for; none where it asks for none.
    pub(super) fn of(work: &Work, settings: &Settings, thread: usize, started_ns: u64) -> Option<Self> {
        let pace = work.pace?;
        let is_whole = pace.unit == Unit::Pipeline;
        let requests = if is_whole { settings.pipeline as u64 } else { 1 };
        let (threads, per_second) = (settings.threads as u64, pace.per_second.get());
        let unit_ns = requests.saturating_mul(1_000_000_000);
        let times = match pace.arrivals {
            Arrivals::Fixed => {
                Times::Fixed { started_ns, turn: 0, thread: thread as u64, threads, unit_ns, per_second }
            }
            Arrivals::Poisson => Times::Poisson {
                at_ns: started_ns as f64,
                mean_gap_ns: unit_ns as f64 * threads as f64 / per_second as f64,
                random: Random::new(settings.seed, Purpose::Arrivals, thread, 0),
            },
        };
        let mut schedule =
            Self { times, next_ns: 0, is_whole, free: VecDeque::new(), is_held_up: false, held_up_until_ns: 0 };
        schedule.next_ns = schedule.times.next();
        Some(schedule)
    }

    /// Takes the next turn; returns when it was.
    pub(super) fn take(&mut self) -> u64 {
        std::mem::replace(&mut self.next_ns, self.times.next())
    }

    /// Passes over all turns before `end_ns`; returns how many there are. They may be billions, so they are not gone
    /// through one by one; how many random turns there would have been is not known but as a mean.
    pub(super) fn skip_until(&mut self, end_ns: u64) -> u64 {
        if self.next_ns >= end_ns {
            return 0;
        }
        let skipped = whole(((end_ns - self.next_ns) as f64 / self.times.gap_ns()).ceil());
        self.next_ns = u64::MAX;
        skipped
    }

    /// How many turns have come by `now_ns`; of random ones the mean.
    pub(super) fn due_by(&self, now_ns: u64) -> usize {
        let Some(since_ns) = now_ns.checked_sub(self.next_ns) else { return 0 };
        usize::try_from(whole(since_ns as f64 / self.times.gap_ns()).saturating_add(1)).unwrap_or(usize::MAX)
    }
}

impl Times {
    /// Between two turns, on average.
    fn gap_ns(&self) -> f64 {
        match self {
            Self::Fixed { threads, unit_ns, per_second, .. } => *unit_ns as f64 * *threads as f64 / *per_second as f64,
            Self::Poisson { mean_gap_ns, .. } => *mean_gap_ns,
        }
    }

    fn next(&mut self) -> u64 {
        match self {
            Self::Fixed { started_ns, turn, thread, threads, unit_ns, per_second } => {
                let number = u128::from(*turn) * u128::from(*threads) + u128::from(*thread);
                let since_ns = number * u128::from(*unit_ns) / u128::from(*per_second);
                *turn += 1;
                started_ns.saturating_add(u64::try_from(since_ns).unwrap_or(u64::MAX))
            }
            Self::Poisson { at_ns, mean_gap_ns, random } => {
                *at_ns += random.exponential() * *mean_gap_ns;
                whole(*at_ns)
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates, numbers are positive")]
fn whole(number: f64) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests {
    use super::Times;
    use zerolap_load_requests::{Purpose, Random};

    #[test]
    fn fixed_turns_come_evenly_over_all_threads() {
        let mut times = [0, 1].map(|thread| Times::Fixed {
            started_ns: 1_000,
            turn: 0,
            thread,
            threads: 2,
            unit_ns: 1_000_000_000,
            per_second: 3,
        });
        let mut turns: Vec<u64> =
            times.iter_mut().flat_map(|times| (0..2).map(|_| times.next()).collect::<Vec<_>>()).collect();
        turns.sort_unstable();
        assert_eq!(turns, [1_000, 333_334_333, 666_667_666, 1_000_001_000]);
    }

    #[test]
    fn poisson_turns_come_from_the_seed_and_the_thread() {
        let turns = |seed, thread| -> Vec<u64> {
            let random = Random::new(seed, Purpose::Arrivals, thread, 0);
            let mut times = Times::Poisson { at_ns: 0.0, mean_gap_ns: 1e6, random };
            (0..100).map(|_| times.next()).collect()
        };
        assert_eq!(turns(1, 0), turns(1, 0));
        assert_ne!(turns(1, 0), turns(2, 0));
        assert_ne!(turns(1, 0), turns(1, 1));
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_the_spread_of_an_exponential_distribution() {
        const GAPS: usize = 100_000;
        let random = Random::new(1, Purpose::Arrivals, 0, 0);
        let mut times = Times::Poisson { at_ns: 0.0, mean_gap_ns: 1e6, random };
        let turns: Vec<f64> = (0..=GAPS).map(|_| times.next() as f64).collect();
        let gaps: Vec<f64> = turns.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / GAPS as f64;
        let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / GAPS as f64).sqrt();
        // 5 standard errors of the mean are 1.6 %; those of the deviation 2.2 %.
        assert!((mean / 1e6 - 1.0).abs() < 0.016 && (deviation / 1e6 - 1.0).abs() < 0.03, "{mean} {deviation}");
        let above = gaps.iter().filter(|gap| **gap > 2e6).count() as f64 / GAPS as f64;
        assert!((above - (-2.0_f64).exp()).abs() < 0.006, "{above}");
    }
}
