//! Drift: what no single change shows, because each is below what can be seen.
//!
//! [`cusum`] says when a series has left a reference for good, [`slope`] how fast it moves, and [`equivalence`] whether two
//! levels are the same within a margin.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use thiserror::Error;

/// More points are thinned to about so many: the median of all slopes between them takes the square of their number.
const MOST_POINTS: usize = 400;

/// When a cumulative sum left its limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CusumAlarm {
    /// The point at which the sum passed the limit.
    pub index: usize,
    /// The first point of the sum: where the departure began.
    pub start: usize,
    /// Whether the values went up.
    pub up: bool,
}

/// A slope with its interval of 95 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slope {
    /// Change of the value for each unit of the position.
    pub slope: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Why there is no slope or no test.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum DriftError {
    /// Positions and values are not equally many.
    #[error("{positions} positions but {values} values")]
    Lengths {
        /// Number of positions.
        positions: usize,
        /// Number of values.
        values: usize,
    },
    /// All positions are the same, or there are fewer than three.
    #[error("a slope needs three points at different positions")]
    TooFew,
    /// A number is none that this can be computed from.
    #[error("{0} is no number that this can be computed from")]
    NotANumber(f64),
}

/// The first time at which the cumulative sum of standardised residuals, each less `slack`, passes `limit`, upwards or
/// downwards; Page, "Continuous Inspection Schemes", Biometrika 41 (1954).
///
/// With slack 0.25 and limit 14, independent normal residuals pass it, upwards, once in some 11,000 points.
///
/// # Errors
///
/// If a residual is not finite, or slack or limit are not above 0.
pub fn cusum(residuals: &[f64], slack: f64, limit: f64) -> Result<Option<CusumAlarm>, DriftError> {
    all_finite(residuals)?;
    for parameter in [slack, limit] {
        if !(parameter.is_finite() && parameter > 0.0) {
            return Err(DriftError::NotANumber(parameter));
        }
    }
    let mut sums = [(0.0, 0); 2];
    for (index, residual) in residuals.iter().enumerate() {
        for ((sum, start), (direction, up)) in sums.iter_mut().zip([(1.0, true), (-1.0, false)]) {
            if *sum == 0.0 {
                *start = index;
            }
            *sum = f64::max(0.0, *sum + direction * residual - slack);
            if *sum > limit {
                return Ok(Some(CusumAlarm { index, start: *start, up }));
            }
        }
    }
    Ok(None)
}

/// The median of the slopes between all points, which a third of wild points does not move; Sen, "Estimates of the
/// Regression Coefficient Based on Kendall's Tau", Journal of the American Statistical Association 63 (1968), with its
/// interval. `long_run_factor` is by how much correlation raises the variance of a mean.
///
/// # Errors
///
/// If lengths differ, a number is not finite, or fewer than three points are at different positions.
pub fn slope(positions: &[f64], values: &[f64], long_run_factor: f64) -> Result<Slope, DriftError> {
    if positions.len() != values.len() {
        return Err(DriftError::Lengths { positions: positions.len(), values: values.len() });
    }
    all_finite(positions)?;
    all_finite(values)?;
    if !(long_run_factor.is_finite() && long_run_factor > 0.0) {
        return Err(DriftError::NotANumber(long_run_factor));
    }
    let every = positions.len().div_ceil(MOST_POINTS).max(1);
    let points: Vec<_> = positions.iter().zip(values).step_by(every).collect();
    let mut slopes = Vec::with_capacity(points.len() * points.len() / 2);
    for (index, (position, value)) in points.iter().enumerate() {
        for (other, other_value) in &points[index + 1..] {
            let distance = *other - *position;
            if distance.abs() > 0.0 {
                slopes.push((*other_value - *value) / distance);
            }
        }
    }
    if points.len() < 3 || slopes.is_empty() {
        return Err(DriftError::TooFew);
    }
    slopes.sort_by(f64::total_cmp);
    // Variance of Kendall's score of so many points without ties, Sen 1968, equation 2.6.
    let count = points.len() as f64;
    let deviation = (long_run_factor * count * (count - 1.0) * (2.0 * count + 5.0) / 18.0).sqrt();
    let reach = Normal::standard().inverse_cdf(0.975) * deviation;
    let last = slopes.len() - 1;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank between 0 and their number")]
    let low = (((slopes.len() as f64 - reach) / 2.0).floor().max(0.0) as usize).min(last);
    Ok(Slope { slope: median(&slopes), low: slopes[low], high: slopes[last - low] })
}

