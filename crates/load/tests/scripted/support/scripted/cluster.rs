//! Nodes of a cluster in this process.

use std::net::TcpListener;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::{Peer, Request, Scripted};

const SLOTS: usize = 16_384;

/// Which node has which slots, as the nodes report it.
#[derive(Debug, Clone)]
pub struct Map {
    pub ports: Vec<u16>,
    /// Slots of each node; none: it is not in the map.
    pub slots: Vec<Option<RangeInclusive<usize>>>,
}

impl Map {
    /// The node that has a key in the map.
    pub fn owner(&self, key: &str) -> usize {
        let slot = slot(key);
        let has = |slots: &Option<RangeInclusive<usize>>| slots.as_ref().is_some_and(|slots| slots.contains(&slot));
        self.slots.iter().position(has).expect("a node")
    }

    /// The error that sends a key to another node.
    pub fn redirect(&self, kind: &str, key: &str, node: usize) -> String {
        format!("-{kind} {} 127.0.0.1:{}\r\n", slot(key), self.ports[node])
    }

    /// The reply to CLUSTER SLOTS.
    pub fn reply(&self) -> String {
        let ranges: Vec<String> = self
            .ports
            .iter()
            .zip(&self.slots)
            .filter_map(|(port, slots)| {
                let (first, last) = slots.as_ref().map(|slots| (slots.start(), slots.end()))?;
                Some(format!("*3\r\n:{first}\r\n:{last}\r\n*3\r\n$9\r\n127.0.0.1\r\n:{port}\r\n$2\r\nid\r\n"))
            })
            .collect();
        format!("*{}\r\n{}", ranges.len(), ranges.concat())
    }
}

/// Nodes that share the slots evenly.
pub fn even(nodes: usize) -> Vec<Option<RangeInclusive<usize>>> {
    let start = |node: usize| (node * SLOTS).div_ceil(nodes);
    (0..nodes).map(|node| Some(start(node)..=start(node + 1) - 1)).collect()
}

/// The first of so many nodes has all slots.
pub fn first_of(nodes: usize) -> Vec<Option<RangeInclusive<usize>>> {
    (0..nodes).map(|node| (node == 0).then_some(0..=SLOTS - 1)).collect()
}

/// Starts a node for each part of `slots`, which serves each connection with `script`.
pub fn start_with(
    slots: Vec<Option<RangeInclusive<usize>>>,
    script: impl Fn(&Map, usize, &mut Peer) + Send + Sync + 'static,
) -> Vec<Scripted> {
    let listeners: Vec<TcpListener> = slots.iter().map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
    let port = |listener: &TcpListener| listener.local_addr().expect("an address").port();
    let map = Map { ports: listeners.iter().map(port).collect(), slots };
    let shared = Arc::new((map, script));
    let serve = |(node, listener)| {
        let shared = Arc::clone(&shared);
        Scripted::serve(listener, move |peer| shared.1(&shared.0, node, peer))
    };
    listeners.into_iter().enumerate().map(serve).collect()
}

/// The same; each request but CLUSTER SLOTS is answered with what `reply` makes of it.
pub fn start(
    slots: Vec<Option<RangeInclusive<usize>>>,
    reply: impl Fn(&Map, usize, &Request) -> String + Send + Sync + 'static,
) -> Vec<Scripted> {
    start_with(slots, move |map, node, peer| {
        peer.serve(|request, _| if request[0] == "CLUSTER" { map.reply() } else { reply(map, node, request) });
    })
}

/// The requests of a node, without the questions for the map and for keys.
pub fn commands(node: &Scripted) -> Vec<Request> {
    node.requests().into_iter().filter(|request| !["CLUSTER", "COMMAND"].contains(&request[0].as_str())).collect()
}

/// The slot of a key, from the specification: CRC16 (XMODEM), bit by bit, of what stands between the first { and the
/// next }, if anything does.
pub fn slot(key: &str) -> usize {
    let tag = key.split_once('{').and_then(|(_, rest)| rest.split_once('}')).map(|(tag, _)| tag);
    let hashed = tag.filter(|tag| !tag.is_empty()).unwrap_or(key);
    let crc = hashed.bytes().fold(0_u16, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(byte) << 8), |crc, _| {
            let shifted = crc << 1;
            if crc & 0x8000 == 0 { shifted } else { shifted ^ 0x1021 }
        })
    });
    usize::from(crc) % SLOTS
}
