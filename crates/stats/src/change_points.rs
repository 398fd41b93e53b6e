//! Change points of a series of levels: where it steps, by how much, how sure that is.
//!
//! The series is cut where that lowers the sum of the points' losses by more than a penalty. The loss is the squared
//! residual in units of the point's variance, and bounded: a wild point costs no more than nine (Fearnhead & Rigaill
//! 2019), so no single or double spike is a change, not even as the last point. The penalty is the gain that a series
//! without a change reaches with at most the probability `level`, from simulated series ([`thresholds`]); it grows by the
//! long-run factor of correlated noise, and by what the caller adds for a commit: without end where the code is identical.
//!
//! The result is a function of the whole series. [`ChangeSearch`] keeps what it needs to go on with a new point, and
//! gives the same as from the beginning: the noise is rounded to steps, and all is computed again where it reaches
//! another step.

mod disturbed;
mod noise;
mod segmentation;
#[cfg(test)]
mod tests;
pub mod thresholds;

use thiserror::Error;

pub use disturbed::Disturbed;

use disturbed::disturbed;
use noise::{Noise, NoiseEstimate};
use segmentation::{OUTLIER, Segment, Segmentation};

/// A series of fewer points has no change points: its noise is not known.
pub const LEAST_POINTS: usize = 8;
/// A change is confirmed by so many points from it on.
pub const CONFIRMATION: usize = 3;
/// Standard normal quantile of a two-sided interval of 95 %.
const NORMAL_95: f64 = 1.959_963_984_540_05;
/// A commit belongs to the places where a change can be, with 95 %, if it costs at most this much more than the best:
/// the limit x of (1 - exp(-x / 2))^2 = 0.95; Eo & Morley, "Likelihood-ratio-based confidence sets for the timing of
/// structural breaks", Quantitative Economics 6 (2015).
const PLACE_95: f64 = 7.352;
/// Steps in a row are a ramp if their segments rise too, by so many standard errors.
const RAMP_SCORE: f64 = 4.0;
/// Rounds in which the level of a stretch of points is looked for.
const LEVEL_ROUNDS: usize = 20;
/// A round that lowers the sum of losses by less is the last.
const LOSS_TOLERANCE: f64 = 1e-6;
/// Sums of losses that are computed side by side.
const LANES: usize = 4;

/// One point of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeriesPoint {
    /// Its value; of a metric the logarithm.
    pub value: f64,
    /// The variance of the value; 1 where none is known.
    pub variance: f64,
    /// What a change between the point before and this one costs more than elsewhere, in units of [`ChangePoint::gain`];
    /// infinite where there can be none, minus infinite where one is known and costs nothing.
    pub penalty: f64,
}

/// How a series changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// From one point to the next.
    Step,
    /// Bit by bit: one of several changes in one direction between which it rises, or falls, too.
    Ramp,
}

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// The first point of the new level.
    pub index: usize,
    /// The first and the last point that can be the first of the new level, with 95 %.
    pub places: (usize, usize),
    /// The level before.
    pub before: f64,
    /// The level after.
    pub after: f64,
    /// Interval of 95 % of `after - before`, given where the change is.
    pub interval: (f64, f64),
    /// By how much the change lowers the sum of losses, over the long-run factor; of two that are one stretch, each half.
    pub gain: f64,
    /// Probability, at most, that a series of this length without a change has a gain so large somewhere.
    pub p: f64,
    /// A step, or part of a ramp.
    pub kind: Kind,
}

/// What a series consists of.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Changes {
    /// In order.
    pub changes: Vec<ChangePoint>,
    /// Points more than three standard deviations from the level around them, in order.
    pub spikes: Vec<usize>,
    /// Stretches in which every other point or more is a spike, in order.
    pub disturbed: Vec<Disturbed>,
    /// Standard deviation of a point whose variance is 1; 0 where the series does not vary or is too short.
    pub noise_sd: f64,
    /// By how much correlation raises the variance of a mean.
    pub long_run_factor: f64,
}

