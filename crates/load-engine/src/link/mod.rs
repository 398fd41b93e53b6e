//! One connection to one node: how it is made, what is under way on it, what comes back.

mod checker;
mod opening;
mod pipeline;

use std::collections::VecDeque;
use std::sync::Arc;

use zerolap_resp::{Reply, ReplyReader, write_request};

use crate::dialer::{Dialer, Node, Transport};
use crate::socket::Poller;
use checker::Checker;
use opening::State;
use pipeline::{InFlight, Output};
use zerolap_load_measure::{LoadError, Request, clock};
use zerolap_load_requests::Endpoint;

/// A request whose reply has come.
pub(crate) struct Answered {
    pub(crate) request: Request,
    /// Its bytes, where they are kept.
    pub(crate) kept: Option<Vec<u8>>,
    /// Whether the reply is the value that it must be, where that is compared.
    pub(crate) is_match: Option<bool>,
}

/// A connection of one client.
#[derive(Debug)]
pub(crate) struct Link {
    /// Index of the client that it belongs to.
    pub(crate) client: usize,
    /// Index of the node that it leads to.
    pub(crate) node: usize,
    dialer: Arc<Dialer>,
    target: Node,
    state: State,
    transport: Option<Transport>,
    reader: ReplyReader,
    /// Bytes of the reply that has begun, but not ended.
    unfinished_bytes: u64,
    output: Output,
    in_flight: InFlight,
    /// Only where values are compared.
    checker: Option<Box<Checker>>,
    /// The database that the connection is in; none where that is not known.
    database: Option<u32>,
    /// How often it was opened.
    pub(crate) openings: u32,
    /// When it was lost, if it was open before.
    pub(crate) lost_ns: u64,
    /// Until when nothing is sent, because the server loads its data; 0 if it does not.
    pub(crate) held_until_ns: u64,
    /// Tries in a row that did not lead to a connection.
    pub(crate) attempts: u32,
    /// How many of the newest requests under way are not written yet.
    unstamped: usize,
    /// Requests that still may be sent before the connection is made anew.
    allowance: u64,
    /// Requests that wait for room; only where the load generator does not choose the connection, in a cluster.
    pub(crate) waiting: VecDeque<(Request, Vec<u8>)>,
    /// Whether the event loop watches for room to write.
    watches_room: bool,
}

impl Link {
    /// A link of `client` to a node, not yet connected.
    pub(crate) fn new(dialer: &Arc<Dialer>, client: usize, node: usize, target: Node) -> Self {
        let settings = &dialer.settings;
        Self {
            client,
            node,
            dialer: Arc::clone(dialer),
            target,
            state: State::Closed { not_before_ns: 0 },
            transport: None,
            reader: ReplyReader::new(),
            unfinished_bytes: 0,
            output: Output::default(),
            in_flight: InFlight::new(
                settings.pipeline,
                settings.server.has_nodes() || settings.verify,
                settings.server.has_nodes() || settings.largest_database.is_some(),
            ),
            checker: Checker::new(settings),
            database: None,
            openings: 0,
            lost_ns: clock::now_ns(),
            held_until_ns: 0,
            attempts: 0,
            unstamped: 0,
            allowance: 0,
            waiting: VecDeque::new(),
            watches_room: false,
        }
    }

    /// Whether the event loop has to watch for room to write.
    pub(crate) fn needs_room(&self) -> bool {
        let Some(transport) = &self.transport else { return false };
        // While both sides agree on how to encrypt, room to write does not help the requests that wait for the end.
        let waits_for_room = !self.output.is_empty() && !transport.is_handshaking();
        waits_for_room || transport.has_unsent() || self.is_connecting()
    }

    /// Has the event loop watch the link's new socket, as number `index`.
    pub(crate) fn watch(&mut self, poller: &mut Poller, index: usize) -> Result<(), LoadError> {
        if let Some(transport) = &self.transport {
            poller.add(transport, index)?;
            self.watches_room = true;
        }
        Ok(())
    }

    /// Has the event loop watch for room to write on the socket with number `index` as long as that is needed.
    pub(crate) fn update_watch(&mut self, poller: &mut Poller, index: usize) -> Result<(), LoadError> {
        let needs_room = self.needs_room();
        if let Some(transport) = &self.transport
            && needs_room != self.watches_room
        {
            poller.watch_room(transport, index, needs_room)?;
            self.watches_room = needs_room;
        }
        Ok(())
    }

    /// When the oldest request under way was sent.
    pub(crate) fn oldest_sent_ns(&self) -> Option<u64> {
        self.in_flight.oldest_sent_ns().filter(|&sent_ns| sent_ns > 0)
    }

    /// Whether nothing is sent for a while.
    pub(crate) const fn is_held(&self) -> bool {
        self.held_until_ns > 0
    }

    /// How many requests it takes now; `whole` takes none before all replies are in.
    pub(crate) fn room(&self, whole: bool) -> usize {
        if !self.is_open() || self.is_held() || (whole && !self.in_flight.is_empty()) {
            return 0;
        }
        self.in_flight.room().min(usize::try_from(self.allowance).unwrap_or(usize::MAX))
    }

