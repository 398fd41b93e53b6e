//! What happened in each tenth of a second.

use crate::Histogram;
use crate::tally::CommandTally;

/// Length of a slot.
pub(crate) const SLOT_NS: u64 = 100_000_000;

/// Slots of one thread, all starting at the same moment as those of the other threads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Timeline {
    /// One track for each command.
    pub(crate) tracks: Vec<Track>,
    /// When the open slot ends.
    pub(crate) slot_end_ns: u64,
}

/// The slots of one command.
#[derive(Debug, Clone)]
pub(crate) struct Track {
    pub(crate) slots: Vec<Slot>,
    seen: Seen,
}

/// Totals of a command when its last slot was closed.
#[derive(Debug, Clone)]
struct Seen {
    buckets: Box<[u64]>,
    sum_ns: u64,
    errors: u64,
    bytes_sent: u64,
    bytes_received: u64,
}

/// One command in one slot.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slot {
    pub(crate) errors: u64,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
    sum_ns: u64,
    ends_ns: (u64, u64),
    /// Numbers of buckets that are not empty, and their counts: few of the thousands there are.
    buckets: Vec<(u16, u32)>,
}

impl Timeline {
    /// The timeline of so many commands; the first slot begins at `started_ns`.
    pub(crate) fn new(commands: usize, started_ns: u64) -> Self {
        Self { tracks: (0..commands).map(|_| Track::new()).collect(), slot_end_ns: started_ns + SLOT_NS }
    }

    /// Closes all slots that have ended by `now_ns`; what the commands counted since belongs to the first of them.
    pub(crate) fn close_until(&mut self, now_ns: u64, commands: &mut [CommandTally]) {
        while self.slot_end_ns <= now_ns {
            self.close(commands);
        }
    }

    /// Closes the open slot.
    pub(crate) fn close(&mut self, commands: &mut [CommandTally]) {
        self.slot_end_ns += SLOT_NS;
        for (track, command) in self.tracks.iter_mut().zip(commands) {
            track.close(command);
        }
    }
}

impl Track {
    fn new() -> Self {
        let seen = Seen { buckets: Histogram::no_buckets(), sum_ns: 0, errors: 0, bytes_sent: 0, bytes_received: 0 };
        Self { slots: Vec::new(), seen }
    }

    fn close(&mut self, command: &mut CommandTally) {
        let (seen, latencies) = (&mut self.seen, &command.latencies);
        let errors = command.requests() - command.succeeded();
        let has_replies = command.recent_ends_ns.0 <= command.recent_ends_ns.1;
        let slot = Slot {
            errors: errors - seen.errors,
            bytes_sent: command.bytes_sent - seen.bytes_sent,
            bytes_received: command.bytes_received - seen.bytes_received,
            sum_ns: latencies.sum_ns() - seen.sum_ns,
            ends_ns: std::mem::replace(&mut command.recent_ends_ns, (u64::MAX, 0)),
            buckets: if has_replies { latencies.added_since(&mut seen.buckets) } else { Vec::new() },
        };
        (seen.errors, seen.sum_ns) = (errors, latencies.sum_ns());
        (seen.bytes_sent, seen.bytes_received) = (command.bytes_sent, command.bytes_received);
        self.slots.push(slot);
    }
}

impl Slot {
    /// Adds its latencies to `histogram`.
    pub(crate) fn add_to(&self, histogram: &mut Histogram) {
        histogram.add_buckets(&self.buckets, self.sum_ns, self.ends_ns);
    }
}