/// Why a series cannot be searched.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum ChangeError {
    /// A value is not finite.
    #[error("a value is not finite: {0}")]
    Value(f64),
    /// A variance is not above 0.
    #[error("a variance is not above 0: {0}")]
    Variance(f64),
    /// A penalty is no number.
    #[error("a penalty is no number")]
    Penalty,
    /// The level is one for which there are no thresholds.
    #[error("the level {0} is not between {low} and {high}", low = thresholds::TAILS[thresholds::TAILS.len() - 1], high = thresholds::TAILS[0])]
    SearchLevel(f64),
}

/// A series that grows, and the search for its changes.
#[derive(Debug, Clone)]
pub struct ChangeSearch {
    level: f64,
    known_variances: bool,
    noise: NoiseEstimate,
    penalties: Vec<f64>,
    points: Points,
    segmentation: Segmentation,
    /// What the segmentation was computed with.
    terms: Option<Terms>,
    known: KnownSegments,
}

/// What the cost of a segmentation depends on, beside the points.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Terms {
    noise: Noise,
    penalty: f64,
}

impl ChangeSearch {
    /// An empty series. A flat one of independent points has a change with at most the probability `level`. Where
    /// variances are known, noise is not taken as less than they say, but may be more.
    ///
    /// # Errors
    ///
    /// If there are no thresholds for the level.
    pub fn new(level: f64, known_variances: bool) -> Result<Self, ChangeError> {
        if !(thresholds::TAILS[thresholds::TAILS.len() - 1]..=thresholds::TAILS[0]).contains(&level) {
            return Err(ChangeError::SearchLevel(level));
        }
        Ok(Self {
            level,
            known_variances,
            noise: NoiseEstimate::new(known_variances),
            penalties: Vec::new(),
            points: Points::default(),
            segmentation: Segmentation::default(),
            terms: None,
            known: KnownSegments::default(),
        })
    }

    /// Adds a point.
    ///
    /// # Errors
    ///
    /// If one of its numbers is none that this can be computed from; the series stays as it was.
    pub fn push(&mut self, point: SeriesPoint) -> Result<(), ChangeError> {
        if !point.value.is_finite() {
            return Err(ChangeError::Value(point.value));
        }
        if !(point.variance.is_finite() && point.variance > 0.0) {
            return Err(ChangeError::Variance(point.variance));
        }
        if point.penalty.is_nan() {
            return Err(ChangeError::Penalty);
        }
        self.noise.push(point.value, point.variance);
        self.penalties.push(point.penalty);
        Ok(())
    }

