//! How values are read. Each function returns a sentence when it cannot.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use crate::{Credentials, KeyPattern};

/// A whole number within `range`.
pub(super) fn number<T: FromStr + PartialOrd + Display>(text: &str, range: RangeInclusive<T>) -> Result<T, String> {
    let parsed = text.parse().ok().filter(|number| range.contains(number));
    parsed.ok_or_else(|| format!("expected a whole number from {} to {}", range.start(), range.end()))
}

/// A time in seconds, above zero.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let parsed = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    parsed.filter(|time| !time.is_zero()).ok_or_else(|| "expected seconds, more than 0".to_owned())
}

/// Two counts such as `1:10`, not both 0.
pub(super) fn ratio(text: &str) -> Result<(u64, u64), String> {
    let parsed = text.split_once(':').and_then(|(sets, gets)| Some((sets.parse().ok()?, gets.parse().ok()?)));
    parsed.filter(|&ratio| ratio != (0, 0)).ok_or_else(|| "expected two numbers such as 1:10, not both 0".to_owned())
}

/// A letter of a key pattern.
pub(super) fn key_pattern(text: &str) -> Result<KeyPattern, String> {
    match text {
        "R" => Ok(KeyPattern::Random),
        "S" => Ok(KeyPattern::Sequential),
        "P" => Ok(KeyPattern::Parallel),
        "G" | "Z" => Err("the gaussian (G) and zipf (Z) patterns are not there yet; use R, S or P".to_owned()),
        _ => Err("expected R (random), S (sequential) or P (parallel)".to_owned()),
    }
}

/// `PASSWORD`, `USER:PASSWORD`, or `:PASSWORD` for one that holds a colon.
pub(super) fn credentials(text: &str) -> Credentials {
    let (user, password) = text.split_once(':').unwrap_or(("", text));
    Credentials { user: (!user.is_empty()).then(|| user.to_owned()), password: password.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{credentials, key_pattern, number, ratio, seconds};

    #[test]
    fn credentials_are_split_at_the_first_colon() {
        let split = |text| {
            let credentials = credentials(text);
            (credentials.user, credentials.password)
        };
        assert_eq!(split("secret"), (None, "secret".to_owned()));
        assert_eq!(split("bob:secret:x"), (Some("bob".to_owned()), "secret:x".to_owned()));
        assert_eq!(split(":with:colon"), (None, "with:colon".to_owned()));
    }

    #[test]
    fn values_outside_their_meaning_are_refused() {
        assert_eq!(number("5", 1..=10), Ok(5));
        assert!(number("0", 1..=10).is_err() && number("11", 1..=10).is_err() && number("1k", 1..=10).is_err());
        assert_eq!(seconds("0.25").map(|time| time.as_millis()), Ok(250));
        assert!(["0", "-1", "x", "inf", "nan"].iter().all(|text| seconds(text).is_err()));
        assert_eq!(ratio("1:10"), Ok((1, 10)));
        assert!(["0:0", "1", "1:x", ""].iter().all(|text| ratio(text).is_err()));
        assert!(key_pattern("Z").is_err_and(|reason| reason.contains("not there yet")));
    }
}
