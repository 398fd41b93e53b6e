//! What happened in each second.

use serde_json::{Map, Value, json};

use super::percentiles::{milliseconds, percentiles};
use crate::Histogram;
use crate::timeline::{Slot, Timeline};

const SLOTS_PER_SECOND: usize = 10;
const NS_PER_MS: u64 = 1_000_000;

/// The seconds of some commands, told by their indexes.
pub(super) fn time_series(timelines: &[Timeline], commands: &[usize], percents: &[f64]) -> Value {
    let tracks: Vec<&[Slot]> = timelines
        .iter()
        .flat_map(|timeline| commands.iter().filter_map(|&command| timeline.tracks.get(command)))
        .map(|track| track.slots.as_slice())
        .collect();
    let slots = tracks.iter().map(|track| track.len()).max().unwrap_or(0);
    let mut seconds = Map::new();
    for second in 0..slots.div_ceil(SLOTS_PER_SECOND) {
        let first = second * SLOTS_PER_SECOND;
        let of_second = tracks.iter().flat_map(|track| track.iter().skip(first).take(SLOTS_PER_SECOND));
        seconds.insert(second.to_string(), one_second(of_second, percents));
    }
    Value::Object(seconds)
}

fn one_second<'slot>(slots: impl Iterator<Item = &'slot Slot>, percents: &[f64]) -> Value {
    let mut latencies = Histogram::default();
    let (mut bytes_sent, mut bytes_received) = (0, 0);
    for slot in slots {
        slot.add_to(&mut latencies);
        bytes_sent += slot.bytes_sent;
        bytes_received += slot.bytes_received;
    }
    let mut record = Map::new();
    record.insert("Bytes RX".to_owned(), json!(bytes_received));
    record.insert("Bytes TX".to_owned(), json!(bytes_sent));
    record.insert("Count".to_owned(), json!(latencies.count()));
    if let Some(mean_ns) = latencies.mean_ns() {
        record.insert("Average Latency".to_owned(), json!((mean_ns / 1e3).round() / 1e3));
        record.insert("Accumulated Latency".to_owned(), json!(latencies.sum_ns() / NS_PER_MS));
        record.insert("Min Latency".to_owned(), json!(milliseconds(latencies.minimum_ns())));
        record.insert("Max Latency".to_owned(), json!(milliseconds(latencies.maximum_ns())));
        record.extend(percentiles(&latencies, percents));
    }
    Value::Object(record)
}
