//! In a cluster: each request goes to the node that has its key, and is sent again where that has changed.

use zerolap_resp::{Reply, cluster::key_slot};

use super::{Client, Worker};
use std::sync::Arc;

use super::transactions::RoutedRequest;
use crate::cluster::{ClusterMap, CommandKey, Redirect};
use crate::dialer::Dialer;
use crate::link::Link;
use zerolap_load_measure::{LoadError, Request};
use zerolap_load_requests::{Command, Endpoint, Purpose, Random, TransactionStep};

/// Redirections after which an error is taken as the answer.
const MOST_REDIRECTS: u16 = 16;

/// What a thread knows of the cluster.
pub(super) struct Routes {
    map: ClusterMap,
    /// What connections to replicas are made with.
    replica_dialer: Arc<Dialer>,
    /// Which of a node's replicas are asked.
    random: Random,
    /// For each client the index of its link to each node, as far as it has one.
    links: Vec<Vec<Option<usize>>>,
    /// For each command the slot of its key, as far as is known.
    keys: Vec<CommandKey>,
    /// For each command what it does to the transaction of its connection; empty where no command begins one.
    pub(super) steps: Vec<TransactionStep>,
}

/// A request that another node has to answer.
pub(super) struct Redirected {
    pub(super) request: Request,
    pub(super) bytes: Vec<u8>,
    pub(super) slot: u16,
    /// Index of the node that has to.
    pub(super) node: usize,
    /// Whether it has to answer only this request.
    pub(super) is_ask: bool,
}

impl Routes {
    pub(super) fn new(map: ClusterMap, dialer: &Dialer, thread: usize, clients: &[Client]) -> Self {
        let settings = &dialer.settings;
        let steps = settings.commands.iter().map(Command::transaction_step);
        let keys = map.keys.to_vec();
        Self {
            map,
            replica_dialer: Arc::new(dialer.for_replicas()),
            random: Random::new(dialer.settings.seed, Purpose::Replicas, thread, 0),
            links: vec![Vec::new(); clients.len()],
            keys,
            steps: if settings.has_transactions() { steps.collect() } else { Vec::new() },
        }
    }

    /// The slot of a request of this command, of which `key` was drawn; none if it has no key.
    pub(super) fn slot(&self, command: usize, key: Option<&[u8]>) -> Option<u16> {
        match (key, self.keys.get(command)) {
            (Some(key), _) => Some(key_slot(key)),
            (None, Some(CommandKey::Slot(slot))) => Some(*slot),
            (None, _) => None,
        }
    }

    /// Index of the node that answers a request of this command outside of transactions. One without a key goes to the
    /// node of the first slot.
    pub(super) fn node(&mut self, command: usize, slot: Option<u16>) -> usize {
        self.map.node_of_command(command, slot.unwrap_or_default(), &mut self.random)
    }

    /// Index of the primary that has a slot; of none that of the first slot.
    pub(super) fn primary(&self, slot: Option<u16>) -> usize {
        self.map.node_of_slot(slot.unwrap_or_default())
    }

    /// Whether any command begins a transaction.
    pub(super) const fn has_transactions(&self) -> bool {
        !self.steps.is_empty()
    }

    /// Notes that a request of this command was for a slot that is on `node` from now on.
    pub(super) fn move_slot(&mut self, command: usize, slot: u16, node: usize) {
        self.map.move_slot(slot, node);
        if let Some(CommandKey::Slot(known)) = self.keys.get_mut(command) {
            *known = slot;
        }
    }

    /// Index of the node that a redirection names; none where it is not of the cluster as it was discovered.
    pub(super) fn find_or_add(&mut self, endpoint: Endpoint, dialer: &Dialer) -> Option<usize> {
        self.map.find_or_add(endpoint, dialer)
    }

    /// Whether the node at `endpoint` is only read from.
    pub(super) fn is_replica(&self, endpoint: &Endpoint) -> bool {
        self.map.is_replica_at(endpoint)
    }
}

impl Worker {
    /// Adds links from each client to each node that is known.
    pub(super) fn add_links(&mut self) {
        let nodes = self.routes.as_ref().map_or(0, |routes| routes.map.nodes());
        for client in 0..self.clients.len() {
            for node in 0..nodes {
                self.link_to(client, node);
            }
        }
    }

    /// Index of a client's link to a node; it is added if there is none.
    fn link_to(&mut self, client: usize, node: usize) -> usize {
        let Some(routes) = &mut self.routes else { return client };
        let links = &mut routes.links[client];
        if links.len() <= node {
            links.resize(node + 1, None);
        }
        *links[node].get_or_insert_with(|| {
            let target = routes.map.node(node).clone();
            let dialer = if routes.map.is_replica(node) { &routes.replica_dialer } else { &self.dialer };
            self.links.push(Link::new(dialer, client, node, target));
            self.links.len() - 1
        })
    }

