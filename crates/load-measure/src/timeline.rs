//! What happened in each slot of time, such as a tenth of a second; in a long run in each second, or in longer slots.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::Histogram;
use crate::command_tally::CommandTally;

/// Slots of the first length are kept for so long: then neighbours are put together. Groups of any length divide it.
const FIRST_SLOTS_NS: u64 = 360_000_000_000;

/// Slots of one thread, all starting at the same moment as those of the other threads.
#[derive(Debug, Clone)]
pub struct Timeline {
    /// One track for each command.
    pub tracks: Vec<Track>,
    /// When the open slot ends.
    pub slot_end_ns: u64,
    /// Length of a slot: if it was 0.1 seconds at first, 0.2, 1, 2, 10, 20, 100 ... seconds.
    pub slot_ns: u64,
    /// So many slots are kept: when they are full, neighbours are put together.
    most_slots: usize,
}

/// The slots of one command.
#[derive(Debug, Clone)]
pub struct Track {
    /// From when counting began.
    pub slots: Vec<Slot>,
    seen: Seen,
}

/// Totals of a command when its last slot was closed.
#[derive(Debug, Clone)]
struct Seen {
    buckets: Box<[u64]>,
    sum_ns: u64,
    errors: u64,
    lost: u64,
    bytes_sent: u64,
    bytes_received: u64,
}

/// One command in one slot.
#[derive(Debug, Clone, Default)]
pub struct Slot {
    /// Error replies.
    pub errors: u64,
    /// Requests without a reply, which have a latency too.
    pub lost: u64,
    /// Of requests that were answered or lost.
    pub bytes_sent: u64,
    /// Of replies.
    pub bytes_received: u64,
    sum_ns: u64,
    ends_ns: (u64, u64),
    /// Numbers of buckets that are not empty, and their counts: few of the thousands there are.
    buckets: Vec<(u16, u32)>,
}

impl Timeline {
    /// The timeline of so many commands, in slots of a length that is a power of ten in nanoseconds; the first one
    /// begins at `started_ns`.
    #[must_use]
    pub fn new(commands: usize, started_ns: u64, slot: Duration) -> Self {
        let tracks = (0..commands).map(|_| Track::new()).collect();
        let slot_ns = u64::try_from(slot.as_nanos()).unwrap_or(FIRST_SLOTS_NS).max(1);
        let most_slots = usize::try_from(FIRST_SLOTS_NS / slot_ns).unwrap_or(usize::MAX).max(1);
        Self { tracks, slot_end_ns: started_ns + slot_ns, slot_ns, most_slots }
    }

    /// Closes all slots that have ended by `now_ns`; what the commands counted since belongs to the first of them.
    pub fn close_until(&mut self, now_ns: u64, commands: &mut [CommandTally]) {
        while self.slot_end_ns <= now_ns {
            self.close(commands);
        }
    }

    /// Closes the open slot.
    pub fn close(&mut self, commands: &mut [CommandTally]) {
        for (track, command) in self.tracks.iter_mut().zip(commands) {
            track.close(command);
        }
        if self.tracks.iter().any(|track| track.slots.len() >= self.most_slots) {
            self.coarsen();
        }
        self.slot_end_ns += self.slot_ns;
    }

    /// Puts neighbouring slots together.
    fn coarsen(&mut self) {
        let group = group_of(self.slot_ns);
        self.slot_ns *= group as u64;
        for track in &mut self.tracks {
            track.slots = track.slots.chunks(group).map(Slot::together).collect();
        }
    }

    /// Gives all timelines, which began at the same moment, the longest slots that one of them has.
    pub fn even_out(timelines: &mut [Self]) {
        let longest_ns = timelines.iter().map(|timeline| timeline.slot_ns).max().unwrap_or(0);
        for timeline in timelines {
            while timeline.slot_ns < longest_ns {
                timeline.coarsen();
            }
        }
    }
}

/// How many slots of this length are put together: two, then five, so that seconds stay whole.
const fn group_of(slot_ns: u64) -> usize {
    let is_power_of_ten = 10_u64.pow(slot_ns.ilog10()) == slot_ns;
    if is_power_of_ten { 2 } else { 5 }
}

impl Track {
    fn new() -> Self {
        let seen =
            Seen { buckets: Histogram::no_buckets(), sum_ns: 0, errors: 0, lost: 0, bytes_sent: 0, bytes_received: 0 };
        Self { slots: Vec::new(), seen }
    }

    fn close(&mut self, command: &mut CommandTally) {
        let (seen, latencies) = (&mut self.seen, &command.latencies);
        let errors = command.requests() - command.succeeded();
        let has_replies = command.recent_ends_ns.0 <= command.recent_ends_ns.1;
        let slot = Slot {
            errors: errors - seen.errors,
            lost: command.lost() - seen.lost,
            bytes_sent: command.bytes_sent - seen.bytes_sent,
            bytes_received: command.bytes_received - seen.bytes_received,
            sum_ns: latencies.sum_ns() - seen.sum_ns,
            ends_ns: std::mem::replace(&mut command.recent_ends_ns, (u64::MAX, 0)),
            buckets: if has_replies { latencies.added_since(&mut seen.buckets) } else { Vec::new() },
        };
        (seen.errors, seen.lost, seen.sum_ns) = (errors, command.lost(), latencies.sum_ns());
        (seen.bytes_sent, seen.bytes_received) = (command.bytes_sent, command.bytes_received);
        self.slots.push(slot);
    }
}

