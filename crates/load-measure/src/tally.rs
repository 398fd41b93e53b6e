//! What one thread counts during one piece of work.

use zerolap_resp::Reply;

use crate::command_tally::CommandTally;
use crate::health::Health;
use crate::timeline::Timeline;
use crate::{Histogram, LiveCounts};
use zerolap_load_requests::{Answer, Endpoint, Settings, Work};

/// One request under way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Request {
    /// When it was due: when it was sent, if it had no time of its own.
    pub due_ns: u64,
    /// When it was first handed to the system; 0 before.
    pub sent_ns: u64,
    /// Index of its command.
    pub command: u32,
    /// How often it was redirected.
    pub redirects: u16,
    /// Whether it is no command of the settings, but ASKING or SELECT before one.
    pub is_preparation: bool,
    /// Whether it had to wait until a pipeline had room.
    pub was_held_up: bool,
}

/// Counts of one thread.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// When the first request was written, if any was.
    pub started_ns: Option<u64>,
    /// When the last reply was read.
    pub ended_ns: u64,
    /// What the thread itself did.
    pub health: Health,
    /// Bytes that the system took and gave since connections were open, those of lost requests too.
    pub bytes_sent: u64,
    /// The same of what came.
    pub bytes_received: u64,
    /// Push frames, which answer nothing.
    pub pushes: u64,
    /// How often a connection changed to the database of a recorded request.
    pub selects: u64,
    /// How connections fared.
    pub connections: ConnectionCounts,
    /// Redirections that were not followed.
    pub unfollowed: Unfollowed,
    /// One for each command of the settings.
    pub commands: Vec<CommandTally>,
    /// Only with a pace.
    pub schedule: Option<ScheduleTally>,
    /// Only where it is asked for.
    pub timeline: Option<Timeline>,
    /// One for each node of a cluster, in the order they became known.
    pub nodes: Vec<NodeTally>,
}

/// How connections fared.
#[derive(Debug, Clone, Copy, Default)]
pub struct ConnectionCounts {
    /// Connections that broke or were closed by the server.
    pub disconnects: u64,
    /// Connections that were given up because a reply was missing for too long.
    pub timeouts: u64,
    /// Connections that were made anew, for whatever reason.
    pub reconnects: u64,
}

impl ConnectionCounts {
    /// Adds those of another thread.
    pub fn merge(&mut self, other: Self) {
        self.disconnects += other.disconnects;
        self.timeouts += other.timeouts;
        self.reconnects += other.reconnects;
    }
}

/// Redirections to nodes that are not of the cluster as it was discovered; they were taken for errors.
#[derive(Debug, Clone, Default)]
pub struct Unfollowed {
    /// How many.
    pub count: u64,
    /// Where the first of them led to.
    pub first: Option<Endpoint>,
}

impl Unfollowed {
    /// Adds those of another thread.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        if self.first.is_none() {
            self.first.clone_from(&other.first);
        }
    }

    /// What the user has to know, in a sentence.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let first = self.first.as_ref()?;
        let count = self.count;
        Some(format!(
            "{count} redirections were not followed but counted as errors: they lead to hosts that are not of the \
             cluster as it was discovered, or to too many nodes; the first: {first}"
        ))
    }
}

/// Times of requests that had one at which they were due. The latencies of commands are counted from that one.
#[derive(Debug, Clone, Default)]
pub struct ScheduleTally {
    /// From handing a request to the system to its reply.
    pub service: Histogram,
    /// From when a request was due to handing it to the system.
    pub slip: Histogram,
    /// The slip of requests that did not have to wait for room in a pipeline: the load generator's own delay.
    pub own_slip: Histogram,
    /// Requests that were due before the end, but never sent.
    pub unsent: u64,
}

impl ScheduleTally {
    /// Adds those of another thread.
    pub fn merge(&mut self, other: &Self) {
        self.service.merge(&other.service);
        self.slip.merge(&other.slip);
        self.own_slip.merge(&other.own_slip);
        self.unsent += other.unsent;
    }
}

/// Replies of one node of a cluster.
#[derive(Debug, Clone)]
pub struct NodeTally {
    /// Where it listens.
    pub endpoint: Endpoint,
    /// Whether it was only read from.
    pub is_replica: bool,
    /// All commands together.
    pub replies: CommandTally,
}

