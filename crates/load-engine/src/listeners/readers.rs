//! The thread of all listeners: opens them, then reads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::Shared;
use super::listener::Listener;
use crate::cluster::{ClusterMap, discover};
use crate::dialer::{Dialer, Node};
use crate::link::Link;
use crate::worker::{EVENTS, Poller, Ready};
use zerolap_load_measure::{LoadError, clock};
use zerolap_load_requests::ConsecutiveKeys;
use zerolap_load_requests::{ListenCommand, Listening};
use zerolap_load_requests::{Server, Settings};

/// Listeners that are opened at the same time; a server's backlog holds more.
const AT_A_TIME: usize = 64;
const READ_BYTES: usize = 64 * 1024;
/// Time between two looks at whether it is over.
const TICK: Duration = Duration::from_millis(20);
const RETRY: Duration = Duration::from_millis(1);

pub(super) struct Readers {
    listeners: Vec<Listener>,
    poller: Poller,
    buffer: Box<[u8]>,
    shared: Arc<Shared>,
    interrupt: Arc<AtomicBool>,
    connect_timeout: Duration,
}

impl Readers {
    /// Opens all listeners and waits until each is confirmed.
    pub(super) fn open(
        settings: &Settings,
        listening: &Listening,
        shared: &Arc<Shared>,
        interrupt: &Arc<AtomicBool>,
    ) -> Result<Self, LoadError> {
        let mut readers = Self {
            listeners: make(settings, listening)?,
            poller: Poller::new()?,
            buffer: vec![0; READ_BYTES].into_boxed_slice(),
            shared: Arc::clone(shared),
            interrupt: Arc::clone(interrupt),
            connect_timeout: settings.connecting.connect_timeout,
        };
        readers.open_all()?;
        shared.counted().tally.connections = readers.listeners.len();
        Ok(readers)
    }

    fn open_all(&mut self) -> Result<(), LoadError> {
        let (mut next, mut opening) = (0, 0);
        let mut first_tried_ns = None;
        let mut ready = Vec::new();
        while next < self.listeners.len() || opening > 0 {
            if self.interrupt.load(Ordering::Relaxed) || self.shared.stop.load(Ordering::Relaxed) {
                return Err(LoadError::Interrupted);
            }
            let mut wait = TICK;
            while next < self.listeners.len() && opening < AT_A_TIME {
                if !self.listeners[next].link.start()? {
                    self.check_retries(next, *first_tried_ns.get_or_insert_with(clock::now_ns))?;
                    wait = RETRY;
                    break;
                }
                self.watch_new_socket(next)?;
                first_tried_ns = None;
                next += 1;
                opening += 1;
            }
            ready.clear();
            ready.extend(self.poller.wait_precisely(wait)?);
            for event in &ready {
                let was_confirmed = self.listeners[event.index].is_confirmed();
                self.advance(*event)?;
                opening -= usize::from(!was_confirmed && self.listeners[event.index].is_confirmed());
            }
            let now_ns = clock::now_ns();
            self.listeners[..next].iter().try_for_each(|listener| listener.link.check_patience(now_ns))?;
        }
        Ok(())
    }

    /// Reads until it is over. Who is disconnected stays so.
    pub(super) fn read_on(&mut self) -> Result<(), LoadError> {
        let mut ready = Vec::new();
        while !self.shared.stop.load(Ordering::Relaxed) {
            ready.clear();
            ready.extend(self.poller.wait(TICK)?);
            if ready.len() < EVENTS {
                self.shared.counted().looked_ns = clock::now_ns();
            }
            for event in &ready {
                let Err(error) = self.advance(*event) else { continue };
                self.listeners[event.index].link.close(u64::MAX);
                let tally = &mut self.shared.counted().tally;
                tally.disconnects += 1;
                tally.first_disconnect.get_or_insert_with(|| error.to_string());
            }
        }
        Ok(())
    }

    /// Lets a listener go on.
    fn advance(&mut self, event: Ready) -> Result<(), LoadError> {
        let listener = &mut self.listeners[event.index];
        if listener.link.is_open() {
            if listener.link.needs_room() {
                listener.send()?;
            }
            if event.readable {
                let mut counted = self.shared.counted();
                listener.receive(&mut self.buffer, &mut counted.tally)?;
                counted.last_ns = clock::now_ns();
            }
        } else {
            if listener.link.go_on()? {
                return self.watch_new_socket(event.index);
            }
            if listener.link.is_open() {
                listener.send()?;
            }
        }
        self.update_watch(event.index)
    }

    fn watch_new_socket(&mut self, index: usize) -> Result<(), LoadError> {
        let link = &mut self.listeners[index].link;
        if let Some(transport) = link.transport() {
            self.poller.add(transport, index)?;
            link.watches_room = true;
        }
        Ok(())
    }

    fn update_watch(&mut self, index: usize) -> Result<(), LoadError> {
        let link = &mut self.listeners[index].link;
        let needs_room = link.needs_room();
        if let Some(transport) = link.transport()
            && needs_room != link.watches_room
        {
            self.poller.watch_room(transport, index, needs_room)?;
            link.watches_room = needs_room;
        }
        Ok(())
    }

    /// A unix socket whose backlog stays full is like a server that does not answer.
    fn check_retries(&self, index: usize, since_ns: u64) -> Result<(), LoadError> {
        let waited = Duration::from_nanos(clock::now_ns().saturating_sub(since_ns));
        if waited < self.connect_timeout {
            return Ok(());
        }
        let endpoint = self.listeners[index].link.endpoint().clone();
        Err(LoadError::Connect { endpoint, source: std::io::ErrorKind::TimedOut.into() })
    }
}

/// Listeners, not yet connected.
fn make(settings: &Settings, listening: &Listening) -> Result<Vec<Listener>, LoadError> {
    let dialer = |credentials| {
        let server = Server { credentials, replica_reads: false, ..settings.server.clone() };
        Dialer::new(&Arc::new(Settings { server, pipeline: 1, ..settings.clone() })).map(Arc::new)
    };
    let given = listening.credentials.iter().map(|credentials| dialer(Some(credentials.clone())));
    let mut dialers: Vec<Arc<Dialer>> = given.collect::<Result<_, _>>()?;
    if dialers.is_empty() {
        dialers.push(dialer(settings.server.credentials.clone())?);
    }
    let map = if settings.server.is_cluster { Some(discover(&dialers[0])?) } else { None };
    let only = dialers[0].node(settings.server.endpoint.clone())?;
    let listener = |index: usize| {
        let command = &listening.commands[index % listening.commands.len()];
        let mut request = Vec::new();
        let key = command.template.write(&mut ConsecutiveKeys::new(settings.keys.range, index), &mut request);
        let channel = key.map(|key| &request[key]).or(command.template.first_argument());
        let target = map.as_ref().map_or_else(|| only.clone(), |map| target(map, command, channel, index));
        let link = Link::new(&dialers[index % dialers.len()], index, 0, target);
        Listener::new(link, command, request)
    };
    Ok((0..listening.connections).map(listener).collect())
}

/// Where a listener connects to in a cluster: sharded channels have a node of their own, all else is told by each node.
fn target(map: &ClusterMap, command: &ListenCommand, channel: Option<&[u8]>, index: usize) -> Node {
    let node = match channel {
        Some(channel) if command.template.command() == "SSUBSCRIBE" => map.node_of_key(channel),
        _ => index % map.primaries().max(1),
    };
    map.node(node).clone()
}