    /// Requests that a client may have under way: as many as all its pipelines hold.
    pub(super) fn most_open(&self) -> usize {
        let nodes = self.routes.as_ref().map_or(1, |routes| routes.map.busy_nodes());
        self.settings.pipeline * nodes
    }

    /// Takes up to `count` requests from a client's stream and puts each before the link that it belongs to.
    pub(super) fn route(&mut self, client: usize, count: usize, request: Request) {
        let remaining = usize::try_from(self.clients[client].remaining).unwrap_or(usize::MAX);
        for _ in 0..count.min(remaining) {
            let Some(RoutedRequest { command, bytes, node }) = self.next_routed(client) else { return };
            let sender = &mut self.clients[client];
            sender.remaining -= 1;
            sender.open += 1;
            self.clients_with_more -= usize::from(sender.remaining == 0);
            self.unanswered += 1;
            self.tally.commands[command].bytes_sent += bytes.len() as u64;
            let link = self.link_to(client, node);
            let link = &mut self.links[link];
            let was_held_up = request.was_held_up || link.room(false) <= link.waiting.len();
            let command = u32::try_from(command).unwrap_or(u32::MAX);
            link.waiting.push_back((Request { command, was_held_up, ..request }, bytes));
        }
    }

    /// The next request of a client, with the node that it goes to.
    fn next_routed(&mut self, client: usize) -> Option<RoutedRequest> {
        let routes = self.routes.as_mut()?;
        if routes.has_transactions() {
            return self.next_in_transactions(client);
        }
        let mut bytes = Vec::new();
        let (command, key) = self.clients[client].stream.write_next_with_key(&mut bytes);
        let slot = routes.slot(command, key.map(|key| &bytes[key]));
        let node = routes.node(command, slot);
        Some(RoutedRequest { command, bytes, node })
    }

    /// Sends what waits before a client's links, as far as there is room.
    pub(super) fn pump(&mut self, client: usize) -> Result<(), LoadError> {
        let links = self.routes.as_ref().map_or(0, |routes| routes.links[client].len());
        for node in 0..links {
            let link = self.routes.as_ref().and_then(|routes| routes.links[client][node]);
            if let Some(link) = link {
                self.pump_link(link)?;
            }
        }
        Ok(())
    }

    fn pump_link(&mut self, index: usize) -> Result<(), LoadError> {
        let link = &mut self.links[index];
        let mut room = link.room(false);
        while room > 0
            && let Some((request, bytes)) = link.waiting.pop_front()
        {
            if request.is_preparation {
                // It takes no room: the request that it is for follows at once.
                link.send_asking();
                room += 1;
            } else {
                let start = link.buffer().len();
                link.buffer().extend_from_slice(&bytes);
                link.add(request, start);
            }
            room -= 1;
        }
        if link.is_closed() && link.may_start(0) && !link.waiting.is_empty() {
            self.closed_links.add(index);
            return self.reopen_link(index);
        }
        self.flush(index)
    }

    /// Follows redirections that the node of link `asked` gave: the map is mended, and requests wait before the links
    /// to the right nodes.
    pub(super) fn follow(&mut self, asked: usize, redirected: Vec<Redirected>) -> Result<(), LoadError> {
        let link = &self.links[asked];
        let (client, asked_node, asked_endpoint) = (link.client, link.node, link.endpoint().clone());
        // The last one is put in front first, so that they keep their order.
        for Redirected { mut request, bytes, slot, node, is_ask } in redirected.into_iter().rev() {
            let Some(routes) = &mut self.routes else { return Ok(()) };
            let command = request.command as usize;
            if is_ask {
                self.tally.commands[command].asked += 1;
                self.tally.node(asked_node, &asked_endpoint).asked += 1;
            } else {
                routes.move_slot(command, slot, node);
                self.tally.commands[command].moved += 1;
                self.tally.node(asked_node, &asked_endpoint).moved += 1;
            }
            request.redirects += 1;
            let link = self.link_to(client, node);
            let waiting = &mut self.links[link].waiting;
            waiting.push_front((request, bytes));
            if is_ask {
                waiting.push_front((Request { is_preparation: true, ..Request::default() }, Vec::new()));
            }
        }
        self.pump(client)
    }
}

/// What a reply asks for, if it can still be followed.
pub(super) fn redirect(request: &Request, reply: &Reply<'_>, asked: &Endpoint) -> Option<Redirect> {
    if request.redirects >= MOST_REDIRECTS { None } else { Redirect::read(reply, asked) }
}