impl NodeTally {
    /// Its part in the cluster.
    #[must_use]
    pub const fn role(&self) -> &'static str {
        if self.is_replica { "replica" } else { "primary" }
    }
}

impl Tally {
    /// Nothing counted. A timeline begins at `started_ns`.
    #[must_use]
    pub fn new(settings: &Settings, work: &Work, started_ns: u64) -> Self {
        let commands = settings.commands.len();
        Self {
            // Made one by one, not cloned: fresh zeroed memory costs nothing until it is used.
            commands: settings.commands.iter().map(|command| CommandTally::new(command, settings)).collect(),
            schedule: work.pace.map(|_| ScheduleTally::default()),
            timeline: settings.timeline.map(|slot| Timeline::new(commands, started_ns, slot)),
            ended_ns: started_ns,
            ..Self::default()
        }
    }

    /// To be called before replies that were read at `now_ns` are counted.
    pub fn move_to(&mut self, now_ns: u64) {
        self.ended_ns = now_ns;
        if let Some(timeline) = &mut self.timeline
            && timeline.slot_end_ns <= now_ns
        {
            timeline.close_until(now_ns, &mut self.commands);
        }
    }

    /// Closes the last slot of the timeline.
    pub fn finish(&mut self) {
        if let Some(timeline) = &mut self.timeline {
            timeline.close(&mut self.commands);
        }
    }

    /// What is shown of it while it grows.
    #[must_use]
    pub fn live_counts(&self) -> LiveCounts {
        LiveCounts {
            requests: self.commands.iter().map(|command| command.requests() + command.lost()).sum(),
            latency_ns: self.commands.iter().map(|command| command.latencies.sum_ns()).sum(),
            bytes: self.bytes_sent + self.bytes_received,
        }
    }

    /// The tally of a node of a cluster. Nodes become known in any order: those before it may have none yet.
    pub fn node(&mut self, index: usize, endpoint: &Endpoint) -> &mut CommandTally {
        while self.nodes.len() <= index {
            self.nodes.push(NodeTally {
                endpoint: endpoint.clone(),
                is_replica: false,
                replies: CommandTally::default(),
            });
        }
        let node = &mut self.nodes[index];
        if node.endpoint != *endpoint {
            node.endpoint.clone_from(endpoint);
        }
        &mut node.replies
    }

    /// Counts one reply of `bytes`, read at `received_ns`.
    ///
    /// Returns what it shows of what was looked for.
    pub fn count(&mut self, request: Request, reply: &Reply<'_>, received_ns: u64, bytes: u64) -> Answer {
        let latency_ns = self.latency_ns(request, received_ns);
        let Some(command) = self.commands.get_mut(request.command as usize) else { return Answer::NoLookUp };
        command.bytes_received += bytes;
        command.count(reply, latency_ns)
    }

    /// Counts a request that will never get a reply, and was given up at `now_ns`. Its latency is what was waited for
    /// it: a reply would have taken longer.
    pub fn count_lost(&mut self, request: Request, now_ns: u64, is_timeout: bool) {
        let latency_ns = self.latency_ns(request, now_ns);
        if let Some(command) = self.commands.get_mut(request.command as usize) {
            command.count_lost(is_timeout, latency_ns);
        }
    }

    /// The latency of a request that ended at `ended_ns`: from when it was due, if it had its time, else from when it
    /// was sent. Its service time is counted apart then.
    fn latency_ns(&mut self, request: Request, ended_ns: u64) -> u64 {
        let service_ns = ended_ns.saturating_sub(request.sent_ns);
        match &mut self.schedule {
            None => service_ns,
            Some(schedule) => {
                schedule.service.record(service_ns);
                ended_ns.saturating_sub(request.due_ns)
            }
        }
    }

    /// Counts a redirection that is not followed.
    pub fn count_unfollowed(&mut self, target: Endpoint) {
        self.unfollowed.merge(&Unfollowed { count: 1, first: Some(target) });
    }

    /// Counts a value that was compared with what it must be.
    pub fn count_checked(&mut self, request: Request, is_match: bool) {
        if let Some(command) = self.commands.get_mut(request.command as usize) {
            command.checked.get_or_insert_default().count(is_match);
        }
    }
}
