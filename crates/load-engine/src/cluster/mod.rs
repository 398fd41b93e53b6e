//! Clusters: which node has which key, and which are its replicas.

mod discovery;
mod replies;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

pub(crate) use discovery::{discover, discover_replicas};
pub(crate) use replies::Redirect;
pub use replies::untrusted;

use zerolap_resp::cluster::key_slot;

use crate::dialer::{Dialer, Node};
use crate::socket::Address;
use zerolap_load_requests::{Endpoint, Random, Settings, TransactionStep};

/// Slots of a cluster, by its specification.
const SLOTS: usize = 16_384;

/// Replies that name more nodes are refused: the cluster specification advises against more than 1000.
const MOST_NODES: usize = 1000;

/// Which node has which slot, as far as is known.
#[derive(Debug, Clone)]
pub(crate) struct ClusterMap {
    /// In the order they became known; never empty.
    nodes: Vec<Node>,
    /// Index of the node of each slot.
    slots: Box<[u16]>,
    /// Nodes that had slots at the beginning.
    primaries: usize,
    /// Only where they are read from.
    replicas: Option<Replicas>,
    /// For each command of the settings the slot of its key.
    pub(crate) keys: Arc<[CommandKey]>,
    /// Hosts that discovery named, with their addresses. Nothing is connected to that is not on one of them.
    hosts: Arc<BTreeMap<String, Vec<IpAddr>>>,
}

/// The slot that a command belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandKey {
    /// That of a key that each request draws.
    Drawn,
    /// This one.
    Slot(u16),
    /// None: it has no key.
    Absent,
}

impl ClusterMap {
    pub(crate) fn node(&self, index: usize) -> &Node {
        &self.nodes[index]
    }

    pub(crate) const fn primaries(&self) -> usize {
        self.primaries
    }

    /// What the user has to know of the commands without a key that are in no transaction, in sentences.
    pub(crate) fn warnings(&self, settings: &Settings) -> Vec<String> {
        let mut warnings = Vec::new();
        let mut is_queued = false;
        for (command, key) in settings.commands.iter().zip(self.keys.iter()).filter(|(command, _)| command.ratio > 0) {
            match command.transaction_step() {
                TransactionStep::Begin => is_queued = true,
                TransactionStep::End => is_queued = false,
                TransactionStep::Other if !is_queued && *key == CommandKey::Absent => warnings.push(format!(
                    "{:?} has no key: all of its requests go to one node of the cluster, {}",
                    command.line,
                    self.node(self.node_of_slot(0)).endpoint
                )),
                _ => {}
            }
        }
        warnings
    }

    /// How many nodes are known.
    pub(crate) fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// How many nodes get requests, as far as is known at the beginning.
    pub(crate) fn busy_nodes(&self) -> usize {
        self.replicas.as_ref().map_or(self.primaries, |replicas| replicas.busy_nodes(self.primaries))
    }

    /// Whether the node with this index is only read from.
    pub(crate) fn is_replica(&self, node: usize) -> bool {
        self.replicas.as_ref().is_some_and(|replicas| replicas.contains(node))
    }

    /// Whether the node at `endpoint` is only read from.
    pub(crate) fn is_replica_at(&self, endpoint: &Endpoint) -> bool {
        self.nodes.iter().position(|node| node.endpoint == *endpoint).is_some_and(|node| self.is_replica(node))
    }

    /// Index of the node that answers `command` for a key in `slot`.
    pub(crate) fn node_of_command(&self, command: usize, slot: u16, random: &mut Random) -> usize {
        let primary = self.node_of_slot(slot);
        let replica = self.replicas.as_ref().and_then(|replicas| replicas.choose(primary, command, random));
        replica.unwrap_or(primary)
    }

    /// Index of the node that has `slot`.
    pub(crate) fn node_of_slot(&self, slot: u16) -> usize {
        self.slots.get(usize::from(slot)).map_or(0, |&node| usize::from(node))
    }

    /// Index of the node that has `key`.
    pub(crate) fn node_of_key(&self, key: &[u8]) -> usize {
        self.node_of_slot(key_slot(key))
    }

    /// Notes that `slot` is on the node with this index from now on.
    pub(crate) fn move_slot(&mut self, slot: u16, node: usize) {
        if let (Some(place), Ok(node)) = (self.slots.get_mut(usize::from(slot)), u16::try_from(node)) {
            *place = node;
        }
    }

    /// Index of the node at `endpoint`, which a redirection named and which may be new. None where it is on a host that
    /// discovery did not name, or where there are too many nodes: it could be anybody's. Nothing is looked up.
    pub(crate) fn find_or_add(&mut self, endpoint: Endpoint, dialer: &Dialer) -> Option<usize> {
        let known = self.nodes.iter().position(|node| node.endpoint == endpoint);
        if known.is_some() || self.nodes.len() >= MOST_NODES {
            return known;
        }
        let Endpoint::Tcp { host, port } = &endpoint else { return None };
        let addresses = self.hosts.get(host)?.iter().map(|ip| Address::Tcp((*ip, *port).into())).collect();
        self.nodes.push(dialer.node_at(endpoint, addresses).ok()?);
        Some(self.nodes.len() - 1)
    }
}

/// What goes to replicas.
#[derive(Debug, Clone)]
pub(crate) struct Replicas {
    /// For each primary the indexes of its replicas; none is empty.
    of: Vec<Vec<usize>>,
    /// For each command whether it only reads.
    reads: Vec<bool>,
    /// Whether there are commands that do not.
    has_writes: bool,
}

impl Replicas {
    /// A replica of `primary` to answer `command`; none if that is not for replicas. It is drawn: with turns, commands
    /// that alternate would always meet the same ones.
    fn choose(&self, primary: usize, command: usize, random: &mut Random) -> Option<usize> {
        let is_read = self.reads.get(command).is_some_and(|reads| *reads);
        let replicas = self.of.get(primary).filter(|replicas| is_read && !replicas.is_empty())?;
        let drawn = usize::try_from(random.below(replicas.len() as u64)).unwrap_or(0);
        replicas.get(drawn).copied()
    }

    fn contains(&self, node: usize) -> bool {
        self.of.iter().any(|replicas| replicas.contains(&node))
    }

    /// How many nodes get requests, of which `primaries` are primaries.
    fn busy_nodes(&self, primaries: usize) -> usize {
        let replicas = self.of.iter().map(Vec::len).sum::<usize>();
        if self.has_writes { replicas + primaries } else { replicas }
    }
}
