//! How noisy a series is, whatever its levels: from the differences between neighbouring points.

use std::f64::consts::SQRT_2;

/// The scale is taken from the difference that four of five do not exceed. A fifth may be wild: of steps and spikes.
const RANK: (usize, usize) = (4, 5);
/// That quantile of the absolute values of a standard normal.
const NORMAL_QUANTILE: f64 = 1.281_551_565_544_6;
/// Differences beyond that many scales count as so large in the estimate of the correlation.
const CLIP: f64 = 3.5;
/// The estimate of an uncorrelated series' correlation is less than that many of its standard errors in nine of ten.
const GATE: f64 = 1.28;
/// Correlations beyond this are no noise but levels.
const MOST_CORRELATED: f64 = 0.8;
/// Scales are rounded to powers of this, relative to that of a beginning: a new point rarely changes what all others cost.
const SCALE_STEP: f64 = 1.05;
/// Long-run factors are rounded to powers of this.
const FACTOR_STEP: f64 = 1.15;

/// The noise as the segmentation uses it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Noise {
    /// The variance of a point whose own variance is 1.
    pub(super) variance: f64,
    /// By how much the variance of a mean exceeds that of uncorrelated points: (1 + r) / (1 - r) of an autoregression.
    pub(super) long_run_factor: f64,
}

/// Keeps what the noise is estimated from, in order.
#[derive(Debug, Clone)]
pub(super) struct NoiseEstimate {
    known_variances: bool,
    values: Vec<f64>,
    variances: Vec<f64>,
    /// Differences between neighbours, in standard deviations, without sign, sorted.
    differences: Vec<f64>,
    /// Different values, sorted.
    distinct: Vec<f64>,
    quantum: f64,
    /// The scale of the longest beginning whose length is a power of two.
    reference: f64,
    sums: ClippedSums,
}

/// Sums of squared differences of neighbours and of points with one between, none counted beyond a limit.
#[derive(Debug, Clone, Copy, Default)]
struct ClippedSums {
    limit: f64,
    points: usize,
    next: f64,
    after_next: f64,
}

impl NoiseEstimate {
    pub(super) fn new(known_variances: bool) -> Self {
        Self {
            known_variances,
            values: Vec::new(),
            variances: Vec::new(),
            differences: Vec::new(),
            distinct: Vec::new(),
            quantum: f64::INFINITY,
            reference: 0.0,
            sums: ClippedSums::default(),
        }
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(super) fn variances(&self) -> &[f64] {
        &self.variances
    }

    pub(super) fn push(&mut self, value: f64, variance: f64) {
        self.values.push(value);
        self.variances.push(variance);
        if !self.known_variances {
            self.add_distinct(value);
        }
        if self.values.len() > 1 {
            let difference = self.difference(self.values.len() - 1, 1).abs();
            let at = self.differences.partition_point(|other| *other < difference);
            self.differences.insert(at, difference);
        }
        if self.values.len().is_power_of_two() {
            self.reference = self.scale();
        }
    }

    /// The noise of all points; none where they are all equal.
    pub(super) fn noise(&mut self) -> Option<Noise> {
        let scale = rounded(self.scale(), self.reference, SCALE_STEP);
        let factor = if scale > 0.0 { rounded(self.long_run_factor(scale), 1.0, FACTOR_STEP) } else { 1.0 };
        let correlation = (factor - 1.0) / (factor + 1.0);
        let mut variance = scale * scale / (1.0 - correlation);
        if self.known_variances {
            variance = variance.max(1.0);
        } else if self.quantum.is_finite() {
            // Values are rounded to the quantum, and the error of rounding is spread evenly over it.
            variance = variance.max(self.quantum * self.quantum / 12.0);
        }
        (variance > 0.0).then_some(Noise { variance, long_run_factor: factor })
    }

    /// The difference to the point `lag` before, in standard deviations of it that the points' own variances give.
    fn difference(&self, index: usize, lag: usize) -> f64 {
        let before = index - lag;
        (self.values[index] - self.values[before]) / (self.variances[index] + self.variances[before]).sqrt()
    }

    fn scale(&self) -> f64 {
        let count = self.differences.len();
        let rank = (RANK.0 * count).div_ceil(RANK.1);
        self.differences.get(rank.saturating_sub(1)).map_or(0.0, |difference| difference / NORMAL_QUANTILE)
    }

    /// Of an autoregression, from the ratio of the variances of differences at lags 2 and 1, which is 1 + r; it does not
    /// depend on levels. What chance makes of uncorrelated points is none.
    fn long_run_factor(&mut self, scale: f64) -> f64 {
        let limit = CLIP * scale;
        if self.sums.limit.total_cmp(&limit).is_ne() {
            self.sums = ClippedSums { limit, ..ClippedSums::default() };
        }
        let mut sums = self.sums;
        for index in sums.points..self.values.len() {
            if index >= 1 {
                sums.next += self.difference(index, 1).clamp(-limit, limit).powi(2);
            }
            if index >= 2 {
                sums.after_next += self.difference(index, 2).clamp(-limit, limit).powi(2);
            }
        }
        sums.points = self.values.len();
        self.sums = sums;
        if sums.points < 4 || sums.next == 0.0 {
            return 1.0;
        }
        let points = sums.points as f64;
        let correlation = (sums.after_next / (points - 2.0)) / (sums.next / (points - 1.0)) - 1.0;
        if correlation < GATE * SQRT_2 / points.sqrt() {
            return 1.0;
        }
        let correlation = correlation.min(MOST_CORRELATED);
        (1.0 + correlation) / (1.0 - correlation)
    }

    fn add_distinct(&mut self, value: f64) {
        let at = self.distinct.partition_point(|other| *other < value);
        if self.distinct.get(at) == Some(&value) {
            return;
        }
        if let Some(above) = self.distinct.get(at) {
            self.quantum = self.quantum.min(above - value);
        }
        if let Some(below) = at.checked_sub(1).and_then(|below| self.distinct.get(below)) {
            self.quantum = self.quantum.min(value - below);
        }
        self.distinct.insert(at, value);
    }
}

/// The nearest value that is a power of `step` times the reference.
fn rounded(value: f64, reference: f64, step: f64) -> f64 {
    if value > 0.0 && reference > 0.0 {
        reference * step.powf(((value / reference).ln() / step.ln()).round())
    } else {
        value
    }
}