    /// Number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        self.penalties.len()
    }

    /// Whether there are no points.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.penalties.is_empty()
    }

    /// The changes of all points so far.
    pub fn changes(&mut self) -> Changes {
        let Some(noise) = self.usable_noise() else {
            return Changes { long_run_factor: 1.0, ..Changes::default() };
        };
        let penalty = thresholds::gain(self.level, self.len(), self.known_variances);
        let segments = self.segments(Terms { noise, penalty });
        let factor = noise.long_run_factor;
        self.known.update(&self.points, &segments, PLACE_95 * factor);
        let mut changes: Vec<_> = self
            .known
            .gains()
            .iter()
            .enumerate()
            .map(|(first, gain)| self.change(first, gain / factor, factor))
            .collect();
        mark_ramps(&self.points, &segments, &mut changes, factor);
        let spikes = self.known.spikes.clone();
        let disturbed = disturbed(&spikes, self.len(), penalty * factor, CONFIRMATION)
            .iter()
            .map(|stretch| Disturbed { start: stretch.start, end: stretch.end, p: self.p(stretch.gain / factor) })
            .collect();
        Changes { changes, spikes, disturbed, noise_sd: noise.variance.sqrt(), long_run_factor: factor }
    }

    /// The least penalty at which the series has no change, up to a hundredth; `least` if it has none there.
    /// Thresholds are quantiles of it over series without changes.
    pub fn critical_gain(&mut self, least: f64) -> f64 {
        let Some(noise) = self.usable_noise() else { return least };
        let mut penalty = least;
        loop {
            let segments = self.segments(Terms { noise, penalty });
            if segments.len() < 2 {
                return penalty;
            }
            penalty = (self.points.gain(&segments) / noise.long_run_factor).max(penalty * 1.01);
        }
    }

    fn usable_noise(&mut self) -> Option<Noise> {
        if self.len() < LEAST_POINTS { None } else { self.noise.noise() }
    }

    /// The cheapest segments; a last one that is too short to be confirmed counts to the one before.
    fn segments(&mut self, terms: Terms) -> Vec<Segment> {
        if self.terms != Some(terms) {
            self.segmentation.clear();
            self.known = KnownSegments::default();
            self.terms = Some(terms);
        }
        let Terms { noise, penalty } = terms;
        self.points.extend(&self.noise, noise);
        for index in self.segmentation.len()..self.points.values.len() {
            let penalty = (penalty + self.penalties[index]).max(0.0) * noise.long_run_factor;
            self.segmentation.push(self.points.values[index], self.points.weights[index], penalty);
        }
        let mut segments = self.segmentation.segments();
        while let [.., before, last] = segments.as_mut_slice()
            && last.end - last.start < CONFIRMATION
        {
            before.end = last.end;
            segments.pop();
        }
        segments
    }

    fn p(&self, gain: f64) -> f64 {
        thresholds::probability(gain, self.len(), self.known_variances)
    }

    /// The change from one of the known segments to the next.
    fn change(&self, first: usize, gain: f64, factor: f64) -> ChangePoint {
        let known = &self.known;
        let (before, after) = (known.segments[first], known.segments[first + 1]);
        let change = after.level - before.level;
        let error = (factor * (1.0 / known.weights[first] + 1.0 / known.weights[first + 1])).sqrt();
        let origin = self.noise.values()[0];
        ChangePoint {
            index: after.start,
            places: known.places[first],
            before: before.level + origin,
            after: after.level + origin,
            interval: (change - NORMAL_95 * error, change + NORMAL_95 * error),
            gain,
            p: self.p(gain),
            kind: Kind::Step,
        }
    }
}

/// The last segmentation and what was computed of it: of segments that stay as they were nothing is computed again.
#[derive(Debug, Clone, Default)]
struct KnownSegments {
    segments: Vec<Segment>,
    /// Gains of neighbouring segments, two at a time.
    of_two: Vec<f64>,
    /// The same of three.
    of_three: Vec<f64>,
    /// Weights of the segments' points without outliers.
    weights: Vec<f64>,
    /// Between neighbouring segments, where the second one can begin.
    places: Vec<(usize, usize)>,
    /// The outliers of all segments.
    spikes: Vec<usize>,
}

impl KnownSegments {
    /// Takes a new segmentation; `place_limit` is what another place of a change may cost.
    fn update(&mut self, points: &Points, segments: &[Segment], place_limit: f64) {
        let same = self.segments.iter().zip(segments).take_while(|(known, segment)| known == segment).count();
        let pairs = same.saturating_sub(1);
        self.of_two.truncate(pairs);
        self.of_two.extend(segments.windows(2).skip(pairs).map(|two| points.gain(two)));
        self.places.truncate(pairs);
        self.places.extend(segments.windows(2).skip(pairs).map(|two| points.places(two[0], two[1], place_limit)));
        self.of_three.truncate(same.saturating_sub(2));
        self.of_three.extend(segments.windows(3).skip(self.of_three.len()).map(|three| {
            let turns = (three[1].level > three[0].level) != (three[2].level > three[1].level);
            if turns { 2.0 * points.gain(three) } else { f64::INFINITY }
        }));
        self.weights.truncate(same);
        self.weights.extend(segments.iter().skip(same).map(|segment| points.weight(*segment)));
        let start = segments[..same].last().map_or(0, |segment| segment.end);
        self.spikes.truncate(self.spikes.partition_point(|&spike| spike < start));
        self.spikes.extend(
            segments
                .iter()
                .skip(same)
                .flat_map(|segment| (segment.start..segment.end).map(|index| (index, segment.level)))
                .filter(|&(index, level)| !points.is_near(index, level))
                .map(|(index, _)| index),
        );
        self.segments = segments.to_vec();
    }

