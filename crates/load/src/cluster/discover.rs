//! Asks a node for the cluster's map.

use zerolap_resp::{Value, write_request};

use super::{ClusterMap, Replicas, SLOTS};
use crate::dialer::Dialer;
use crate::dialogue::ask;
use crate::{Endpoint, LoadError};

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
    let mut map =
        ClusterMap { nodes: Vec::new(), slots: vec![u16::MAX; SLOTS].into_boxed_slice(), primaries: 0, replicas: None };
    let mut replicas = Vec::new();
    for range in ranges {
        let (first, last, endpoint, others) =
            read_range(range, &seed.endpoint).ok_or_else(|| unclear("a range of slots is not in the known form"))?;
        let node = map.find_or_add(endpoint, dialer)?;
        (first..=last).for_each(|slot| map.move_slot(slot, node));
        replicas.push((node, others));
    }
    map.primaries = map.nodes.len();
    let missing = map.slots.iter().filter(|&&node| node == u16::MAX).count();
    if missing > 0 {
        return Err(unclear(&format!("{missing} slots have no node")));
    }
    if dialer.settings.server.replica_reads {
        let mut of = vec![Vec::new(); map.primaries];
        for (primary, endpoints) in replicas {
            for endpoint in endpoints {
                let replica = map.find_or_add(endpoint, dialer)?;
                // Each range of a node names them all.
                if !of[primary].contains(&replica) {
                    of[primary].push(replica);
                }
            }
        }
        map.replicas = Some(Replicas::new(of, &map, dialer, &seed)?);
    }
    Ok(map)
}

/// First and last slot of one range, the node that has it, and its replicas.
fn read_range(range: &Value, asked: &Endpoint) -> Option<(u16, u16, Endpoint, Vec<Endpoint>)> {
    let Value::Array(parts) = range else { return None };
    let [Value::Integer(first), Value::Integer(last), primary, replicas @ ..] = parts.as_slice() else {
        return None;
    };
    let slot = |number: i64| u16::try_from(number).ok().filter(|&slot| usize::from(slot) < SLOTS);
    let replicas = replicas.iter().filter_map(|replica| read_node(replica, asked)).collect();
    Some((slot(*first)?, slot(*last)?, read_node(primary, asked)?, replicas))
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
