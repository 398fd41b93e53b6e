//! Few samples, many comparisons alike: variances that borrow strength from each other.
//!
//! Smyth, "Linear Models and Empirical Bayes Methods for Assessing Differential Expression in Microarray Experiments",
//! Statistical Applications in Genetics and Molecular Biology 3 (2004), article 3: the variances of comparisons are
//! taken as draws from a scaled inverse chi-squared distribution, which is fitted to them; each comparison's variance is
//! then drawn towards its centre, and its t has the degrees of freedom of both.
//!
//! Not all comparisons are alike: one whose variance stands out keeps its own, in the manner of Phipson et al., "Robust
//! Hyperparameter Estimation Protects against Hypervariable Genes", Annals of Applied Statistics 10 (2016).

use statrs::distribution::{ContinuousCDF, FisherSnedecor, StudentsT};
use statrs::function::gamma::digamma;
use thiserror::Error;

use crate::paired::PairedChange;

/// More certainty than that is not granted to a prior, however alike the variances are.
pub const MOST_DEGREES: f64 = 60.0;
/// A variance that chance makes so large, against the prior, less often than this is not drawn towards it. So large a
/// share costs little, and keeps noisy cases among quiet ones near their rate of false alarms.
const STANDS_OUT: f64 = 0.25;
/// Standard errors by which two means differ in one of a hundred cases by chance.
const DISAGREEMENT: f64 = 2.576;
/// Power at which the detectable change is stated.
const POWER: f64 = 0.9;
/// Tenths of the values that [`trimmed_mean`] leaves out at either end.
const TRIMMED_TENTHS: usize = 3;

/// A prior of a variance from comparisons of the same kind: its centre, and how many degrees of freedom that is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VariancePrior {
    /// Centre of the variances.
    pub variance: f64,
    /// Degrees of freedom, at most [`MOST_DEGREES`].
    pub degrees: f64,
}

/// A variance as it was seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeenVariance {
    /// The sample variance.
    pub variance: f64,
    /// Its degrees of freedom.
    pub degrees: f64,
}

/// Why a change cannot be given.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum ModeratedError {
    /// The spread can be estimated neither from samples nor from a prior.
    #[error("the spread cannot be estimated from {samples} samples without a prior")]
    TooFew {
        /// Number of samples.
        samples: usize,
    },
    /// A number is not finite, or a variance or its degrees are negative.
    #[error("{0} is no number that this can be computed from")]
    NotANumber(f64),
    /// Confidence is not between 0 and 1.
    #[error("confidence {0} is not between 0 and 1")]
    Confidence(f64),
}

/// The mean without the smallest and the largest three tenths of the values: bad slices do not move it; none of none.
#[must_use]
pub fn trimmed_mean(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let cut = values.len() * TRIMMED_TENTHS / 10;
    let kept = sorted.get(cut..values.len() - cut)?;
    (!kept.is_empty()).then(|| kept.iter().sum::<f64>() / kept.len() as f64)
}

/// Mean and sample variance; none of fewer than two values.
#[must_use]
pub fn sample_variance(values: &[f64]) -> Option<SeenVariance> {
    if values.len() < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let degrees = (values.len() - 1) as f64;
    Some(SeenVariance { variance: values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / degrees, degrees })
}

/// Fits the prior to variances by the moments of their logarithms (Smyth 2004, section 6.2); none of fewer than two.
///
/// Variances of 0 and without degrees of freedom are left out.
#[must_use]
pub fn fit_prior(seen: &[SeenVariance]) -> Option<VariancePrior> {
    let usable = usable(seen);
    let logarithms = logarithms(&usable)?;
    let spread = sample_variance(&logarithms.values)?.variance;
    let expected = logarithms.expected_variance;
    let degrees = if spread > expected { 2.0 * inverse_trigamma(spread - expected) } else { MOST_DEGREES };
    // However alike they are: a comparison's own variance and the prior together are worth no more than all samples are.
    let all: f64 = usable.iter().map(|one| one.degrees).sum();
    let largest = usable.iter().map(|one| one.degrees).fold(0.0, f64::max);
    let degrees = degrees.min(MOST_DEGREES).min(all - largest);
    let variance = (logarithms.mean + digamma(degrees / 2.0) - (degrees / 2.0).ln()).exp();
    Some(VariancePrior { variance, degrees })
}

/// Whether variances of two origins can be of one kind: the means of their logarithms do not differ by more than chance
/// makes them differ in one of a hundred cases. Nothing speaks against it where one origin has none.
///
/// The logarithms' own scatter counts, where it is larger than chance makes it: kinds are not pure.
#[must_use]
pub fn variances_agree(first: &[SeenVariance], second: &[SeenVariance]) -> bool {
    let (Some(first), Some(second)) = (logarithms(&usable(first)), logarithms(&usable(second))) else {
        return true;
    };
    let error = (first.squared_error() + second.squared_error()).sqrt();
    (first.mean - second.mean).abs() <= DISAGREEMENT * error
}

fn usable(seen: &[SeenVariance]) -> Vec<SeenVariance> {
    seen.iter().copied().filter(|one| one.variance > 0.0 && one.degrees > 0.0).collect()
}

/// Logarithms of variances without the bias that few degrees of freedom give them, their mean, and the variance that
/// they have by chance.
struct Logarithms {
    values: Vec<f64>,
    mean: f64,
    expected_variance: f64,
}