    /// What each change lowers the sum of losses by, at the penalty at which it would be given up.
    ///
    /// That is its own gain, but where it is one of two ends of a stretch: if both are clear by themselves, they are given
    /// up together, at half of what they gain together; if the other is given up before, this one gains what is left.
    fn gains(&self) -> Vec<f64> {
        let mut gains = self.of_two.clone();
        for (first, both) in self.of_three.iter().enumerate() {
            for (change, other) in [(first, first + 1), (first + 1, first)] {
                gains[change] = gains[change].min((both / 2.0).max(both - self.of_two[other]));
            }
        }
        gains
    }
}

/// The points of a series in the unit of its noise.
#[derive(Debug, Clone, Default)]
struct Points {
    /// From the first one's.
    values: Vec<f64>,
    /// Inverse variances.
    weights: Vec<f64>,
    variance: f64,
}

/// Of the losses of points around a level: their sum, and weight and weighted sum of those that are no outliers.
#[derive(Debug, Clone, Copy, Default)]
struct LossSums {
    losses: f64,
    weight: f64,
    weighted: f64,
}

impl Points {
    fn extend(&mut self, series: &NoiseEstimate, noise: Noise) {
        if self.variance.total_cmp(&noise.variance).is_ne() {
            self.weights.clear();
            self.variance = noise.variance;
        }
        let (values, variances) = (series.values(), series.variances());
        self.values.extend(values[self.values.len()..].iter().map(|value| value - values[0]));
        self.weights.extend(variances[self.weights.len()..].iter().map(|variance| 1.0 / (variance * noise.variance)));
    }

    fn loss(&self, index: usize, level: f64) -> f64 {
        (self.weights[index] * (self.values[index] - level).powi(2)).min(OUTLIER * OUTLIER)
    }

    fn losses(&self, segment: Segment) -> f64 {
        (segment.start..segment.end).map(|index| self.loss(index, segment.level)).sum()
    }

    fn is_near(&self, index: usize, level: f64) -> bool {
        self.loss(index, level) < OUTLIER * OUTLIER
    }

    /// The weight of a segment's points without outliers.
    fn weight(&self, segment: Segment) -> f64 {
        (segment.start..segment.end)
            .filter(|&index| self.is_near(index, segment.level))
            .map(|index| self.weights[index])
            .sum()
    }

