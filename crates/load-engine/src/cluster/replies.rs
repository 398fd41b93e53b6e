//! Replies that describe a cluster or its nodes. They are read with distrust: what has no known form names nothing.

use zerolap_resp::{Reply, ReplyKind, Value};

use super::{MOST_NODES, SLOTS};
use zerolap_load_requests::Endpoint;

/// Where a request belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Redirect {
    pub(crate) slot: u16,
    pub(crate) endpoint: Endpoint,
    /// Whether only this request belongs there, after an ASKING; all of the slot's otherwise.
    pub(crate) is_ask: bool,
}

impl Redirect {
    /// What `reply` asks for; none if it is no redirection. A node that names no host means its own, `asked`.
    pub(crate) fn read(reply: &Reply<'_>, asked: &Endpoint) -> Option<Self> {
        if reply.kind != ReplyKind::Error || !matches!(reply.code, b"MOVED" | b"ASK") {
            return None;
        }
        let text = std::str::from_utf8(reply.text).ok()?;
        let mut words = text.split(' ').skip(1);
        let slot = words.next()?.parse().ok().filter(|slot| usize::from(*slot) < SLOTS)?;
        let (host, port) = words.next()?.trim().rsplit_once(':')?;
        let host = match (host, asked) {
            ("" | "?", Endpoint::Tcp { host, .. }) => host.clone(),
            (host, _) => host.to_owned(),
        };
        let endpoint = Endpoint::Tcp { host, port: port.parse().ok()? };
        Some(Self { slot, endpoint, is_ask: reply.code == b"ASK" })
    }
}

/// Slots that belong to one node.
#[derive(Debug)]
pub(super) struct SlotRange {
    pub(super) first: u16,
    pub(super) last: u16,
    pub(super) primary: Endpoint,
    pub(super) replicas: Vec<Endpoint>,
}

