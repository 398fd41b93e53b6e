//! Connections that only read what the server pushes, in one thread of their own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle, sleep};
use std::time::Duration;

use zerolap_resp::{Reply, ReplyKind, ReplyReader};

use crate::Watch;
use crate::cluster::{ClusterMap, discover};
use crate::dialer::{Dialer, Node};
use crate::link::Link;
use crate::resources::make_room;
use crate::socket::{EVENTS, Poller, Ready};
use zerolap_load_measure::{ListenerTally, LoadError, Request, clock};
use zerolap_load_requests::{ConsecutiveKeys, ListenCommand, Listening, Server, Settings};

/// What was pushed because of the last request may come a little after its reply: so long nothing must come.
const QUIET_NS: u64 = 200_000_000;
/// Others may push without end: longer is not waited, once all that had come until then was read.
const LONGEST_ECHO_NS: u64 = 1_000_000_000;
/// Not even where more comes than can be read.
const LONGEST_BACKLOG_NS: u64 = 30_000_000_000;
const LOOK: Duration = Duration::from_millis(5);

/// Listeners that are opened at the same time; a server's backlog holds more.
const AT_A_TIME: usize = 64;
const READ_BYTES: usize = 64 * 1024;
/// Time between two looks at whether it is over.
const TICK: Duration = Duration::from_millis(20);
const RETRY: Duration = Duration::from_millis(1);

/// Open listeners. They read until this is dropped.
#[derive(Debug)]
pub(crate) struct Listeners {
    shared: Arc<Shared>,
    began_ns: u64,
    thread: Option<JoinHandle<Result<(), LoadError>>>,
}

/// What both threads see.
#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    counted: Mutex<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    tally: ListenerTally,
    /// When something was read last.
    last_ns: u64,
    /// When the thread last saw all that was there: a thread that gets no processor must not pass for silence.
    looked_ns: u64,
}