impl Slot {
    /// All that happened in these slots.
    fn together(slots: &[Self]) -> Self {
        let mut whole = Self { ends_ns: (u64::MAX, 0), ..Self::default() };
        let mut buckets: BTreeMap<u16, u32> = BTreeMap::new();
        for slot in slots {
            whole.errors += slot.errors;
            whole.lost += slot.lost;
            whole.bytes_sent += slot.bytes_sent;
            whole.bytes_received += slot.bytes_received;
            whole.sum_ns += slot.sum_ns;
            whole.ends_ns = (whole.ends_ns.0.min(slot.ends_ns.0), whole.ends_ns.1.max(slot.ends_ns.1));
            for &(bucket, count) in &slot.buckets {
                let known = buckets.entry(bucket).or_default();
                *known = known.saturating_add(count);
            }
        }
        whole.buckets = buckets.into_iter().collect();
        whole
    }

    /// Adds its latencies to `histogram`.
    pub fn add_to(&self, histogram: &mut Histogram) {
        histogram.add_buckets(&self.buckets, self.sum_ns, self.ends_ns);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use zerolap_resp::{Leaves, Reply, ReplyKind};

    use super::{Slot, Timeline};
    use crate::Histogram;
    use crate::command_tally::CommandTally;

    const TENTH: Duration = Duration::from_millis(100);
    const TENTH_NS: u64 = 100_000_000;

    fn latencies(slots: &[Slot]) -> Histogram {
        let mut latencies = Histogram::default();
        for slot in slots {
            slot.add_to(&mut latencies);
        }
        latencies
    }

    /// A timeline of one command that was answered once in each tenth of a second, for so long.
    fn after(tenths: u64, slot: Duration) -> (Timeline, CommandTally) {
        let mut commands = [CommandTally::default()];
        let mut timeline = Timeline::new(1, 0, slot);
        for tenth in 0..tenths {
            timeline.close_until(tenth * TENTH_NS, &mut commands);
            let reply = Reply {
                kind: ReplyKind::Status,
                code: b"",
                text: b"",
                elements: 0,
                first: b"",
                leaves: Leaves::VALUE,
                leaves_after_first: Leaves::NONE,
                error_elements: 0,
            };
            commands[0].count(&reply, 1000 + tenth);
        }
        timeline.close(&mut commands);
        let [command] = commands;
        (timeline, command)
    }

    #[test]
    fn a_long_run_has_longer_slots_and_nothing_is_lost() {
        for (seconds, slot_ns) in
            [(300, 100_000_000), (400, 200_000_000), (1_000, 1_000_000_000), (4_000, 2_000_000_000)]
        {
            let (timeline, command) = after(seconds * 10, TENTH);
            assert_eq!(timeline.slot_ns, slot_ns, "{seconds} s");
            let slots = &timeline.tracks[0].slots;
            assert!(slots.len() < 3600);
            assert_eq!(slots.len() as u64, (seconds * 1_000_000_000).div_ceil(slot_ns));
            let (timed, all) = (latencies(slots), &command.latencies);
            assert_eq!((timed.count(), timed.sum_ns()), (seconds * 10, all.sum_ns()));
            assert_eq!((timed.minimum_ns(), timed.maximum_ns()), (all.minimum_ns(), all.maximum_ns()));
            assert!(timed.buckets().eq(all.buckets()));
            let per_slot = slot_ns / TENTH_NS;
            assert!(slots.iter().rev().skip(1).all(|slot| latencies(std::slice::from_ref(slot)).count() == per_slot));
        }
    }

    #[test]
    fn timelines_of_all_threads_have_slots_of_one_length() {
        let mut timelines = [after(100, TENTH).0, after(10_000, TENTH).0, after(3_700, TENTH).0];
        Timeline::even_out(&mut timelines);
        assert!(timelines.iter().all(|timeline| timeline.slot_ns == 1_000_000_000));
        assert_eq!(timelines.map(|timeline| timeline.tracks[0].slots.len()), [10, 1000, 370]);
    }

    #[test]
    fn shorter_slots_are_kept_as_long_and_seconds_stay_whole() {
        for (seconds, slot_ns) in [(300, 10_000_000), (400, 20_000_000), (1_000, 100_000_000)] {
            let (timeline, _) = after(seconds * 10, Duration::from_millis(10));
            assert_eq!(timeline.slot_ns, slot_ns, "{seconds} s");
            assert_eq!(latencies(&timeline.tracks[0].slots).count(), seconds * 10);
        }
    }
}
