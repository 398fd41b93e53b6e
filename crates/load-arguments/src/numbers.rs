//! Numbers and times in values: plain decimal ones, without units. Each function returns a sentence when it cannot.

use std::fmt::Display;
use std::num::NonZero;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

/// More than 30 years; longer ones are no use, and could not be added to a point in time.
const MOST_SECONDS: f64 = 1e9;

/// A whole number within `range`.
pub(crate) fn number<T: FromStr + PartialOrd + Display>(text: &str, range: RangeInclusive<T>) -> Result<T, String> {
    let parsed = text.parse().ok().filter(|number| range.contains(number));
    parsed.ok_or_else(|| format!("expected a whole number from {} to {}", range.start(), range.end()))
}

/// A whole number above zero.
pub(crate) fn nonzero<T: FromStr + IsNonZero>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("expected a whole number from 1 to {}", T::MOST))
}

/// Numbers that are never zero.
pub(crate) trait IsNonZero {
    /// The largest.
    const MOST: u64;
}

impl IsNonZero for NonZero<u32> {
    const MOST: u64 = u32::MAX as u64;
}

impl IsNonZero for NonZero<u64> {
    const MOST: u64 = u64::MAX;
}

/// A number above zero, with or without a fraction.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    let parsed = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    parsed.ok_or_else(|| "expected a number above 0".to_owned())
}

/// A time in seconds, above zero.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let parsed = positive(text).ok().filter(|seconds| *seconds <= MOST_SECONDS);
    let time = parsed.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).filter(|time| !time.is_zero());
    time.ok_or_else(|| format!("expected seconds, more than 0 and at most {MOST_SECONDS}"))
}

#[cfg(test)]
mod tests {
    use std::num::{NonZeroU32, NonZeroU64};

    use super::{nonzero, number, positive, seconds};

    #[test]
    fn numbers_are_decimal_within_their_range() {
        assert_eq!(number("5", 1..=10), Ok(5));
        for wrong in ["0", "11", "1k", "0x5", "5 ", "", "-1", "5.0"] {
            assert!(number(wrong, 1..=10).is_err_and(|reason| reason.contains("from 1 to 10")), "{wrong:?}");
        }
        assert_eq!(nonzero::<NonZeroU64>("7").map(NonZeroU64::get), Ok(7));
        assert!(nonzero::<NonZeroU32>("0").is_err_and(|reason| reason.contains("from 1 to 4294967295")));
        assert!(nonzero::<NonZeroU64>("18446744073709551616").is_err());
    }

    #[test]
    fn fractions_are_finite_and_positive() {
        assert_eq!(positive("2.5"), Ok(2.5));
        assert!(["0", "-1", "nan", "inf", "", "1e999"].iter().all(|text| positive(text).is_err()));
    }

    #[test]
    fn times_are_short_enough_to_be_waited_for() {
        assert_eq!(seconds("0.25").map(|time| time.as_millis()), Ok(250));
        for wrong in ["0", "-1", "x", "inf", "nan", "1e10", "1e-20"] {
            assert!(seconds(wrong).is_err(), "{wrong:?}");
        }
    }
}