impl Shared {
    fn counted(&self) -> MutexGuard<'_, Counted> {
        // Counts are never half written: a thread that panicked is reported as lost when it is joined.
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listeners {
    /// Opens all listeners that the settings ask for, if any, and waits until the server has confirmed each.
    ///
    /// # Errors
    /// When one cannot be had, or the server refuses what it sends.
    pub(crate) fn connect(settings: &Settings, watch: &Watch) -> Result<Option<Self>, LoadError> {
        let Some(listening) = settings.listening.clone() else { return Ok(None) };
        make_room(listening.connections)?;
        let shared = Arc::new(Shared::default());
        let (opened_sender, opened) = channel();
        let (settings, interrupt, of_thread) = (settings.clone(), Arc::clone(&watch.interrupt), Arc::clone(&shared));
        let work = move || {
            let readers = Readers::open(&settings, &listening, &of_thread, &interrupt);
            // Nobody waits for it any more only when the program ends.
            match readers {
                Err(error) => drop(opened_sender.send(Err(error))),
                Ok(mut readers) => {
                    drop(opened_sender.send(Ok(())));
                    readers.read_on()?;
                }
            }
            Ok(())
        };
        let thread = Builder::new().name("listeners".to_owned()).spawn(work).map_err(LoadError::Thread)?;
        let listeners = Self { shared, began_ns: clock::now_ns(), thread: Some(thread) };
        opened.recv().map_err(|_| LoadError::ThreadLost)??;
        Ok(Some(listeners))
    }

    /// Counts from now on. Who was disconnected before stays so.
    pub(crate) fn begin(&mut self) {
        let mut counted = self.shared.counted();
        counted.tally.forget_messages();
        self.began_ns = clock::now_ns();
        counted.last_ns = self.began_ns;
    }

    /// Ends listening; returns what was counted. Where requests made the server push, what is still on its way is
    /// waited for.
    ///
    /// # Errors
    /// When the thread could not go on.
    pub(crate) fn finish(mut self, awaits_echo: bool) -> Result<ListenerTally, LoadError> {
        let asked_ns = clock::now_ns();
        if awaits_echo {
            self.await_echo(asked_ns);
        }
        let (mut tally, last_ns) = {
            let mut counted = self.shared.counted();
            (std::mem::take(&mut counted.tally), counted.last_ns)
        };
        self.end()?;
        let ended_ns = if awaits_echo { last_ns.max(asked_ns) } else { asked_ns };
        tally.elapsed_ns = ended_ns.saturating_sub(self.began_ns);
        Ok(tally)
    }

    fn await_echo(&self, asked_ns: u64) {
        loop {
            let (last_ns, looked_ns) = {
                let counted = self.shared.counted();
                (counted.last_ns.max(asked_ns), counted.looked_ns)
            };
            let is_quiet = looked_ns.saturating_sub(last_ns) >= QUIET_NS;
            let is_long = looked_ns.saturating_sub(asked_ns) >= LONGEST_ECHO_NS;
            let is_backlog = clock::now_ns().saturating_sub(asked_ns) >= LONGEST_BACKLOG_NS;
            if is_quiet || is_long || is_backlog || self.thread.as_ref().is_none_or(JoinHandle::is_finished) {
                return;
            }
            sleep(LOOK);
        }
    }

    fn end(&mut self) -> Result<(), LoadError> {
        self.shared.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        ended.map_or(Ok(()), |ended| ended.unwrap_or(Err(LoadError::ThreadLost)))
    }
}

impl Drop for Listeners {
    fn drop(&mut self) {
        // An error that matters to a run has been returned by `finish`.
        let _ = self.end();
    }
}

/// The thread of all listeners: opens them, then reads.
struct Readers {
    listeners: Vec<Listener>,
    poller: Poller,
    buffer: Box<[u8]>,
    shared: Arc<Shared>,
    interrupt: Arc<AtomicBool>,
    connect_timeout: Duration,
}

impl Readers {
    /// Opens all listeners and waits until each is confirmed.
    fn open(
        settings: &Settings,
        listening: &Listening,
        shared: &Arc<Shared>,
        interrupt: &Arc<AtomicBool>,
    ) -> Result<Self, LoadError> {
        let mut readers = Self {
            listeners: make_listeners(settings, listening)?,
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
                self.listeners[next].link.watch(&mut self.poller, next)?;
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
    fn read_on(&mut self) -> Result<(), LoadError> {
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
                return self.listeners[event.index].link.watch(&mut self.poller, event.index);
            }
            if listener.link.is_open() {
                listener.send()?;
            }
        }
        self.listeners[event.index].link.update_watch(&mut self.poller, event.index)
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

/// A connection, and how far its command is confirmed.
#[derive(Debug)]
struct Listener {
    link: Link,
    reader: ReplyReader,
    /// What it sends when it is connected.
    request: Vec<u8>,
    line: String,
    /// The first word of each confirmation; none where any answer confirms.
    confirmation: Option<&'static [u8]>,
    awaited: usize,
}

impl Listener {
    /// A listener that is not connected yet and sends `request`, made of `command`.
    fn new(link: Link, command: &ListenCommand, request: Vec<u8>) -> Self {
        Self {
            link,
            reader: ReplyReader::new(),
            request,
            line: command.line.clone(),
            confirmation: command.confirmation(),
            awaited: command.confirmations(),
        }
    }

    /// Whether the server has confirmed the command.
    const fn is_confirmed(&self) -> bool {
        self.awaited == 0
    }

    /// Sends the command, as far as the system takes it.
    fn send(&mut self) -> Result<(), LoadError> {
        if !self.request.is_empty() {
            let start = self.link.buffer().len();
            self.link.buffer().append(&mut self.request);
            // The link measures how long the server lets it wait.
            self.link.add(Request::default(), start);
        }
        self.link.flush(|_| {}).map(|_| ())
    }

    /// Reads once and counts what came.
    fn receive(&mut self, buffer: &mut [u8], tally: &mut ListenerTally) -> Result<(), LoadError> {
        while let Some(length) = self.link.read(buffer)? {
            tally.bytes += length as u64;
            let (mut bytes, endpoint) = (&buffer[..length], self.link.endpoint());
            let malformed = |source| LoadError::MalformedReply { endpoint: endpoint.clone(), source };
            while let Some(reply) = self.reader.next(&mut bytes).map_err(malformed)? {
                let is_counted = match self.awaited {
                    0 => true,
                    _ if reply.kind == ReplyKind::Error => {
                        let reply = String::from_utf8_lossy(reply.text).into_owned();
                        let line = self.line.clone();
                        return Err(LoadError::CheckFailed { endpoint: endpoint.clone(), line, reply });
                    }
                    _ if confirms(self.confirmation, &reply) => {
                        self.awaited -= 1;
                        false
                    }
                    // Messages of the first channel may come before the last one is confirmed; nothing else may.
                    _ if self.confirmation.is_none() || reply.kind.is_aggregate() => true,
                    _ => {
                        let (endpoint, reply) = (endpoint.clone(), reply.kind.name().to_owned());
                        return Err(LoadError::UnexpectedReply { endpoint, reply });
                    }
                };
                if is_counted {
                    tally.count(&reply);
                }
            }
            if !self.link.may_hold_more() {
                break;
            }
        }
        if self.is_confirmed() {
            // Nothing is waited for any more.
            self.link.take_unanswered();
        }
        Ok(())
    }
}

fn confirms(confirmation: Option<&'static [u8]>, reply: &Reply<'_>) -> bool {
    confirmation.map_or(reply.is_answer(), |word| reply.first.eq_ignore_ascii_case(word))
}

/// Listeners, not yet connected.
fn make_listeners(settings: &Settings, listening: &Listening) -> Result<Vec<Listener>, LoadError> {
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

/// Where a listener connects to in a cluster: sharded channels have a node of their own, all else comes from every node.
fn target(map: &ClusterMap, command: &ListenCommand, channel: Option<&[u8]>, index: usize) -> Node {
    let node = match channel {
        Some(channel) if command.template.command() == "SSUBSCRIBE" => map.node_of_key(channel),
        _ => index % map.primaries().max(1),
    };
    map.node(node).clone()
}
