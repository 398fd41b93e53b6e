//! Ranges and lists.

use super::number;

/// The longest value that a server takes by default.
pub(crate) const MOST_DATA_BYTES: usize = 512 * 1024 * 1024;

/// Percentiles such as `50,99,99.9`, in the order given.
pub(crate) fn percentiles(text: &str) -> Result<Vec<f64>, String> {
    let percentile = |word: &str| word.parse().ok().filter(|value| (0.0..=100.0).contains(value));
    let parsed: Option<Vec<f64>> = text.split(',').map(percentile).collect();
    parsed.ok_or_else(|| "expected numbers from 0 to 100, such as 50,99,99.9".to_owned())
}

/// Two lengths such as `10-200`, as given.
pub(crate) fn size_range(text: &str) -> Result<(usize, usize), String> {
    let (least, most) = text.split_once('-').ok_or_else(|| "expected two lengths such as 10-200".to_owned())?;
    Ok((number(least, 1..=MOST_DATA_BYTES)?, number(most, 1..=MOST_DATA_BYTES)?))
}

/// Two times in seconds such as `10-60`, as given.
pub(crate) fn expiry_range(text: &str) -> Result<(u32, u32), String> {
    let expected = || "expected two times in seconds such as 10-60".to_owned();
    let (least, most) = text.split_once('-').ok_or_else(expected)?;
    let range = (number(least, 0..=u32::MAX)?, number(most, 0..=u32::MAX)?);
    // It would be no range of times: nothing would expire.
    if range == (0, 0) { Err(expected()) } else { Ok(range) }
}

/// Lengths with weights such as `10:1,200:3`.
pub(crate) fn size_list(text: &str) -> Result<Vec<(usize, u64)>, String> {
    let size = |item: &str| {
        let (size, weight) = item.split_once(':').ok_or("expected lengths with weights such as 10:1,200:3")?;
        Ok((number(size, 1..=MOST_DATA_BYTES)?, number(weight, 1..=u64::from(u32::MAX))?))
    };
    text.split(',').map(size).collect()
}

#[cfg(test)]
mod tests {
    use super::{expiry_range, percentiles, size_list, size_range};

    #[test]
    fn percentiles_keep_their_order() {
        assert_eq!(percentiles("99.9,50,0,100"), Ok(vec![99.9, 50.0, 0.0, 100.0]));
        assert!(["", "50,", "101", "-1", "nan", "p50"].iter().all(|text| percentiles(text).is_err()));
    }

    #[test]
    fn times_are_read_in_pairs_not_both_0() {
        assert_eq!(expiry_range("0-10"), Ok((0, 10)));
        assert_eq!(expiry_range("10-4294967295"), Ok((10, u32::MAX)));
        assert!(["10", "0-0", "5-", "-5", "1-2-3", "1-4294967296"].iter().all(|text| expiry_range(text).is_err()));
    }

    #[test]
    fn lengths_are_read_in_pairs() {
        assert_eq!(size_range("1-100"), Ok((1, 100)));
        assert!(["100", "0-5", "5-", "-5", "1-2-3"].iter().all(|text| size_range(text).is_err()));
        assert_eq!(size_list("10:1,200:3"), Ok(vec![(10, 1), (200, 3)]));
        assert!(["", "10", "10:0", "0:1", "10:1,", "x:1"].iter().all(|text| size_list(text).is_err()));
    }
}
