//! The distribution of latencies as a list.

use serde_json::{Value, json};

use super::percentiles::exported;
use crate::Histogram;

/// Steps to each halving of what is left above.
const TICKS: u32 = 5;
const US_PER_MS: f64 = 1e3;

/// Latencies in milliseconds, and the percentage of replies that took no longer.
pub(super) fn distribution(latencies: &Histogram) -> Value {
    let Some(histogram) = exported(latencies).filter(|histogram| !histogram.is_empty()) else {
        return json!([{"<=msec": 0.0, "percent": 100.0}]);
    };
    let steps = histogram.iter_quantiles(TICKS).map(|step| {
        json!({"<=msec": step.value_iterated_to() as f64 / US_PER_MS, "percent": step.quantile_iterated_to() * 100.0})
    });
    Value::Array(steps.collect())
}
