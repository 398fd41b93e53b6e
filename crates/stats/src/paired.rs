//! One metric, measured in pairs on two sides.

use statrs::distribution::{ContinuousCDF, StudentsT};
use thiserror::Error;

/// Power at which [`PairedChange::detectable`] is stated.
const POWER: f64 = 0.9;

/// How a metric changed from base to head.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedChange {
    /// Relative change, (head - base) / base: exp of the mean log ratio, less 1.
    pub change: f64,
    /// Lower end of the confidence interval of `change`.
    pub low: f64,
    /// Upper end of the confidence interval of `change`.
    pub high: f64,
    /// Two-sided p value of no change.
    pub p: f64,
    /// Standard deviation of a pair's log ratio, as used: not below the floor.
    pub sd: f64,
    /// The smallest relative change that would have been detected with 90 % power.
    pub detectable: f64,
    /// Number of pairs.
    pub pairs: usize,
}

/// Why a change cannot be given.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum PairedError {
    /// The two sides do not pair up.
    #[error("{base} samples of base and {head} of head do not make pairs")]
    Lengths {
        /// Samples of base.
        base: usize,
        /// Samples of head.
        head: usize,
    },
    /// The spread cannot be estimated from one pair.
    #[error("{pairs} pairs are too few: at least 2 are needed")]
    TooFew {
        /// Number of pairs.
        pairs: usize,
    },
    /// One side is 0 throughout, the other is not: there is no ratio, yet there is a change.
    #[error("one side is 0 in all samples: the change has no ratio")]
    ZeroSide,
    /// A sample is 0 while others of its side are not, negative, or not finite.
    #[error("sample {index} is {value}: a ratio needs positive numbers")]
    NotPositive {
        /// Its place within its side.
        index: usize,
        /// The sample.
        value: f64,
    },
    /// Confidence is not between 0 and 1.
    #[error("confidence {0} is not between 0 and 1")]
    Confidence(f64),
    /// The floor of the standard deviation is negative or not finite.
    #[error("the floor of the standard deviation is {0}, which is not a finite number from 0 on")]
    Floor(f64),
}

/// The change from `base` to `head`; samples of the same index are a pair.
///
/// Student's paired t on the log ratios of the pairs, with n - 1 degrees of freedom. `sd_floor` is the instrument's
/// resolution, as a standard deviation of log ratios: samples that agree better than that do not make the interval
/// narrower. `confidence` is that of the interval, such as 0.99.
///
/// `detectable` is (t(1 - a/2) + t(0.9)) * sd / sqrt(n), as exp less 1, for a = 1 - `confidence`: NIST/SEMATECH e-Handbook
/// of Statistical Methods, 7.2.2.2, "Sample sizes required", solved for the difference.
///
/// When all samples of both sides are 0, nothing changed, for sure.
///
/// # Errors
/// [`PairedError::ZeroSide`] when exactly one side is 0 throughout; others as described at each of [`PairedError`].
pub fn paired_change(base: &[f64], head: &[f64], sd_floor: f64, confidence: f64) -> Result<PairedChange, PairedError> {
    if base.len() != head.len() {
        return Err(PairedError::Lengths { base: base.len(), head: head.len() });
    }
    let pairs = base.len();
    if pairs < 2 {
        return Err(PairedError::TooFew { pairs });
    }
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(PairedError::Confidence(confidence));
    }
    if !(sd_floor >= 0.0 && sd_floor.is_finite()) {
        return Err(PairedError::Floor(sd_floor));
    }
    match (all_zero(base), all_zero(head)) {
        (true, true) => {
            return Ok(PairedChange { change: 0.0, low: 0.0, high: 0.0, p: 1.0, sd: 0.0, detectable: 0.0, pairs });
        }
        (true, false) => return all_positive(head).and(Err(PairedError::ZeroSide)),
        (false, true) => return all_positive(base).and(Err(PairedError::ZeroSide)),
        (false, false) => all_positive(base).and(all_positive(head))?,
    }
    let ratios: Vec<f64> = base.iter().zip(head).map(|(base, head)| head.ln() - base.ln()).collect();
    let mean = ratios.iter().sum::<f64>() / pairs as f64;
    let degrees = (pairs - 1) as f64;
    let variance = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / degrees;
    let sd = variance.sqrt().max(sd_floor);
    let error = sd / (pairs as f64).sqrt();

    // Degrees of freedom from 1 on make a distribution.
    let student = StudentsT::new(0.0, 1.0, degrees).map_err(|_| PairedError::TooFew { pairs })?;
    let critical = student.inverse_cdf(f64::midpoint(1.0, confidence));
    let p = match (error > 0.0, mean == 0.0) {
        (true, _) => (2.0 * student.cdf(-(mean / error).abs())).min(1.0),
        (false, true) => 1.0,
        (false, false) => 0.0,
    };
    Ok(PairedChange {
        change: mean.exp_m1(),
        low: (mean - critical * error).exp_m1(),
        high: (mean + critical * error).exp_m1(),
        p,
        sd,
        detectable: ((critical + student.inverse_cdf(POWER)) * error).exp_m1(),
        pairs,
    })
}

fn all_zero(samples: &[f64]) -> bool {
    samples.iter().all(|sample| *sample == 0.0)
}

fn all_positive(samples: &[f64]) -> Result<(), PairedError> {
    match samples.iter().copied().enumerate().find(|(_, value)| !(*value > 0.0 && value.is_finite())) {
        Some((index, value)) => Err(PairedError::NotPositive { index, value }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