/// The p values of two one-sided tests: that a change is not above `-margin`, and that it is not below `margin`. The
/// change lies within the margin where both are small; Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15
/// (1987).
///
/// # Errors
///
/// If a number is not finite, or error, degrees or margin are not above 0.
pub fn equivalence(change: f64, error: f64, degrees: f64, margin: f64) -> Result<(f64, f64), DriftError> {
    all_finite(&[change])?;
    for parameter in [error, degrees, margin] {
        if !(parameter.is_finite() && parameter > 0.0) {
            return Err(DriftError::NotANumber(parameter));
        }
    }
    let t = StudentsT::new(0.0, 1.0, degrees).map_err(|_| DriftError::NotANumber(degrees))?;
    Ok((t.cdf(-(change + margin) / error), t.cdf((change - margin) / error)))
}

fn all_finite(values: &[f64]) -> Result<(), DriftError> {
    values.iter().find(|value| !value.is_finite()).map_or(Ok(()), |value| Err(DriftError::NotANumber(*value)))
}

/// Of sorted values, of which there is at least one.
fn median(sorted: &[f64]) -> f64 {
    f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_shift_passes_the_limit_after_the_points_that_it_takes() {
        let residuals: Vec<f64> = (0..40).map(|index| if index < 20 { 0.0 } else { 1.0 }).collect();
        let alarm = cusum(&residuals, 0.25, 3.0).expect("finite numbers").expect("finite numbers");
        assert_eq!(alarm, CusumAlarm { index: 24, start: 20, up: true });
        assert_eq!(cusum(&residuals, 0.25, 100.0).expect("finite numbers"), None);
    }

    #[test]
    fn a_line_with_wild_points_has_its_slope() {
        let positions: Vec<f64> = (0..60).map(f64::from).collect();
        let mut values: Vec<f64> = positions.iter().map(|position| 0.5 * position).collect();
        values[30] = 1e6;
        let found = slope(&positions, &values, 1.0).expect("finite numbers");
        assert!((found.slope - 0.5).abs() < 1e-9, "{found:?}");
        assert!(found.low <= 0.5 && found.high >= 0.5);
    }

    #[test]
    fn a_small_change_is_within_the_margin_and_a_large_one_is_not() {
        let (low, high) = equivalence(0.001, 0.002, 20.0, 0.02).expect("finite numbers");
        assert!(low < 0.001 && high < 0.001);
        let (low, high) = equivalence(0.02, 0.002, 20.0, 0.02).expect("finite numbers");
        assert!(low < 0.001 && (high - 0.5).abs() < 1e-9);
    }

    #[test]
    fn what_cannot_be_computed_is_an_error() {
        assert_eq!(slope(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0], 1.0), Err(DriftError::TooFew));
        assert_eq!(slope(&[1.0], &[], 1.0), Err(DriftError::Lengths { positions: 1, values: 0 }));
        assert_eq!(cusum(&[0.0], 0.0, 1.0), Err(DriftError::NotANumber(0.0)));
        assert!(equivalence(0.0, 0.0, 5.0, 0.1).is_err());
    }

    proptest! {
        #[test]
        fn mirrored_residuals_pass_downwards(residuals in prop::collection::vec(-2.0..3.0_f64, 0..200)) {
            let mirrored: Vec<f64> = residuals.iter().map(|residual| -residual).collect();
            let (alarm, other) = (cusum(&residuals, 0.25, 5.0).expect("finite numbers"), cusum(&mirrored, 0.25, 5.0).expect("finite numbers"));
            prop_assert_eq!(alarm.map(|alarm| CusumAlarm { up: !alarm.up, ..alarm }), other);
        }

        #[test]
        fn the_test_is_mirrored_with_the_sides(change in -0.1..0.1_f64, error in 0.001..0.1_f64) {
            let (low, high) = equivalence(change, error, 9.0, 0.02).expect("finite numbers");
            let (other_low, other_high) = equivalence(-change, error, 9.0, 0.02).expect("finite numbers");
            prop_assert!((low - other_high).abs() < 1e-12 && (high - other_low).abs() < 1e-12);
        }
    }
}
