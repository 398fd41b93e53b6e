//! Percentiles under memtier's names.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use serde_json::{Map, Value, json};

use crate::Histogram;

/// Significant digits of exported histograms.
const DIGITS: u8 = 3;
const NS_PER_US: u64 = 1_000;
const NS_PER_MS: f64 = 1e6;

/// Milliseconds to three decimals.
pub(super) fn milliseconds(time_ns: u64) -> f64 {
    (time_ns as f64 / NS_PER_MS * 1e3).round() / 1e3
}

/// The name of a percentile: `p` and six characters at most, such as `p50.00` and `p99.90`.
pub(super) fn name(percent: f64) -> String {
    let text = format!("p{percent:.3}");
    text.chars().take(6).collect()
}

/// Percentiles in milliseconds by their names, ascending.
pub(super) fn percentiles(latencies: &Histogram, percents: &[f64]) -> Map<String, Value> {
    let mut percents = percents.to_vec();
    percents.sort_by(f64::total_cmp);
    let mut named = Map::new();
    for percent in percents {
        // Names are so short that two percentiles may share one: it stays the lower one's, which it says exactly.
        let value = milliseconds(latencies.percentile_ns(percent).unwrap_or(0));
        named.entry(name(percent)).or_insert_with(|| json!(value));
    }
    named
}

/// The same latencies in microseconds as an `HdrHistogram`.
pub(super) fn exported(latencies: &Histogram) -> Option<hdrhistogram::Histogram<u64>> {
    let highest_us = (latencies.maximum_ns() / NS_PER_US).max(2) * 2;
    let mut histogram = hdrhistogram::Histogram::new_with_bounds(1, highest_us, DIGITS).ok()?;
    for (lower_ns, count) in latencies.buckets() {
        histogram.record_n(lower_ns / NS_PER_US, count).ok()?;
    }
    Some(histogram)
}

/// The histogram in `HdrHistogram`'s compressed form (version 2), as text.
pub(super) fn compressed(latencies: &Histogram) -> Option<String> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&exported(latencies)?, &mut bytes).ok()?;
    Some(STANDARD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::{compressed, milliseconds, name, percentiles};
    use crate::Histogram;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    #[test]
    fn names_are_cut_as_memtier_cuts_them() {
        assert_eq!([50.0, 99.9, 99.99, 100.0, 5.0].map(name), ["p50.00", "p99.90", "p99.99", "p100.0", "p5.000"]);
    }

    #[test]
    fn percentiles_are_in_milliseconds_and_ascending() {
        let mut latencies = Histogram::default();
        (1..=1000).for_each(|number| latencies.record(number * 1_000));
        let found = percentiles(&latencies, &[99.0, 50.0]);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["p50.00", "p99.00"]);
        assert!((found["p50.00"].as_f64().expect("a number") - 0.5).abs() < 0.003);
        assert!((milliseconds(1_234_567) - 1.235).abs() < 1e-9);
    }

    #[test]
    fn exported_histograms_hold_every_value() {
        let mut latencies = Histogram::default();
        for value_ns in [0, 1, 999, 1_000_000, 70_000_000_000] {
            latencies.record(value_ns);
        }
        let text = compressed(&latencies).expect("a histogram");
        let bytes = STANDARD.decode(text).expect("base64");
        let read = hdrhistogram::serialization::Deserializer::new()
            .deserialize::<u64, _>(&mut bytes.as_slice())
            .expect("a histogram");
        assert_eq!(read.len(), 5);
        assert!(read.max().abs_diff(70_000_000) < 70_000 * 5);
    }
}
