//! One connection that reads.

use zerolap_resp::{Reply, ReplyKind, ReplyReader};

use crate::link::Link;
use zerolap_load_measure::ListenerTally;
use zerolap_load_measure::LoadError;
use zerolap_load_measure::Request;
use zerolap_load_requests::ListenCommand;

/// A connection, and how far its command is confirmed.
#[derive(Debug)]
pub(super) struct Listener {
    pub(super) link: Link,
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
    pub(super) fn new(link: Link, command: &ListenCommand, request: Vec<u8>) -> Self {
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
    pub(super) const fn is_confirmed(&self) -> bool {
        self.awaited == 0
    }

    /// Sends the command, as far as the system takes it.
    pub(super) fn send(&mut self) -> Result<(), LoadError> {
        if !self.request.is_empty() {
            let start = self.link.buffer().len();
            self.link.buffer().append(&mut self.request);
            // The link measures how long the server lets it wait.
            self.link.add(Request::default(), start);
        }
        self.link.flush(|_| {}).map(|_| ())
    }

    /// Reads once and counts what came.
    pub(super) fn receive(&mut self, buffer: &mut [u8], tally: &mut ListenerTally) -> Result<(), LoadError> {
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
