//! Keys by Zipf's law: rejection-inversion of Hörmann and Derflinger (1996), <https://doi.org/10.1145/235025.235029>.
//!
//! A key's weight is the power -exponent of its rank. Ranks are written as `first + distance` and all weights are divided
//! by that of the first rank: `weight(d) = (1 + d / first)^-exponent`. So nothing is lost to rounding where ranks are
//! large and nearly equal.

use super::KeyRange;
use crate::random::Random;

/// Zipf-distributed keys; the first of the range is the likeliest.
#[derive(Debug, Clone)]
pub(super) struct Zipf {
    range: KeyRange,
    law: Law,
    /// Lower and upper bound of what the integral is inverted for.
    bounds: (f64, f64),
    /// What is no further below its distance needs no look at the weight.
    surely_accepted: f64,
}

/// The weights, continued to all distances above -1/2.
#[derive(Debug, Clone, Copy)]
struct Law {
    first: f64,
    exponent: f64,
}

impl Zipf {
    /// Ranks count from `first`, the rank of the first key. The exponent is above 0.
    pub(super) fn new(range: KeyRange, first: u64, exponent: f64) -> Self {
        let law = Law { first: first.max(1) as f64, exponent };
        let lower = law.integral(0.5) - law.weight(0.0);
        let upper = law.integral((range.size() - 1) as f64 + 0.5);
        let surely_accepted = 1.0 - law.inverse(law.integral(1.5) - law.weight(1.0));
        Self { range, law, bounds: (lower, upper), surely_accepted }
    }

    /// As in `memtier_benchmark` (`set_key_zipf_distribution` of its version 2): the rank of a key is its id, and ids
    /// below 1 are left out.
    pub(super) fn ranked_by_id(range: KeyRange, exponent: f64) -> Self {
        let first = range.minimum().max(1);
        let ids = KeyRange::new(first, range.maximum().max(first)).unwrap_or(range);
        Self::new(ids, first, exponent)
    }

    pub(super) fn next(&mut self, random: &mut Random) -> u64 {
        let (lower, upper) = self.bounds;
        let last = (self.range.size() - 1) as f64;
        loop {
            let drawn = lower + random.unit() * (upper - lower);
            let place = self.law.inverse(drawn);
            let distance = (place + 0.5).floor().clamp(0.0, last);
            if distance - place <= self.surely_accepted
                || drawn >= self.law.integral(distance + 0.5) - self.law.weight(distance)
            {
                return self.key(distance);
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number within the range")]
    fn key(&self, distance: f64) -> u64 {
        self.range.at(distance as u64)
    }
}

impl Law {
    fn weight(self, distance: f64) -> f64 {
        (-self.exponent * (distance / self.first).ln_1p()).exp()
    }

    /// The integral of the weight from 0. Exponents of 1 and nearly 1 are no special case: the quotient that is 0 / 0
    /// there is a function of its own.
    fn integral(self, distance: f64) -> f64 {
        let logarithm = (distance / self.first).ln_1p();
        self.first * logarithm * exp_m1_quotient((1.0 - self.exponent) * logarithm)
    }

    fn inverse(self, integral: f64) -> f64 {
        let share = integral / self.first;
        let logarithm = share * ln_1p_quotient((1.0 - self.exponent) * share);
        self.first * logarithm.exp_m1()
    }
}

/// (e^x - 1) / x
fn exp_m1_quotient(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { x.exp_m1() / x }
}

/// ln(1 + x) / x
fn ln_1p_quotient(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { x.ln_1p() / x }
}
