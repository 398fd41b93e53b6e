//! Asks nodes for the map of their cluster, and for their replicas.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use zerolap_resp::{Value, cluster::key_slot, split_words, write_request};

use super::replies::{hosts_of_nodes, is_read_only, read_ranges, replicas_of_role};
use super::{ClusterMap, CommandKey, MOST_NODES, Replicas, SLOTS};
use crate::dialer::{Dialer, Node};
use crate::dialogue::ask;
use crate::socket::Address;
use zerolap_load_measure::LoadError;
use zerolap_load_requests::{Command, Endpoint, Settings, TransactionStep};

/// Longer words are no subcommands.
const LONGEST_SUBCOMMAND: usize = 32;

/// How the error ends that a server answers when it is asked for the keys of a command without any.
const NO_KEYS: &[u8] = b"no key arguments";

/// The map that the node at the settings' endpoint reports.
///
/// # Errors
/// When it cannot be asked, or does not know a node for each slot.
pub(crate) fn discover(dialer: &Dialer) -> Result<ClusterMap, LoadError> {
    let seed = dialer.node(dialer.settings.server.endpoint.clone())?;
    let mut request = Vec::new();
    write_request(&[b"CLUSTER", b"SLOTS"], &mut request);
    let reply = ask(dialer, &seed, &request)?;
    let unclear = |reason: &str| LoadError::NoSlots { endpoint: seed.endpoint.clone(), reason: reason.to_owned() };
    let ranges = match &reply {
        Value::Array(ranges) => ranges,
        Value::Error(text) => return Err(unclear(&String::from_utf8_lossy(text))),
        _ => return Err(unclear("its reply is no array")),
    };
    let mut found = Found::new(dialer);
    let mut slots = vec![u16::MAX; SLOTS].into_boxed_slice();
    let mut replica_endpoints = Vec::new();
    let ranges = read_ranges(ranges, &seed.endpoint);
    for range in ranges.ok_or_else(|| unclear("a range of slots is not in the known form"))? {
        let node = found.find_or_add(range.primary, &seed)?;
        let number = u16::try_from(node).unwrap_or(u16::MAX);
        let (first, last) = (usize::from(range.first), usize::from(range.last));
        slots.iter_mut().take(last + 1).skip(first).for_each(|slot| *slot = number);
        replica_endpoints.push((node, range.replicas));
    }
    let missing = slots.iter().filter(|&&node| node == u16::MAX).count();
    if missing > 0 {
        return Err(unclear(&format!("{missing} slots have no node")));
    }
    let primaries = found.nodes.len();
    let mut of = vec![Vec::new(); primaries];
    if dialer.settings.server.replica_reads {
        for (primary, endpoints) in replica_endpoints {
            for endpoint in endpoints {
                let replica = found.find_or_add(endpoint, &seed)?;
                // Each range of a node names them all.
                if !of[primary].contains(&replica) {
                    of[primary].push(replica);
                }
            }
        }
    }
    let known = other_hosts(dialer, &seed)?;
    let hosts = Arc::new(found.hosts_with(&seed, known));
    let keys =
        dialer.settings.commands.iter().map(|command| key_of(command, dialer, &seed)).collect::<Result<_, _>>()?;
    let mut map = ClusterMap { nodes: found.nodes, slots, primaries, replicas: None, keys, hosts };
    if dialer.settings.server.replica_reads {
        map.replicas = Some(replicas(of, &map, dialer, &seed)?);
    }
    Ok(map)
}

