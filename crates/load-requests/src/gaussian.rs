//! Keys near a median.

use super::KeyRange;
use crate::random::Random;

/// After how many numbers outside the range a key is chosen without the distribution.
const TRIES: usize = 100;

/// Normally distributed keys, without those outside the range.
#[derive(Debug, Clone)]
pub(super) struct Gaussian {
    range: KeyRange,
    /// Distance of the median from the first key.
    centre: f64,
    deviation: f64,
    /// The second of two numbers that were drawn at once.
    spare: Option<f64>,
}

impl Gaussian {
    /// By default as in `memtier_benchmark` (`gaussian_distribution_range` of its version 2): the centre of the range,
    /// and a sixth of the distance between its ends.
    pub(super) fn new(range: KeyRange, median: Option<f64>, deviation: Option<f64>) -> Self {
        let length = (range.maximum() - range.minimum()) as f64;
        Self {
            range,
            // A key is a number without its fraction: the middle of the middle key is half a key after its beginning.
            centre: median.map_or(length / 2.0 + 0.5, |median| median - range.minimum() as f64),
            deviation: deviation.unwrap_or(length / 6.0),
            spare: None,
        }
    }

    pub(super) fn next(&mut self, random: &mut Random) -> u64 {
        for _ in 0..TRIES {
            let distance = self.centre + self.deviation * self.normal(random);
            if self.is_within(distance) {
                return self.key(distance);
            }
        }
        if self.is_within(self.centre) {
            // The deviation is so much wider than the range that all keys are about as likely.
            self.range.at(random.below(self.range.size()))
        } else {
            // The median is so far away that nearly all weight is on the end next to it.
            self.key(self.centre)
        }
    }

    fn normal(&mut self, random: &mut Random) -> f64 {
        self.spare.take().unwrap_or_else(|| {
            let (number, spare) = random.normal_pair();
            self.spare = Some(spare);
            number
        })
    }

    fn is_within(&self, distance: f64) -> bool {
        (0.0..self.range.size() as f64).contains(&distance)
    }

    /// The key so far after the first one, or the end next to it.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it saturates, which is what is wanted"
    )]
    fn key(&self, distance: f64) -> u64 {
        self.range.at(distance as u64)
    }
}
