//! What is reported of a run equals what a server in this process counted itself.

mod busy_polling;
mod configuration;
mod counts;
mod histograms;
mod interrupts;
mod open_loop;
mod output;
mod overload;
mod phases;
mod progress;
mod runs;
mod search;
mod statistics;
mod timeline;

use serde_json::Value;

/// A number of a document.
fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// A count of a document.
fn count(value: &Value) -> usize {
    value.as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or_else(|| panic!("no count: {value}"))
}
