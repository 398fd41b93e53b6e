//! Readers of what a server says, apart from connections: what fuzzing calls with any bytes.

use zerolap_resp::{ReplyReader, Value, parse_value};

use crate::cluster::{Redirect, hosts_of_nodes, is_read_only, read_ranges, replicas_of_role};
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
