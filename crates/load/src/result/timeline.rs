//! Tenths of a second, all commands and threads together.

use serde::Serialize;

use super::record::LatencyRecord;
use crate::Histogram;
use crate::timeline::{SLOT_NS, Slot, Timeline};

/// The slots of a run, from when it began.
#[derive(Debug, Clone, Serialize)]
pub(super) struct TimelineRecord {
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
        let slot_seconds = SLOT_NS as f64 / 1e9;
        let slots = (0..slots).map(|index| {
            let mut latencies = Histogram::default();
            let mut errors = 0;
            for slot in tracks.iter().filter_map(|track| track.get(index)) {
                slot.add_to(&mut latencies);
                errors += slot.errors;
            }
            SlotRecord {
                at_seconds: index as f64 / 10.0,
                replies: latencies.count(),
                errors,
                latency_us: LatencyRecord::new(&latencies),
            }
        });
        Self { slot_seconds, slots: slots.collect() }
    }
}
