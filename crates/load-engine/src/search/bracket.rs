//! Which rate is tried next.

/// How far a rate that was missed may lie above one that was met, as a share of that.
const NARROW: f64 = 0.05;
/// How often the first rate is halved before there is no hope.
const MOST_HALVINGS: u32 = 10;
/// No machine sends more.
const MOST_PER_SECOND: u64 = 1_000_000_000;

/// What is known of the highest rate.
#[derive(Debug)]
pub(super) struct Bracket {
    start: u64,
    /// The highest rate that was met, if any.
    met: Option<u64>,
    /// The lowest rate that was missed, if any.
    missed: Option<u64>,
    halvings: u32,
}

impl Bracket {
    pub(super) const fn new(start: u64) -> Self {
        Self { start, met: None, missed: None, halvings: 0 }
    }

    pub(super) fn note(&mut self, rate: u64, is_met: bool) {
        if is_met {
            self.met = Some(rate);
        } else {
            self.missed = Some(rate);
            self.halvings += u32::from(self.met.is_none());
        }
    }

    /// The rate to try next; none when it is known, or there is none.
    pub(super) fn next(&self) -> Option<u64> {
        match (self.met, self.missed) {
            (None, None) => Some(self.start),
            (Some(met), None) => met.checked_mul(2).filter(|rate| *rate <= MOST_PER_SECOND),
            (None, Some(missed)) => Some(missed / 2).filter(|rate| *rate > 0 && self.halvings <= MOST_HALVINGS),
            (Some(met), Some(missed)) => {
                let gap = missed.saturating_sub(met);
                let is_narrow = gap <= 1 || gap as f64 <= NARROW * met as f64;
                (!is_narrow).then_some(met + gap / 2)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Bracket;

    /// The rates that are tried where all up to `limit` are met, and the highest that was.
    fn tried(start: u64, limit: u64) -> (Vec<u64>, Option<u64>) {
        let (mut bracket, mut rates) = (Bracket::new(start), Vec::new());
        while let Some(rate) = bracket.next() {
            rates.push(rate);
            bracket.note(rate, rate <= limit);
        }
        (rates, bracket.met)
    }

    #[test]
    fn a_rate_is_doubled_until_it_is_missed_and_then_closed_in_on() {
        let expected = [1000, 2000, 4000, 8000, 6000, 5000, 5500, 5750];
        assert_eq!(tried(1000, 5800), (expected.to_vec(), Some(5750)));
        assert_eq!(tried(1000, 700), (vec![1000, 500, 750, 625, 687, 718], Some(687)));
        assert_eq!(tried(8, 9), (vec![8, 16, 12, 10, 9], Some(9)));
    }

    #[test]
    fn it_ends_where_every_rate_is_missed_or_met() {
        assert_eq!(tried(5, 0), (vec![5, 2, 1], None));
        assert_eq!(tried(1_000_000, 0).0.len(), 11);
        assert_eq!(tried(1, u64::MAX).0.len(), 30);
        assert_eq!(tried(u64::MAX, u64::MAX).1, Some(u64::MAX));
    }
}
