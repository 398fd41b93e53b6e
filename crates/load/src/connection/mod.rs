//! One connection: what it still has to send, what is under way, what comes back.

mod in_flight;
mod output;

use std::sync::Arc;

use zerolap_resp::{Reply, ReplyReader};

use crate::requests::{DataPool, RequestStream};
use crate::socket::Socket;
use crate::tally::Tally;
use crate::{LoadError, Settings, clock, handshake};
use in_flight::InFlight;
use output::Output;

/// A connection and its stream of requests.
#[derive(Debug)]
pub(crate) struct Connection {
    settings: Arc<Settings>,
    pub(crate) socket: Socket,
    reader: ReplyReader,
    stream: RequestStream,
    output: Output,
    in_flight: InFlight,
    /// Requests still to be sent.
    remaining: u64,
    /// Whether the event loop watches for room to write.
    pub(crate) watches_room: bool,
}

impl Connection {
    /// Connects and authenticates connection `index` of `thread`.
    pub(crate) fn open(
        settings: &Arc<Settings>,
        data: &DataPool,
        thread: usize,
        index: usize,
    ) -> Result<Self, LoadError> {
        let socket = Socket::connect(&settings.server.endpoint, settings.connecting.connect_timeout)?;
        handshake::authenticate(&socket, settings)?;
        Ok(Self {
            settings: Arc::clone(settings),
            socket,
            reader: ReplyReader::new(),
            stream: RequestStream::new(settings, data, thread, index),
            output: Output::default(),
            in_flight: InFlight::new(settings.pipeline),
            remaining: 0,
            watches_room: false,
        })
    }

    /// Sets how many requests are still to be sent.
    pub(crate) fn assign(&mut self, requests: u64) {
        self.remaining = requests;
    }

    /// Whether nothing is left to send or to wait for.
    pub(crate) fn is_done(&self) -> bool {
        self.remaining == 0 && self.in_flight.is_empty()
    }

    /// Whether there is something to send and nothing to wait for.
    pub(crate) fn is_free(&self) -> bool {
        self.remaining > 0 && self.in_flight.is_empty()
    }

    /// Whether bytes wait for room to be written.
    pub(crate) fn has_unsent_bytes(&self) -> bool {
        !self.output.is_empty()
    }

    /// When the oldest request under way was sent.
    pub(crate) fn oldest_sent_ns(&self) -> Option<u64> {
        self.in_flight.oldest_sent_ns()
    }

    /// Adds the requests that are due and writes once; `whole` adds none before all replies are in.
    pub(crate) fn refill(&mut self, whole: bool, tally: &mut Tally) -> Result<(), LoadError> {
        let batch = if whole && !self.in_flight.is_empty() { 0 } else { self.in_flight.room() };
        let batch = usize::try_from(self.remaining).unwrap_or(usize::MAX).min(batch);
        for _ in 0..batch {
            let command = self.stream.write_next(self.output.bytes_mut());
            self.in_flight.push(command);
        }
        self.remaining -= batch as u64;
        self.in_flight.stamp_newest(batch, clock::now_ns());
        if self.output.is_empty() {
            return Ok(());
        }
        let sent = self.socket.send(self.output.unsent());
        if let Some(length) = sent.map_err(|source| self.broken(source))? {
            self.output.advance(length);
            tally.bytes_sent += length as u64;
        }
        Ok(())
    }

    /// Reads once into `buffer` and counts the replies in it.
    pub(crate) fn receive(&mut self, buffer: &mut [u8], tally: &mut Tally) -> Result<(), LoadError> {
        let received = self.socket.receive(buffer).map_err(|source| self.broken(source))?;
        let Some(length) = received else { return Ok(()) };
        if length == 0 {
            let in_flight = self.in_flight.length();
            return Err(LoadError::Disconnected { endpoint: self.settings.server.endpoint.clone(), in_flight });
        }
        let received_ns = clock::now_ns();
        tally.bytes_received += length as u64;
        let mut input = &buffer[..length];
        loop {
            let malformed =
                |source| LoadError::MalformedReply { endpoint: self.settings.server.endpoint.clone(), source };
            let Some(reply) = self.reader.next(&mut input).map_err(malformed)? else { return Ok(()) };
            if !reply.is_answer() {
                tally.pushes += 1;
            } else if let Some(request) = self.in_flight.pop() {
                tally.count(request.command, &reply, received_ns.saturating_sub(request.sent_ns));
                tally.ended_ns = received_ns;
            } else {
                let reply = describe(&reply);
                return Err(LoadError::UnexpectedReply { endpoint: self.settings.server.endpoint.clone(), reply });
            }
        }
    }

    fn broken(&self, source: std::io::Error) -> LoadError {
        LoadError::Broken { endpoint: self.settings.server.endpoint.clone(), source }
    }
}

fn describe(reply: &Reply<'_>) -> String {
    let text = format!("{} {}", reply.kind.name(), String::from_utf8_lossy(reply.code));
    text.trim_end().to_owned()
}
