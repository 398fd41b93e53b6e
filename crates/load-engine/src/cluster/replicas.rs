//! Reading from replicas: which nodes are some, and what they may be asked.

use zerolap_resp::{Value, write_request};

use std::sync::Arc;

use super::{ClusterMap, MOST_NODES, SLOTS};
use crate::dialer::{Dialer, Node};
use crate::dialogue::ask;
use zerolap_load_measure::LoadError;
use zerolap_load_requests::Random;
use zerolap_load_requests::{Endpoint, Settings};

/// Longer words are no subcommands.
const LONGEST_SUBCOMMAND: usize = 32;

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
    /// The replicas `of` the primaries of `map`, at the nodes that `asked` knows.
    ///
    /// # Errors
    /// When a primary has none, or there is nothing that they could be asked.
    pub(super) fn new(of: Vec<Vec<usize>>, map: &ClusterMap, dialer: &Dialer, asked: &Node) -> Result<Self, LoadError> {
        if let Some(alone) = of.iter().position(Vec::is_empty) {
            return Err(no_replicas(&map.node(alone).endpoint, "has none"));
        }
        let settings = &dialer.settings;
        let reads = only_reading(dialer, asked)?;
        let sent = || settings.commands.iter().zip(&reads).filter(|(command, _)| command.ratio > 0);
        if !sent().any(|(_, reads)| *reads) {
            return Err(no_replicas(&asked.endpoint, "says that none of the commands only reads"));
        }
        let has_writes = sent().any(|(_, reads)| !reads);
        Ok(Self { of, reads, has_writes })
    }

    /// A replica of `primary` to answer `command`; none if that is not for replicas. It is drawn: with turns, commands
    /// that alternate would always meet the same ones.
    pub(super) fn choose(&self, primary: usize, command: usize, random: &mut Random) -> Option<usize> {
        let is_read = self.reads.get(command).is_some_and(|reads| *reads);
        let replicas = self.of.get(primary).filter(|replicas| is_read && !replicas.is_empty())?;
        let drawn = usize::try_from(random.below(replicas.len() as u64)).unwrap_or(0);
        replicas.get(drawn).copied()
    }

    pub(super) fn contains(&self, node: usize) -> bool {
        self.of.iter().any(|replicas| replicas.contains(&node))
    }

    /// How many nodes get requests, of which `primaries` are primaries.
    pub(super) fn busy_nodes(&self, primaries: usize) -> usize {
        let replicas = self.of.iter().map(Vec::len).sum::<usize>();
        if self.has_writes { replicas + primaries } else { replicas }
    }
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
        _ => return Err(no_replicas(&primary.endpoint, "does not tell its role")),
    };
    let slots = vec![0; SLOTS].into_boxed_slice();
    if endpoints.len() >= MOST_NODES {
        return Err(no_replicas(&primary.endpoint, &format!("names {} of them", endpoints.len())));
    }
    let hosts = Arc::default();
    let mut map = ClusterMap { nodes: vec![primary.clone()], slots, primaries: 1, replicas: None, hosts };
    for endpoint in endpoints {
        map.nodes.push(dialer.node(endpoint)?);
    }
    let of = (1..map.nodes.len()).collect();
    map.replicas = Some(Replicas::new(vec![of], &map, dialer, &primary)?);
    Ok(map)
}

/// The replicas that a reply to `ROLE` names, or why it names none.
pub(crate) fn replicas_of_role(role: &[Value]) -> Result<Vec<Endpoint>, &'static str> {
    match role {
        [Value::Bulk(name), _, Value::Array(replicas), ..] if name == b"master" => {
            replicas.iter().map(replica_of_role).collect::<Option<_>>().ok_or("tells its replicas in an unknown form")
        }
        [Value::Bulk(name), ..] if name == b"slave" => Err("is one itself"),
        _ => Err("tells its role in an unknown form"),
    }
}

fn replica_of_role(replica: &Value) -> Option<Endpoint> {
    let Value::Array(parts) = replica else { return None };
    let [Value::Bulk(host), Value::Bulk(port), ..] = parts.as_slice() else { return None };
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    Some(Endpoint::Tcp { host: text(host)?, port: text(port)?.parse().ok()? })
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

/// Whether one command of a reply to `COMMAND INFO` only reads.
pub(crate) fn is_read_only(info: &Value) -> bool {
    let Value::Array(parts) = info else { return false };
    let Some(Value::Array(flags)) = parts.get(2) else { return false };
    flags.iter().any(|flag| matches!(flag, Value::Status(flag) | Value::Bulk(flag) if flag == b"readonly"))
}

fn no_replicas(endpoint: &Endpoint, reason: &str) -> LoadError {
    LoadError::NoReplicas { endpoint: endpoint.clone(), reason: reason.to_owned() }
}