/// The key of a command, as the node at `asked` knows its arguments; its first argument where the node does not.
fn key_of(command: &Command, dialer: &Dialer, asked: &Node) -> Result<CommandKey, LoadError> {
    let known = first_argument(command);
    let words = split_words(command.line.as_bytes()).unwrap_or_default();
    let is_clear = known != CommandKey::Drawn && command.transaction_step() == TransactionStep::Other;
    if words.len() < 2 || !is_clear || command.ratio == 0 {
        return Ok(known);
    }
    let mut asking: Vec<&[u8]> = vec![b"COMMAND", b"GETKEYS"];
    asking.extend(words.iter().map(Vec::as_slice));
    let mut request = Vec::new();
    write_request(&asking, &mut request);
    Ok(match ask(dialer, asked, &request)? {
        Value::Array(keys) => match keys.first() {
            Some(Value::Bulk(key)) => CommandKey::Slot(key_slot(key)),
            Some(_) => known,
            None => CommandKey::Absent,
        },
        Value::Error(text) if text.ends_with(NO_KEYS) => CommandKey::Absent,
        _ => known,
    })
}

/// The key of a command whose first argument is one, if it has any.
fn first_argument(command: &Command) -> CommandKey {
    let is_state = !matches!(command.transaction_step(), TransactionStep::Other | TransactionStep::Watch);
    match command.template.first_argument() {
        _ if command.draws_keys() => CommandKey::Drawn,
        Some(key) if !is_state => CommandKey::Slot(key_slot(key)),
        _ => CommandKey::Absent,
    }
}

/// Hosts of all nodes that `seed` knows, those without slots too: they may get some during a run. None where it does not
/// answer with its list.
fn other_hosts(dialer: &Dialer, seed: &Node) -> Result<Vec<String>, LoadError> {
    let mut request = Vec::new();
    write_request(&[b"CLUSTER", b"NODES"], &mut request);
    Ok(match ask(dialer, seed, &request)? {
        Value::Bulk(text) => hosts_of_nodes(&text),
        _ => Vec::new(),
    })
}

/// A primary without a cluster and its replicas, as it knows them: all slots are its own.
///
/// # Errors
/// When it cannot be asked, or has none.
pub(crate) fn discover_replicas(dialer: &Dialer) -> Result<ClusterMap, LoadError> {
    let primary = dialer.node(dialer.settings.server.endpoint.clone())?;
    let mut request = Vec::new();
    write_request(&[b"ROLE"], &mut request);
    let endpoints = match ask(dialer, &primary, &request)? {
        Value::Array(role) => replicas_of_role(&role).map_err(|reason| no_replicas(&primary.endpoint, reason))?,
        Value::Error(text) => return Err(no_replicas(&primary.endpoint, &String::from_utf8_lossy(&text))),
        _ => return Err(no_replicas(&primary.endpoint, "does not report its role")),
    };
    let slots = vec![0; SLOTS].into_boxed_slice();
    if endpoints.len() >= MOST_NODES {
        return Err(no_replicas(&primary.endpoint, &format!("names {} of them", endpoints.len())));
    }
    let hosts = Arc::default();
    let keys = dialer.settings.commands.iter().map(first_argument).collect();
    let mut map = ClusterMap { nodes: vec![primary.clone()], slots, primaries: 1, replicas: None, keys, hosts };
    for endpoint in endpoints {
        map.nodes.push(dialer.node(endpoint)?);
    }
    let of = (1..map.nodes.len()).collect();
    map.replicas = Some(replicas(vec![of], &map, dialer, &primary)?);
    Ok(map)
}

/// What goes to the replicas `of` the primaries of `map`, as the node at `asked` knows the commands.
///
/// # Errors
/// When a primary has none, or there is nothing that they could be asked.
fn replicas(of: Vec<Vec<usize>>, map: &ClusterMap, dialer: &Dialer, asked: &Node) -> Result<Replicas, LoadError> {
    if let Some(alone) = of.iter().position(Vec::is_empty) {
        return Err(no_replicas(&map.node(alone).endpoint, "has none"));
    }
    let settings = &dialer.settings;
    let reads = only_reading(dialer, asked)?;
    let sent = || settings.commands.iter().zip(&reads).filter(|(command, _)| command.ratio > 0);
    if !sent().any(|(_, reads)| *reads) {
        return Err(no_replicas(&asked.endpoint, "reports none of the commands as read-only"));
    }
    let has_writes = sent().any(|(_, reads)| !reads);
    Ok(Replicas { of, reads, has_writes })
}

