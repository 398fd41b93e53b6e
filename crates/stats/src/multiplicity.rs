//! Many comparisons at once: the expected share of false ones among those called.

use thiserror::Error;

/// Why p values cannot be adjusted.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum MultiplicityError {
    /// A value is no probability.
    #[error("p value {index} is {value}, not between 0 and 1")]
    NotAProbability {
        /// Its place in the input.
        index: usize,
        /// The value.
        value: f64,
    },
}

/// Adjusted p values in the order of the input: calling those at most q keeps the false discovery rate at q.
///
/// Step-up procedure of Benjamini and Hochberg, "Controlling the False Discovery Rate", J. R. Statist. Soc. B 57 (1995):
/// the adjusted value of the i-th smallest of m values is the least p(j) * m / j over j >= i, at most 1.
///
/// # Errors
/// When a value is not between 0 and 1.
pub fn adjusted_p(values: &[f64]) -> Result<Vec<f64>, MultiplicityError> {
    for (index, value) in values.iter().copied().enumerate() {
        if !(0.0..=1.0).contains(&value) {
            return Err(MultiplicityError::NotAProbability { index, value });
        }
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut adjusted = vec![0.0; values.len()];
    let mut least = 1.0_f64;
    for (rank, index) in order.into_iter().enumerate().rev() {
        // Not below the value itself, which rounding could make it.
        let scaled = (values[index] * values.len() as f64 / (rank + 1) as f64).max(values[index]);
        least = least.min(scaled);
        adjusted[index] = least;
    }
    Ok(adjusted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{MultiplicityError, adjusted_p};

    fn assert_close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
        }
    }

    /// `scipy.stats.false_discovery_control([0.01, 0.04, 0.03, 0.005, 0.9, 0.04], method="bh")`, scipy 1.17.1.
    #[test]
    fn values_stay_in_the_order_of_the_input() {
        let adjusted = adjusted_p(&[0.01, 0.04, 0.03, 0.005, 0.9, 0.04]);
        assert_close(&adjusted.unwrap_or_default(), &[0.03, 0.048, 0.048, 0.03, 0.9, 0.048]);
    }

    /// The example of the paper's section 3.2: its four smallest values are called at q = 0.05.
    /// `scipy.stats.false_discovery_control(VALUES, method="bh")`, scipy 1.17.1.
    #[test]
    fn the_example_of_the_paper() {
        const VALUES: [f64; 15] = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
            0.7590, 1.0,
        ];
        let adjusted = adjusted_p(&VALUES).unwrap_or_default();
        let expected = [
            0.0015,
            0.003,
            0.0095,
            0.035_625,
            0.0603,
            0.063_857_142_857_142_86,
            0.063_857_142_857_142_86,
            0.0645,
            0.076_5,
            0.486,
            0.581_181_818_181_818_1,
            0.714_875,
            0.753_230_769_230_769_3,
            0.813_214_285_714_285_7,
            1.0,
        ];
        assert_close(&adjusted, &expected);
        assert_eq!(adjusted.iter().filter(|value| **value <= 0.05).count(), 4);
    }

    #[test]
    fn no_values_give_none_and_what_is_no_probability_is_refused() {
        assert_eq!(adjusted_p(&[]), Ok(vec![]));
        assert_eq!(adjusted_p(&[0.5, 1.5]), Err(MultiplicityError::NotAProbability { index: 1, value: 1.5 }));
        assert!(adjusted_p(&[-0.1]).is_err());
        assert!(adjusted_p(&[f64::NAN]).is_err());
    }

    proptest! {
        #[test]
        fn adjusted_values_keep_the_order_and_are_never_smaller(values in prop::collection::vec(0.0..=1.0, 0..40)) {
            let adjusted = adjusted_p(&values).unwrap_or_default();
            prop_assert_eq!(adjusted.len(), values.len());
            for (value, now) in values.iter().zip(&adjusted) {
                prop_assert!(now >= value && *now <= 1.0);
                for (other, other_now) in values.iter().zip(&adjusted) {
                    prop_assert!(value > other || now <= other_now);
                }
            }
        }
    }
}
