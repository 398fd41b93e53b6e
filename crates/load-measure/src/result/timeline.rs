//! Slots of time, all commands and threads together.

use serde::Serialize;

use super::record::LatencyRecord;
use crate::Histogram;
use crate::timeline::{Slot, Timeline};

/// The slots of a run, from when it began.
#[derive(Debug, Clone, Serialize)]
pub(super) struct TimelineRecord {
    /// Length of a slot; in a long run slots are put together.
    slot_seconds: f64,
    slots: Vec<SlotRecord>,
}

#[derive(Debug, Clone, Serialize)]
struct SlotRecord {
    /// When it begins, in seconds from the beginning of the run.
    at_seconds: f64,
    /// Replies, errors too.
    replies: u64,
    errors: u64,
    latency_us: Option<LatencyRecord>,
}

impl TimelineRecord {
    pub(super) fn new(timelines: &[Timeline]) -> Self {
        let tracks: Vec<&[Slot]> =
            timelines.iter().flat_map(|timeline| &timeline.tracks).map(|track| track.slots.as_slice()).collect();
        let slots = tracks.iter().map(|track| track.len()).max().unwrap_or(0);
        // Those of all threads have the same length.
        let slot_ns = timelines.first().map_or_else(|| Timeline::default().slot_ns, |timeline| timeline.slot_ns);
        let slots = (0..slots).map(|index| {
            let mut latencies = Histogram::default();
            let (mut errors, mut lost) = (0, 0);
            for slot in tracks.iter().filter_map(|track| track.get(index)) {
                slot.add_to(&mut latencies);
                errors += slot.errors;
                lost += slot.lost;
            }
            SlotRecord {
                at_seconds: (index as u64 * slot_ns) as f64 / 1e9,
                replies: latencies.count() - lost,
                errors,
                latency_us: LatencyRecord::new(&latencies),
            }
        });
        Self { slot_seconds: slot_ns as f64 / 1e9, slots: slots.collect() }
    }
}
