//! The loop that reads, waits and answers.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::clock::now_ns;
use crate::connection::{Connection, Received};
use crate::entrance::{Entrance, Ready};
use crate::options::Options;
use crate::records::Records;
use crate::report::Report;
use crate::request::parse_request;
use crate::stalls::Stalls;

const BUFFER_BYTES: usize = 64 * 1024;

/// A request without a reply.
#[derive(Debug, Clone, Copy)]
struct Pending {
    connection: usize,
    request: usize,
    due_ns: u64,
}

/// The connections and their requests.
#[derive(Debug)]
pub(crate) struct Server {
    options: Options,
    delay_ns: u64,
    entrance: Entrance,
    /// By the order of their beginning; ended ones leave a gap.
    connections: Vec<Option<Connection>>,
    /// By arrival, which is the order of replies as well.
    pending: VecDeque<Pending>,
    /// Connections whose replies the system did not take whole.
    unsent: Vec<usize>,
    first_request_ns: Option<u64>,
    report: Report,
    records: Records,
}

impl Server {
    /// # Errors
    /// When the port is not to be had.
    pub(crate) fn listen(options: Options) -> io::Result<Self> {
        Ok(Self {
            delay_ns: u64::try_from(options.delay.as_nanos()).map_err(io::Error::other)?,
            entrance: Entrance::open(options.port)?,
            options,
            connections: Vec::new(),
            pending: VecDeque::new(),
            unsent: Vec::new(),
            first_request_ns: None,
            report: Report::default(),
            records: Records::default(),
        })
    }

    /// # Errors
    /// When the system does not report it.
    pub(crate) fn port(&self) -> io::Result<u16> {
        self.entrance.port()
    }

    /// What was counted, and when.
    pub(crate) fn finish(self) -> (Report, Records) {
        (self.report, self.records)
    }

    /// Answers until the flag is set.
    ///
    /// # Errors
    /// When a client sends something else than requests, or the system fails.
    pub(crate) fn serve(&mut self, end: &AtomicBool) -> io::Result<()> {
        let mut ready = Vec::new();
        let mut buffer = vec![0; BUFFER_BYTES];
        while !end.load(Ordering::Relaxed) {
            self.entrance.look(&mut ready)?;
            if self.first_request_ns.is_some() {
                self.report.note_look(now_ns());
            }
            for one in ready.drain(..) {
                match one {
                    Ready::Listener => self.accept()?,
                    Ready::Connection(index) => self.read(index, &mut buffer)?,
                }
                // Reads of many connections do not hold up replies that have become due in between.
                self.answer()?;
            }
            self.answer()?;
            for index in std::mem::take(&mut self.unsent) {
                self.send(index)?;
            }
        }
        Ok(())
    }

    fn accept(&mut self) -> io::Result<()> {
        while let Some(connection) = self.entrance.accept(self.connections.len())? {
            self.connections.push(Some(connection));
            self.report.connections += 1;
        }
        Ok(())
    }

    fn read(&mut self, index: usize, buffer: &mut [u8]) -> io::Result<()> {
        let Some(connection) = &mut self.connections[index] else { return Ok(()) };
        let length = match connection.receive(buffer) {
            Received::Nothing => return Ok(()),
            Received::End => {
                self.connections[index] = None;
                return Ok(());
            }
            Received::Bytes(length) => length,
        };
        let now_ns = now_ns();
        if connection.is_closed {
            return Ok(());
        }
        self.report.bytes_received += length as u64;
        let mut start = 0;
        while let Some(request) = parse_request(&connection.input, start).map_err(io::Error::other)? {
            self.first_request_ns.get_or_insert(now_ns);
            let number = usize::try_from(self.report.requests).map_err(io::Error::other)?;
            self.pending.push_back(Pending { connection: index, request: number, due_ns: now_ns + self.delay_ns });
            self.report.count_request(&connection.input[request.name]);
            if self.options.record.is_some() {
                self.records.arrived(now_ns);
            }
            start = request.end;
        }
        connection.input.drain(..start);
        Ok(())
    }

    /// Writes the replies that are due: those of one connection at once.
    fn answer(&mut self) -> io::Result<()> {
        let (Some(&first), Some(first_request_ns)) = (self.pending.front(), self.first_request_ns) else {
            return Ok(());
        };
        let now_ns = now_ns();
        let is_stalled = |stalls: Stalls| stalls.is_stalled(now_ns - first_request_ns);
        if first.due_ns > now_ns || self.options.stalls.is_some_and(is_stalled) {
            return Ok(());
        }
        let mut answered = Vec::new();
        while let Some(&pending) = self.pending.front().filter(|pending| pending.due_ns <= now_ns) {
            self.pending.pop_front();
            if self.reply(pending) {
                answered.push(pending.connection);
            }
        }
        answered.into_iter().try_for_each(|index| self.send(index))
    }

    /// Puts a reply into the output of its connection; true if it is the first one there since the connection sent.
    fn reply(&mut self, pending: Pending) -> bool {
        let Some(connection) = &mut self.connections[pending.connection] else { return false };
        let is_over = |limit| connection.replies >= limit;
        if self.options.close_after.is_some_and(is_over) {
            return false;
        }
        connection.replies += 1;
        self.report.replies += 1;
        if self.options.error_every.is_some_and(|every| self.report.replies.is_multiple_of(every)) {
            self.report.errors += 1;
            connection.output.extend_from_slice(&self.options.error);
        } else {
            connection.output.extend_from_slice(&self.options.reply);
        }
        connection.replied.push(pending.request);
        connection.replied.len() == 1
    }

    /// Sends the output of a connection, and ends it after its last reply.
    fn send(&mut self, index: usize) -> io::Result<()> {
        let Some(connection) = &mut self.connections[index] else { return Ok(()) };
        self.report.bytes_sent += connection.send() as u64;
        let now_ns = now_ns();
        for request in connection.replied.drain(..) {
            if self.options.record.is_some() {
                self.records.replied(request, now_ns);
            }
        }
        if !connection.output.is_empty() {
            if !self.unsent.contains(&index) {
                self.unsent.push(index);
            }
        } else if self.options.close_after == Some(connection.replies) {
            if self.options.closes_by_reset {
                connection.reset_on_drop()?;
                self.connections[index] = None;
            } else {
                connection.close();
            }
        }
        Ok(())
    }
}
