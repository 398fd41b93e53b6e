//! Asks a node for the cluster's map.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use zerolap_resp::{Value, write_request};

use super::{ClusterMap, MOST_NODES, Replicas, SLOTS};
use crate::address::Address;
use crate::dialer::{Dialer, Node};
use crate::dialogue::ask;
use zerolap_load_measure::LoadError;
use zerolap_load_requests::Endpoint;

/// The map that the node at the settings' endpoint tells.
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
    let mut replicas = Vec::new();
    let ranges = read_ranges(ranges, &seed.endpoint);
    for range in ranges.ok_or_else(|| unclear("a range of slots is not in the known form"))? {
        let node = found.find_or_add(range.primary, &seed)?;
        let number = u16::try_from(node).unwrap_or(u16::MAX);
        let (first, last) = (usize::from(range.first), usize::from(range.last));
        slots.iter_mut().take(last + 1).skip(first).for_each(|slot| *slot = number);
        replicas.push((node, range.replicas));
    }
    let missing = slots.iter().filter(|&&node| node == u16::MAX).count();
    if missing > 0 {
        return Err(unclear(&format!("{missing} slots have no node")));
    }
    let primaries = found.nodes.len();
    let mut of = vec![Vec::new(); primaries];
    if dialer.settings.server.replica_reads {
        for (primary, endpoints) in replicas {
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
    let mut map = ClusterMap { nodes: found.nodes, slots, primaries, replicas: None, hosts };
    if dialer.settings.server.replica_reads {
        map.replicas = Some(Replicas::new(of, &map, dialer, &seed)?);
    }
    Ok(map)
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

/// The hosts in a reply to `CLUSTER NODES`: `ID HOST:PORT@BUS[,NAME...] ...` on each line.
pub(crate) fn hosts_of_nodes(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let places = text.lines().take(MOST_NODES).filter_map(|line| line.split(' ').nth(1));
    let hosts = places.flat_map(|place| {
        let mut parts = place.split(',');
        let host = parts.next().and_then(|address| address.rsplit_once(':')).map(|(host, _)| host);
        // What follows the name are further properties, such as `shard-id=...`.
        host.into_iter().chain(parts.next().filter(|name| !name.contains('=')))
    });
    hosts.filter(|host| !host.is_empty()).map(str::to_owned).collect()
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

    /// The hosts of all nodes and of the one that was `asked`, with their addresses, and `others`, of which those without an address are left out.
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

/// Slots that belong to one node.
#[derive(Debug)]
pub(crate) struct SlotRange {
    pub(crate) first: u16,
    pub(crate) last: u16,
    pub(crate) primary: Endpoint,
    pub(crate) replicas: Vec<Endpoint>,
}

/// The ranges in a reply to `CLUSTER SLOTS` of the node at `asked`; none if it is not in the known form.
pub(crate) fn read_ranges(ranges: &[Value], asked: &Endpoint) -> Option<Vec<SlotRange>> {
    ranges.iter().map(|range| read_range(range, asked)).collect()
}

fn read_range(range: &Value, asked: &Endpoint) -> Option<SlotRange> {
    let Value::Array(parts) = range else { return None };
    let [Value::Integer(first), Value::Integer(last), primary, replicas @ ..] = parts.as_slice() else {
        return None;
    };
    let slot = |number: i64| u16::try_from(number).ok().filter(|&slot| usize::from(slot) < SLOTS);
    let replicas = replicas.iter().filter_map(|replica| read_node(replica, asked)).collect();
    Some(SlotRange { first: slot(*first)?, last: slot(*last)?, primary: read_node(primary, asked)?, replicas })
}

/// Where a node is. One that names no host means that of the node that was `asked`.
fn read_node(node: &Value, asked: &Endpoint) -> Option<Endpoint> {
    let Value::Array(parts) = node else { return None };
    let host = match (parts.first()?, asked) {
        (Value::Bulk(host), _) if !host.is_empty() && host != b"?" => String::from_utf8(host.clone()).ok()?,
        (_, Endpoint::Tcp { host, .. }) => host.clone(),
        _ => return None,
    };
    let Value::Integer(port) = parts.get(1)? else { return None };
    Some(Endpoint::Tcp { host, port: u16::try_from(*port).ok()? })
}

#[cfg(test)]
mod tests {
    use super::hosts_of_nodes;

    #[test]
    fn hosts_are_named_by_address_and_by_name() {
        let text = b"07c3 127.0.0.1:30004@31004,host4 slave e7d1 0 1426238317239 4 connected\n\
            67ed ::1:30002@31002,,shard-id=69bc master - 0 1 2 connected 5461-10922\n\
            292f 10.0.0.3:30003 master - 0 1 3 connected\n\
            e7d1 :30001@31001 myself,master - 0 0 1 connected 0-5460\n\nnonsense\n";
        assert_eq!(hosts_of_nodes(text), ["127.0.0.1", "host4", "::1", "10.0.0.3"]);
    }
}
