//! Asks a node for the cluster's map.

use zerolap_resp::{Value, write_request};

use super::{ClusterMap, SLOTS};
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
    let mut map = ClusterMap { nodes: Vec::new(), slots: vec![u16::MAX; SLOTS].into_boxed_slice(), primaries: 0 };
    for range in ranges {
        let (first, last, endpoint) =
            read_range(range, &seed.endpoint).ok_or_else(|| unclear("a range of slots is not in the known form"))?;
        let node = map.find_or_add(endpoint, dialer)?;
        (first..=last).for_each(|slot| map.move_slot(slot, node));
    }
    map.primaries = map.nodes.len();
    let missing = map.slots.iter().filter(|&&node| node == u16::MAX).count();
    if missing > 0 {
        return Err(unclear(&format!("{missing} slots have no node")));
    }
    Ok(map)
}

/// First and last slot and the node of one range. A node that names no host means its own, `asked`.
fn read_range(range: &Value, asked: &Endpoint) -> Option<(u16, u16, Endpoint)> {
    let Value::Array(parts) = range else { return None };
    let [Value::Integer(first), Value::Integer(last), Value::Array(primary), ..] = parts.as_slice() else {
        return None;
    };
    let host = match (primary.first()?, asked) {
        (Value::Bulk(host), _) if !host.is_empty() && host != b"?" => String::from_utf8(host.clone()).ok()?,
        (_, Endpoint::Tcp { host, .. }) => host.clone(),
        _ => return None,
    };
    let Value::Integer(port) = primary.get(1)? else { return None };
    let slot = |number: i64| u16::try_from(number).ok().filter(|&slot| usize::from(slot) < SLOTS);
    Some((slot(*first)?, slot(*last)?, Endpoint::Tcp { host, port: u16::try_from(*port).ok()? }))
}