/// The ranges in a reply to `CLUSTER SLOTS` of the node at `asked`; none if it is not in the known form.
pub(super) fn read_ranges(ranges: &[Value], asked: &Endpoint) -> Option<Vec<SlotRange>> {
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

/// The hosts in a reply to `CLUSTER NODES`: `ID HOST:PORT@BUS[,NAME...] ...` on each line.
pub(super) fn hosts_of_nodes(text: &[u8]) -> Vec<String> {
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

/// The replicas that a reply to `ROLE` names, or why it names none.
pub(super) fn replicas_of_role(role: &[Value]) -> Result<Vec<Endpoint>, &'static str> {
    match role {
        [Value::Bulk(name), _, Value::Array(replicas), ..] if name == b"master" => {
            replicas.iter().map(replica_of_role).collect::<Option<_>>().ok_or("reports its replicas in an unknown form")
        }
        [Value::Bulk(name), ..] if name == b"slave" => Err("is one itself"),
        _ => Err("reports its role in an unknown form"),
    }
}

fn replica_of_role(replica: &Value) -> Option<Endpoint> {
    let Value::Array(parts) = replica else { return None };
    let [Value::Bulk(host), Value::Bulk(port), ..] = parts.as_slice() else { return None };
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    Some(Endpoint::Tcp { host: text(host)?, port: text(port)?.parse().ok()? })
}

/// Whether one command of a reply to `COMMAND INFO` only reads.
pub(super) fn is_read_only(info: &Value) -> bool {
    let Value::Array(parts) = info else { return false };
    let Some(Value::Array(flags)) = parts.get(2) else { return false };
    flags.iter().any(|flag| matches!(flag, Value::Status(flag) | Value::Bulk(flag) if flag == b"readonly"))
}

/// The readers of this file apart from connections: what fuzzing calls with any bytes.
pub mod untrusted {
    use zerolap_resp::{ReplyReader, Value, parse_value};

    use super::{Redirect, hosts_of_nodes, is_read_only, read_ranges, replicas_of_role};
    use zerolap_load_requests::Endpoint;

    /// Slot, endpoint, and whether it is an `ASK`, of each redirection among some replies of the node at `asked`.
    #[must_use]
    pub fn redirections(mut replies: &[u8], asked: &Endpoint) -> Vec<(u16, Endpoint, bool)> {
        let (mut reader, mut found) = (ReplyReader::new(), Vec::new());
        while let Ok(Some(reply)) = reader.next(&mut replies) {
            let redirect = Redirect::read(&reply, asked);
            found.extend(redirect.map(|Redirect { slot, endpoint, is_ask }| (slot, endpoint, is_ask)));
        }
        found
    }

    /// First and last slot and the nodes, the primary first, of each range in a reply to `CLUSTER SLOTS`; none if it is no
    /// such reply.
    #[must_use]
    pub fn cluster_slots(reply: &[u8], asked: &Endpoint) -> Option<Vec<(u16, u16, Vec<Endpoint>)>> {
        let Some(Value::Array(ranges)) = value(reply) else { return None };
        let ranges = read_ranges(&ranges, asked)?.into_iter();
        Some(ranges.map(|range| (range.first, range.last, [vec![range.primary], range.replicas].concat())).collect())
    }

    /// Hosts in the text of a reply to `CLUSTER NODES`.
    #[must_use]
    pub fn cluster_nodes(text: &[u8]) -> Vec<String> {
        hosts_of_nodes(text)
    }

    /// Replicas in a reply to `ROLE`; none if it is not that of a primary.
    #[must_use]
    pub fn role(reply: &[u8]) -> Option<Vec<Endpoint>> {
        let Some(Value::Array(role)) = value(reply) else { return None };
        replicas_of_role(&role).ok()
    }

    /// For each command in a reply to `COMMAND INFO` whether it only reads; none if it is no such reply.
    #[must_use]
    pub fn command_info(reply: &[u8]) -> Option<Vec<bool>> {
        let Some(Value::Array(commands)) = value(reply) else { return None };
        Some(commands.iter().map(is_read_only).collect())
    }

    fn value(reply: &[u8]) -> Option<Value> {
        parse_value(reply).ok()?.map(|(value, _)| value)
    }
}

#[cfg(test)]
mod tests {
    use zerolap_resp::{Leaves, Reply, ReplyKind};

    use super::{Redirect, hosts_of_nodes};
    use zerolap_load_requests::Endpoint;

    fn read(text: &str) -> Option<Redirect> {
        let code = text.split(' ').next().unwrap_or_default().as_bytes();
        let reply = Reply {
            kind: ReplyKind::Error,
            code,
            text: text.as_bytes(),
            first: b"",
            elements: 0,
            leaves: Leaves::VALUE,
            leaves_after_first: Leaves::NONE,
            error_elements: 0,
        };
        Redirect::read(&reply, &Endpoint::Tcp { host: "seed".to_owned(), port: 1 })
    }

    #[test]
    fn hosts_may_be_missing_or_hold_colons() {
        let to = |host: &str, is_ask| Redirect {
            slot: 3999,
            endpoint: Endpoint::Tcp { host: host.to_owned(), port: 6381 },
            is_ask,
        };
        assert_eq!(read("MOVED 3999 127.0.0.1:6381"), Some(to("127.0.0.1", false)));
        assert_eq!(read("ASK 3999 ::1:6381"), Some(to("::1", true)));
        assert_eq!(read("MOVED 3999 :6381"), Some(to("seed", false)));
        for other in
            ["MOVED", "MOVED x y:1", "MOVED 1 y", "MOVED 70000 y:1", "MOVED 16384 y:1", "ERR 3999 127.0.0.1:6381"]
        {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn hosts_are_named_by_address_and_by_name() {
        let text = b"07c3 127.0.0.1:30004@31004,host4 slave e7d1 0 1426238317239 4 connected\n\
            67ed ::1:30002@31002,,shard-id=69bc master - 0 1 2 connected 5461-10922\n\
            292f 10.0.0.3:30003 master - 0 1 3 connected\n\
            e7d1 :30001@31001 myself,master - 0 0 1 connected 0-5460\n\nnonsense\n";
        assert_eq!(hosts_of_nodes(text), ["127.0.0.1", "host4", "::1", "10.0.0.3"]);
    }
}