    /// The least sum of losses around one level, looked for from the segments' mean on. Where their levels are so far apart
    /// that points of one are outliers of another, it may have several minima: it is looked for from each level, too.
    fn least_loss(&self, segments: &[Segment]) -> f64 {
        let [first, .., last] = segments else { return 0.0 };
        let length = |segment: &Segment| (segment.end - segment.start) as f64;
        let mean = segments.iter().map(|segment| length(segment) * segment.level).sum::<f64>()
            / segments.iter().map(length).sum::<f64>();
        let (lowest, highest) =
            segments.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lowest, highest), segment| {
                (lowest.min(segment.level), highest.max(segment.level))
            });
        let weight = self.weights[first.start..last.end].iter().copied().fold(0.0, f64::max);
        let levels = if (highest - lowest) * weight.sqrt() <= OUTLIER { &[] } else { segments };
        let from = levels.iter().map(|segment| segment.level).chain([mean]);
        from.map(|level| self.descend(first.start, last.end, level)).fold(f64::INFINITY, f64::min)
    }

    /// By how much the changes between segments lower the sum of losses, each of them.
    fn gain(&self, segments: &[Segment]) -> f64 {
        if segments.len() < 2 {
            return 0.0;
        }
        let together = self.least_loss(segments);
        let apart: f64 = segments.iter().map(|segment| self.losses(*segment)).sum();
        (together - apart) / (segments.len() - 1) as f64
    }

    /// Moves a level to the mean of the points near it until that stays where it is; returns the sum of losses there.
    fn descend(&self, start: usize, end: usize, mut level: f64) -> f64 {
        let mut least = f64::INFINITY;
        for _ in 0..LEVEL_ROUNDS {
            let sums = self.loss_sums(start, end, level);
            if sums.losses > least - LOSS_TOLERANCE {
                return least.min(sums.losses);
            }
            least = sums.losses;
            if sums.weight > 0.0 {
                level = sums.weighted / sums.weight;
            }
        }
        least
    }

    fn loss_sums(&self, start: usize, end: usize, level: f64) -> LossSums {
        // Four sums side by side, of chunks whose length is known: the processor computes them at once.
        let mut sums = [LossSums::default(); LANES];
        let mut add = |lane: usize, value: f64, weight: f64| {
            let loss = weight * (value - level) * (value - level);
            let near = if loss < OUTLIER * OUTLIER { weight } else { 0.0 };
            sums[lane].losses += loss.min(OUTLIER * OUTLIER);
            sums[lane].weight += near;
            sums[lane].weighted += near * value;
        };
        let (values, rest_of_values) = self.values[start..end].as_chunks::<LANES>();
        let (weights, rest_of_weights) = self.weights[start..end].as_chunks::<LANES>();
        for (values, weights) in values.iter().zip(weights) {
            for lane in 0..LANES {
                add(lane, values[lane], weights[lane]);
            }
        }
        for (lane, (value, weight)) in rest_of_values.iter().zip(rest_of_weights).enumerate() {
            add(lane, *value, *weight);
        }
        sums.iter().fold(LossSums::default(), |all, lane| LossSums {
            losses: all.losses + lane.losses,
            weight: all.weight + lane.weight,
            weighted: all.weighted + lane.weighted,
        })
    }

    /// Between two segments, the first and the last point at which the second one can begin at a cost within `limit`.
    fn places(&self, before: Segment, after: Segment, limit: f64) -> (usize, usize) {
        let excess = |index: usize| self.loss(index, before.level) - self.loss(index, after.level);
        let (mut first, mut last) = (after.start, after.start);
        let mut cost = 0.0;
        for index in (before.start + 1..after.start).rev() {
            cost -= excess(index);
            if cost <= limit {
                first = index;
            }
        }
        cost = 0.0;
        for index in after.start..after.end - 1 {
            cost += excess(index);
            if cost <= limit {
                last = index + 1;
            }
        }
        (first, last)
    }

    /// Slope within a segment over the points that are no outliers: the sums of its estimate and of its weight.
    fn slope(&self, segment: Segment) -> (f64, f64) {
        let near = || (segment.start..segment.end).filter(|&index| self.is_near(index, segment.level));
        let weight: f64 = near().map(|index| self.weights[index]).sum();
        let middle = near().map(|index| self.weights[index] * index as f64).sum::<f64>() / weight;
        near().fold((0.0, 0.0), |(sum, squares), index| {
            let (own, from_middle) = (self.weights[index], index as f64 - middle);
            (sum + own * from_middle * (self.values[index] - segment.level), squares + own * from_middle * from_middle)
        })
    }
}

/// Marks changes in a row in one direction as a ramp, where the segments between them go that way too.
fn mark_ramps(points: &Points, segments: &[Segment], changes: &mut [ChangePoint], factor: f64) {
    let rises = |change: &ChangePoint| change.after > change.before;
    let mut start = 0;
    while start < changes.len() {
        let up = rises(&changes[start]);
        let end = start + changes[start..].iter().take_while(|change| rises(change) == up).count();
        let (sum, squares) = segments[start + 1..end].iter().fold((0.0, 0.0), |(sum, squares), segment| {
            let (own_sum, own_squares) = points.slope(*segment);
            (sum + own_sum, squares + own_squares)
        });
        let score = if squares > 0.0 { sum / (factor * squares).sqrt() } else { 0.0 };
        if end - start > 1 && (if up { score } else { -score }) >= RAMP_SCORE {
            changes[start..end].iter_mut().for_each(|change| change.kind = Kind::Ramp);
        }
        start = end;
    }
}
