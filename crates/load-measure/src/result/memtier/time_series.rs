//! What happened in each second.

use serde_json::{Map, Value, json};

use super::percentiles::{milliseconds, percentiles};
use crate::Histogram;
use crate::timeline::{Slot, Timeline};

const NS_PER_SECOND: u64 = 1_000_000_000;
const NS_PER_MS: u64 = 1_000_000;

/// The seconds of some commands, told by their indexes. Where slots are longer, there is one for each, told by its first
/// second.
pub(super) fn time_series(timelines: &[Timeline], commands: &[usize], percents: &[f64]) -> Value {
    let tracks: Vec<&[Slot]> = timelines
        .iter()
        .flat_map(|timeline| commands.iter().filter_map(|&command| timeline.tracks.get(command)))
        .map(|track| track.slots.as_slice())
        .collect();
    let slots = tracks.iter().map(|track| track.len()).max().unwrap_or(0);
    let mut seconds = Map::new();
    let slot_ns = timelines.first().map_or(NS_PER_SECOND, |timeline| timeline.slot_ns);
    let slots_per_second = usize::try_from(NS_PER_SECOND / slot_ns).unwrap_or(1).max(1);
    let seconds_per_entry = (slot_ns / NS_PER_SECOND).max(1);
    for entry in 0..slots.div_ceil(slots_per_second) {
        let first = entry * slots_per_second;
        let of_entry = tracks.iter().flat_map(|track| track.iter().skip(first).take(slots_per_second));
        seconds.insert((entry as u64 * seconds_per_entry).to_string(), one_second(of_entry, percents));
    }
    Value::Object(seconds)
}

fn one_second<'slot>(slots: impl Iterator<Item = &'slot Slot>, percents: &[f64]) -> Value {
    let mut latencies = Histogram::default();
    let (mut lost, mut bytes_sent, mut bytes_received) = (0, 0, 0);
    for slot in slots {
        slot.add_to(&mut latencies);
        lost += slot.lost;
        bytes_sent += slot.bytes_sent;
        bytes_received += slot.bytes_received;
    }
    let mut record = Map::new();
    record.insert("Bytes RX".to_owned(), json!(bytes_received));
    record.insert("Bytes TX".to_owned(), json!(bytes_sent));
    record.insert("Count".to_owned(), json!(latencies.count() - lost));
    if let Some(mean_ns) = latencies.mean_ns() {
        record.insert("Average Latency".to_owned(), json!((mean_ns / 1e3).round() / 1e3));
        record.insert("Accumulated Latency".to_owned(), json!(latencies.sum_ns() / NS_PER_MS));
        record.insert("Min Latency".to_owned(), json!(milliseconds(latencies.minimum_ns())));
        record.insert("Max Latency".to_owned(), json!(milliseconds(latencies.maximum_ns())));
        record.extend(percentiles(&latencies, percents));
    }
    Value::Object(record)
}