impl Logarithms {
    /// That of the mean, by the larger of the variance that is expected and the one that was seen.
    fn squared_error(&self) -> f64 {
        let own = sample_variance(&self.values).map_or(0.0, |own| own.variance);
        own.max(self.expected_variance) / self.values.len() as f64
    }
}

/// Of none there are none.
fn logarithms(seen: &[SeenVariance]) -> Option<Logarithms> {
    let count = (!seen.is_empty()).then_some(seen.len() as f64)?;
    let unbiased = |one: &SeenVariance| one.variance.ln() - digamma(one.degrees / 2.0) + (one.degrees / 2.0).ln();
    let values: Vec<f64> = seen.iter().map(unbiased).collect();
    let mean = values.iter().sum::<f64>() / count;
    let expected_variance = seen.iter().map(|one| trigamma(one.degrees / 2.0)).sum::<f64>() / count;
    Some(Logarithms { values, mean, expected_variance })
}

/// The change estimated from log ratios of starts, their variance moderated by `prior`.
///
/// `sd_floor` is the instrument's resolution and `confidence` the interval's, both as in
/// [`paired_change`](crate::paired::paired_change). The result counts its samples as pairs.
///
/// # Errors
/// As described at each of [`ModeratedError`].
pub fn moderated_change(
    log_ratios: &[f64],
    prior: Option<VariancePrior>,
    sd_floor: f64,
    confidence: f64,
) -> Result<PairedChange, ModeratedError> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(ModeratedError::Confidence(confidence));
    }
    let given = prior.map_or([0.0, 0.0], |prior| [prior.variance, prior.degrees]);
    let numbers = log_ratios.iter().copied().chain([sd_floor]).chain(given);
    if let Some(wrong) = numbers.clone().find(|value| !value.is_finite()) {
        return Err(ModeratedError::NotANumber(wrong));
    }
    if let Some(wrong) = [sd_floor].into_iter().chain(given).find(|value| *value < 0.0) {
        return Err(ModeratedError::NotANumber(wrong));
    }
    let samples = log_ratios.len();
    let own = sample_variance(log_ratios).unwrap_or(SeenVariance { variance: 0.0, degrees: 0.0 });
    let prior = prior.filter(|prior| !stands_out(own, *prior)).unwrap_or(VariancePrior { variance: 0.0, degrees: 0.0 });
    let degrees = own.degrees + prior.degrees;
    if samples == 0 || degrees < 1.0 {
        return Err(ModeratedError::TooFew { samples });
    }
    let variance = (own.variance * own.degrees + prior.variance * prior.degrees) / degrees;
    let sd = variance.sqrt().max(sd_floor);
    let error = sd / (samples as f64).sqrt();
    let mean = log_ratios.iter().sum::<f64>() / samples as f64;
    let student = StudentsT::new(0.0, 1.0, degrees).map_err(|_| ModeratedError::TooFew { samples })?;
    let critical = student.inverse_cdf(f64::midpoint(1.0, confidence));
    let p = if error > 0.0 {
        (2.0 * student.cdf(-(mean / error).abs())).min(1.0)
    } else if mean == 0.0 {
        1.0
    } else {
        0.0
    };
    Ok(PairedChange {
        change: mean.exp_m1(),
        low: (mean - critical * error).exp_m1(),
        high: (mean + critical * error).exp_m1(),
        p,
        sd,
        detectable: ((critical + student.inverse_cdf(POWER)) * error).exp_m1(),
        pairs: samples,
    })
}

/// Whether a variance is larger than chance would make it if the prior held for it.
fn stands_out(own: SeenVariance, prior: VariancePrior) -> bool {
    own.degrees >= 1.0
        && prior.variance > 0.0
        && FisherSnedecor::new(own.degrees, prior.degrees)
            .is_ok_and(|ratios| ratios.sf(own.variance / prior.variance) < STANDS_OUT)
}

/// The second derivative of the logarithm of the gamma function: recurrence up to 10, then its asymptotic series
/// (Abramowitz and Stegun, 6.4.6 and 6.4.12).
fn trigamma(x: f64) -> f64 {
    let mut x = x;
    let mut sum = 0.0;
    while x < 10.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    sum + inverse + square / 2.0 + inverse * square * (1.0 / 6.0 - square * (1.0 / 30.0 - square / 42.0))
}

/// Newton's method on 1/trigamma, which is nearly straight (Smyth 2004, appendix).
fn inverse_trigamma(value: f64) -> f64 {
    let mut x = 0.5 + 1.0 / value;
    for _ in 0..50 {
        let found = trigamma(x);
        let step = found * (1.0 - found / value) / tetragamma(x);
        x += step;
        if (step / x).abs() < 1e-10 {
            break;
        }
    }
    x
}

/// The derivative of [`trigamma`], likewise (Abramowitz and Stegun, 6.4.13).
fn tetragamma(x: f64) -> f64 {
    let mut x = x;
    let mut sum = 0.0;
    while x < 10.0 {
        sum -= 2.0 / (x * x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    sum - square * (1.0 + 1.0 / x + square * (0.5 - square * (1.0 / 6.0 - square / 6.0)))
}

#[cfg(test)]
mod tests;