/// For each command whether the server lists it as read-only.
fn only_reading(dialer: &Dialer, asked: &Node) -> Result<Vec<bool>, LoadError> {
    let names = names(&dialer.settings);
    let mut words: Vec<&[u8]> = vec![b"COMMAND", b"INFO"];
    words.extend(names.iter().flatten().map(String::as_bytes));
    let mut request = Vec::new();
    write_request(&words, &mut request);
    let infos = match ask(dialer, asked, &request)? {
        Value::Array(infos) if infos.len() == words.len() - 2 => infos,
        Value::Error(text) => return Err(no_replicas(&asked.endpoint, &String::from_utf8_lossy(&text))),
        _ => return Err(no_replicas(&asked.endpoint, "does not report which commands are read-only")),
    };
    Ok(infos.chunks(2).map(|pair| pair.iter().any(is_read_only)).collect())
}

/// For each command its name, and its name with what may be its subcommand: only the two together are `OBJECT|FREQ`.
fn names(settings: &Settings) -> Vec<[String; 2]> {
    let names = settings.commands.iter().map(|command| {
        let name = command.template.command();
        let word = command.template.first_argument().and_then(|word| std::str::from_utf8(word).ok());
        let word = word.filter(|word| word.len() <= LONGEST_SUBCOMMAND).unwrap_or_default();
        [name.to_owned(), format!("{name}|{word}")]
    });
    names.collect()
}

fn no_replicas(endpoint: &Endpoint, reason: &str) -> LoadError {
    LoadError::NoReplicas { endpoint: endpoint.clone(), reason: reason.to_owned() }
}

/// Nodes that discovery names, with the addresses of their hosts.
struct Found<'dialer> {
    dialer: &'dialer Dialer,
    nodes: Vec<Node>,
}

impl<'dialer> Found<'dialer> {
    const fn new(dialer: &'dialer Dialer) -> Self {
        Self { dialer, nodes: Vec::new() }
    }

    /// Index of the node at `endpoint`, which may be new; its name is looked up then. Fails where `asked` named too many.
    fn find_or_add(&mut self, endpoint: Endpoint, asked: &Node) -> Result<usize, LoadError> {
        if let Some(index) = self.nodes.iter().position(|node| node.endpoint == endpoint) {
            return Ok(index);
        }
        if self.nodes.len() >= MOST_NODES {
            let reason = format!("it names more than {MOST_NODES} nodes");
            return Err(LoadError::NoSlots { endpoint: asked.endpoint.clone(), reason });
        }
        self.nodes.push(self.dialer.node(endpoint)?);
        Ok(self.nodes.len() - 1)
    }

    /// The hosts of all nodes and of the one that was `asked`, with their addresses, and `others`, of which those without
    /// an address are left out.
    fn hosts_with(&self, asked: &Node, others: Vec<String>) -> BTreeMap<String, Vec<IpAddr>> {
        let mut hosts: BTreeMap<String, Vec<IpAddr>> = BTreeMap::new();
        for node in self.nodes.iter().chain([asked]) {
            if let Endpoint::Tcp { host, .. } = &node.endpoint {
                hosts.entry(host.clone()).or_insert_with(|| ips(&node.addresses));
            }
        }
        for host in others {
            if !hosts.contains_key(&host)
                && let Ok(node) = self.dialer.node(Endpoint::Tcp { host: host.clone(), port: 1 })
            {
                hosts.insert(host, ips(&node.addresses));
            }
        }
        hosts
    }
}

fn ips(addresses: &[Address]) -> Vec<IpAddr> {
    let ip = |address: &Address| match address {
        Address::Tcp(address) => Some(address.ip()),
        Address::Unix(_) => None,
    };
    addresses.iter().filter_map(ip).collect()
}
