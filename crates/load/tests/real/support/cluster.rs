//! A cluster.

use std::thread;
use std::time::{Duration, Instant};

use super::Real;

const SLOTS: usize = 16_384;
/// Nodes that have slots at the beginning.
const PRIMARIES: usize = 3;
const LIMIT: Duration = Duration::from_secs(120);

/// Servers of which the first three share the slots evenly.
pub struct Cluster {
    pub nodes: Vec<Real>,
}

impl Cluster {
    /// Starts it and waits until each node knows all of it; none, with the reason printed, without a redis-server.
    pub fn start() -> Option<Self> {
        Self::with_spares(0)
    }

    /// The same with so many nodes more that have no slots.
    pub fn with_spares(spares: usize) -> Option<Self> {
        let node = |_| {
            Real::start_on_ports(|[port, bus]| {
                let (port, bus) = (port.to_string(), bus.to_string());
                let options =
                    ["--cluster-enabled", "yes", "--bind", "127.0.0.1", "--port", &port, "--cluster-port", &bus];
                options.map(str::to_owned).to_vec()
            })
        };
        let nodes: Vec<Real> = (0..PRIMARIES + spares).map(node).collect::<Option<_>>()?;
        for (index, node) in nodes.iter().enumerate() {
            assert_eq!(node.ask(&format!("CLUSTER SET-CONFIG-EPOCH {}", index + 1)), "+OK");
        }
        for (index, node) in nodes.iter().enumerate().take(PRIMARIES) {
            let (first, end) = (SLOTS * index / PRIMARIES, SLOTS * (index + 1) / PRIMARIES);
            assert_eq!(node.ask(&format!("CLUSTER ADDSLOTSRANGE {first} {}", end - 1)), "+OK");
        }
        let [port, bus] = nodes[0].ports;
        for node in &nodes[1..] {
            assert_eq!(node.ask(&format!("CLUSTER MEET 127.0.0.1 {port} {bus}")), "+OK");
        }
        let cluster = Self { nodes };
        cluster.wait_until_whole();
        Some(cluster)
    }

    fn wait_until_whole(&self) {
        let started = Instant::now();
        let expected = ["cluster_state:ok".to_owned(), format!("cluster_known_nodes:{}", self.nodes.len())];
        let is_whole = |node: &Real| {
            let text = node.call(&["CLUSTER", "INFO"]);
            text.contains("cluster_size:3") && expected.iter().all(|line| text.contains(line.as_str()))
        };
        while !self.nodes.iter().all(is_whole) {
            assert!(started.elapsed() < LIMIT, "the nodes do not find each other");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// TCP port of a node.
    pub fn port(&self, node: usize) -> u16 {
        self.nodes[node].ports[0]
    }

    /// Begins to move a slot.
    pub fn begin_move(&self, slot: u32, from: usize, to: usize) {
        let id = |node: usize| self.nodes[node].call(&["CLUSTER", "MYID"]);
        assert_eq!(self.nodes[to].ask(&format!("CLUSTER SETSLOT {slot} IMPORTING {}", id(from))), "+OK");
        assert_eq!(self.nodes[from].ask(&format!("CLUSTER SETSLOT {slot} MIGRATING {}", id(to))), "+OK");
    }

    /// Moves up to `count` keys of a slot; returns how many there were.
    pub fn move_keys(&self, slot: u32, from: usize, to: usize, count: usize) -> usize {
        let mut source = self.nodes[from].client();
        let keys = source.call(&["CLUSTER", "GETKEYSINSLOT", &slot.to_string(), &count.to_string()]);
        let keys: Vec<&str> = keys.lines().collect();
        let port = self.port(to).to_string();
        if !keys.is_empty() {
            let words = ["MIGRATE", "127.0.0.1", &port, "", "0", "5000", "KEYS"];
            assert_eq!(source.call(&[&words[..], &keys].concat()), "OK");
        }
        keys.len()
    }

    /// Gives the slot away for good. The new owner must know first.
    pub fn end_move(&self, slot: u32, from: usize, to: usize) {
        let id = self.nodes[to].call(&["CLUSTER", "MYID"]);
        for node in [to, from] {
            assert_eq!(self.nodes[node].ask(&format!("CLUSTER SETSLOT {slot} NODE {id}")), "+OK");
        }
    }
}