    /// Where the next request is written to, before it is [added](Self::add).
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        self.output.bytes_mut()
    }

    /// Adds a request whose bytes begin at `start` of the buffer. There must be room.
    pub(crate) fn add(&mut self, request: Request, start: usize) {
        self.in_flight.push(request, &self.output.bytes()[start..]);
        self.unstamped += 1;
        if !request.is_preparation {
            self.allowance -= 1;
        }
    }

    /// Adds what makes a node answer the next request though it does not have its slot yet.
    pub(crate) fn send_asking(&mut self) {
        self.prepare(&[b"ASKING"]);
    }

    /// Adds what makes the server answer the next requests from a database; false where they are already.
    pub(crate) fn select(&mut self, database: u32) -> bool {
        if self.database == Some(database) {
            return false;
        }
        self.database = Some(database);
        self.prepare(&[b"SELECT", database.to_string().as_bytes()]);
        true
    }

    /// Notes that a request may have led to another database.
    pub(crate) fn forget_database(&mut self) {
        self.database = None;
    }

    fn prepare(&mut self, words: &[&[u8]]) {
        let start = self.output.bytes().len();
        write_request(words, self.output.bytes_mut());
        self.add(Request { is_preparation: true, ..Request::default() }, start);
    }

    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.target.endpoint
    }

    /// Stamps the requests that were added and writes once; returns how many bytes the system took, and shows each
    /// stamped request to `stamped`.
    pub(crate) fn flush(&mut self, mut stamped: impl FnMut(&Request)) -> Result<usize, LoadError> {
        if self.unstamped > 0 {
            let now_ns = clock::now_ns();
            // `for_each` goes through both parts of the ring without looking at each step which one it is in.
            self.in_flight.newest(self.unstamped).for_each(|request| {
                // What is sent again, to another node, was sent before.
                if request.sent_ns == 0 {
                    request.sent_ns = now_ns;
                    if request.due_ns == 0 {
                        request.due_ns = now_ns;
                    }
                    if !request.is_preparation {
                        stamped(request);
                    }
                }
            });
            self.unstamped = 0;
        }
        self.write()
    }

    /// Writes once.
    fn write(&mut self) -> Result<usize, LoadError> {
        let Some(transport) = &mut self.transport else { return Ok(0) };
        let waits = transport.flush().map_err(|source| broken(&self.target, source))?;
        if waits || self.output.is_empty() {
            return Ok(0);
        }
        let sent = transport.send(self.output.unsent()).map_err(|source| broken(&self.target, source))?;
        self.output.advance(sent.unwrap_or(0));
        Ok(sent.unwrap_or(0))
    }

    /// Reads once into `buffer`; none if nothing was there.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, LoadError> {
        let Some(transport) = &mut self.transport else { return Ok(None) };
        let received = transport.receive(buffer).map_err(|source| broken(&self.target, source))?;
        if received == Some(0) { Err(self.closed()) } else { Ok(received) }
    }

    /// Takes the replies in `bytes`, which follow what was read before. Shows each to `answered` with its length, and
    /// with its request unless it is a push frame.
    pub(crate) fn take_replies(
        &mut self,
        mut bytes: &[u8],
        mut answered: impl FnMut(Option<Answered>, &Reply<'_>, u64),
    ) -> Result<(), LoadError> {
        let mut rest = bytes;
        loop {
            let malformed = |source| LoadError::MalformedReply { endpoint: self.target.endpoint.clone(), source };
            let Some(reply) = self.reader.next(&mut bytes).map_err(malformed)? else { break };
            let piece = &rest[..rest.len() - bytes.len()];
            let length = piece.len() as u64 + std::mem::take(&mut self.unfinished_bytes);
            rest = bytes;
            if !reply.is_answer() {
                self.checker.iter_mut().for_each(|checker| checker.forget());
                answered(None, &reply, length);
            } else if let Some(request) = self.in_flight.pop() {
                let kept = self.in_flight.pop_bytes();
                let checker = self.checker.as_mut();
                let is_match = checker.and_then(|checker| checker.check(&request, kept.as_deref(), reply.kind, piece));
                answered(Some(Answered { request, kept, is_match }), &reply, length);
            } else {
                let endpoint = self.target.endpoint.clone();
                return Err(LoadError::UnexpectedReply { endpoint, reply: describe(&reply) });
            }
        }
        self.unfinished_bytes += rest.len() as u64;
        if let Some(checker) = &mut self.checker {
            checker.keep(self.in_flight.oldest(), rest);
        }
        Ok(())
    }

    /// Whether there may be more to read than the event loop knows of.
    pub(crate) fn may_hold_more(&self) -> bool {
        self.transport.as_ref().is_some_and(Transport::may_hold_more)
    }

    /// Takes the oldest request that has no reply, when the connection is given up.
    pub(crate) fn take_unanswered(&mut self) -> Option<Request> {
        let request = self.in_flight.pop();
        self.in_flight.pop_bytes();
        request
    }

    fn closed(&self) -> LoadError {
        LoadError::Disconnected { endpoint: self.target.endpoint.clone(), in_flight: self.in_flight.length() }
    }
}

fn broken(target: &Node, source: std::io::Error) -> LoadError {
    LoadError::Broken { endpoint: target.endpoint.clone(), source }
}

fn describe(reply: &Reply<'_>) -> String {
    let text = format!("{} {}", reply.kind.name(), String::from_utf8_lossy(reply.code));
    text.trim_end().to_owned()
}
