//! From nothing to a connection that takes requests, without ever waiting.

use std::io;

use zerolap_resp::ReplyKind;

use super::{Link, broken};
use crate::dialer::Transport;
use crate::socket::Socket;
use zerolap_load_measure::{LoadError, clock};

/// Pause before another try where a unix socket's backlog is full.
const BACKLOG_PAUSE_NS: u64 = 1_000_000;
const SETUP_BUFFER_BYTES: usize = 16 * 1024;

/// How far a connection has come.
#[derive(Debug)]
pub(super) enum State {
    /// There is none; it may be tried from this moment on.
    Closed { not_before_ns: u64 },
    /// The system connects to one of the addresses.
    Connecting { since_ns: u64, address: usize },
    /// So many replies to what prepares it are still to come.
    SettingUp { since_ns: u64, replies: usize },
    /// It takes requests.
    Open,
}

impl Link {
    pub(crate) const fn is_open(&self) -> bool {
        matches!(self.state, State::Open)
    }

    pub(super) const fn is_connecting(&self) -> bool {
        matches!(self.state, State::Connecting { .. })
    }

    /// Whether there is no connection, nor an attempt at one.
    pub(crate) const fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed { .. })
    }

    /// Whether it may be tried now.
    pub(crate) const fn may_start(&self, now_ns: u64) -> bool {
        matches!(self.state, State::Closed { not_before_ns } if not_before_ns <= now_ns)
    }

    /// Begins to connect; false if it has to be tried again later. The event loop must watch it for room then.
    ///
    /// # Errors
    /// When none of the addresses takes the connection.
    pub(crate) fn start(&mut self) -> Result<bool, LoadError> {
        self.connect_from(0, clock::now_ns(), None)
    }

    fn connect_from(&mut self, first: usize, since_ns: u64, cause: Option<io::Error>) -> Result<bool, LoadError> {
        let mut cause = cause;
        for (address, target) in self.target.addresses.iter().enumerate().skip(first) {
            match Socket::start(target) {
                Ok(Some(socket)) => {
                    self.transport = Some(self.target.transport(socket)?);
                    self.state = State::Connecting { since_ns, address };
                    return Ok(true);
                }
                Ok(None) => {
                    self.state = State::Closed { not_before_ns: clock::now_ns() + BACKLOG_PAUSE_NS };
                    return Ok(false);
                }
                Err(error) => cause = Some(error),
            }
        }
        let source = cause.unwrap_or_else(|| io::Error::from(io::ErrorKind::NotFound));
        Err(LoadError::Connect { endpoint: self.target.endpoint.clone(), source })
    }

    /// Goes on as far as possible after the event loop saw something. Returns whether the socket is another one now.
    ///
    /// # Errors
    /// When the server refuses the connection or what prepares it.
    pub(crate) fn go_on(&mut self) -> Result<bool, LoadError> {
        if let State::Connecting { since_ns, address } = self.state {
            let connected = self.transport.as_ref().map_or(Ok(false), |transport| transport.socket().is_connected());
            match connected {
                Ok(false) => return Ok(false),
                Ok(true) => self.begin_setup(since_ns),
                Err(error) => {
                    self.transport = None;
                    return self.connect_from(address + 1, since_ns, Some(error));
                }
            }
        }
        self.write()?;
        if let State::SettingUp { .. } = self.state {
            self.read_setup()?;
            self.write()?;
            self.finish_setup();
        }
        Ok(false)
    }

    fn begin_setup(&mut self, since_ns: u64) {
        let setup = &self.dialer.setup;
        self.output.bytes_mut().extend_from_slice(&setup.bytes);
        self.state = State::SettingUp { since_ns, replies: setup.names.len() };
    }

    /// Opens the connection once nothing that prepares it is left.
    fn finish_setup(&mut self) {
        let is_handshaking = self.transport.as_ref().is_some_and(Transport::is_handshaking);
        if matches!(self.state, State::SettingUp { replies: 0, .. }) && !is_handshaking {
            self.state = State::Open;
            self.attempts = 0;
            self.openings += 1;
            self.database = Some(self.dialer.settings.server.database);
            self.allowance = self.dialer.settings.connecting.reconnect_interval.map_or(u64::MAX, Into::into);
        }
    }

    fn read_setup(&mut self) -> Result<(), LoadError> {
        let mut buffer = [0; SETUP_BUFFER_BYTES];
        while let (State::SettingUp { since_ns, .. }, Some(transport)) = (&self.state, &mut self.transport) {
            let since_ns = *since_ns;
            let received = transport.receive(&mut buffer).map_err(|source| broken(&self.target, source))?;
            let Some(length) = received else { return Ok(()) };
            if length == 0 {
                return Err(self.closed());
            }
            let mut input = &buffer[..length];
            let endpoint = || self.target.endpoint.clone();
            let malformed = |source| LoadError::MalformedReply { endpoint: endpoint(), source };
            while let Some(reply) = self.reader.next(&mut input).map_err(malformed)? {
                if !reply.is_answer() {
                    continue;
                }
                let State::SettingUp { replies: replies @ 1.., .. } = self.state else {
                    return Err(LoadError::UnexpectedReply { endpoint: endpoint(), reply: super::describe(&reply) });
                };
                if reply.kind == ReplyKind::Error {
                    let names = &self.dialer.setup.names;
                    let request = names.get(names.len() - replies).copied().unwrap_or_default();
                    let reply = String::from_utf8_lossy(reply.text).into_owned();
                    return Err(LoadError::SetupRefused { endpoint: endpoint(), request, reply });
                }
                self.state = State::SettingUp { since_ns, replies: replies - 1 };
            }
        }
        Ok(())
    }

    /// Fails when the connection, or what prepares it, takes too long.
    ///
    /// # Errors
    /// Then.
    pub(crate) fn check_patience(&self, now_ns: u64) -> Result<(), LoadError> {
        let connecting = &self.dialer.settings.connecting;
        let is_over =
            |since_ns: u64, limit: std::time::Duration| u128::from(now_ns.saturating_sub(since_ns)) >= limit.as_nanos();
        let endpoint = || self.target.endpoint.clone();
        match self.state {
            State::Connecting { since_ns, .. } if is_over(since_ns, connecting.connect_timeout) => {
                Err(LoadError::Connect { endpoint: endpoint(), source: io::ErrorKind::TimedOut.into() })
            }
            State::SettingUp { since_ns, .. } if is_over(since_ns, connecting.reply_timeout) => {
                Err(LoadError::ReplyTimeout { endpoint: endpoint(), timeout: connecting.reply_timeout })
            }
            State::Open => match self.oldest_sent_ns() {
                Some(sent_ns) if is_over(sent_ns, connecting.reply_timeout) => {
                    Err(LoadError::ReplyTimeout { endpoint: endpoint(), timeout: connecting.reply_timeout })
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Whether it has sent as much as a connection may and has all replies.
    pub(crate) fn is_used_up(&self) -> bool {
        self.is_open() && self.allowance == 0 && self.in_flight.is_empty()
    }

    /// Gives up the connection. It may be tried again from `not_before_ns` on.
    pub(crate) fn close(&mut self, not_before_ns: u64) {
        if let Some(transport) = self.transport.take() {
            // Where the system refuses, the port only stays taken for longer.
            let _ = transport.socket().reset_on_close();
        }
        self.state = State::Closed { not_before_ns };
        self.output.clear();
        self.reader = zerolap_resp::ReplyReader::new();
        self.unfinished_bytes = 0;
        self.checker.iter_mut().for_each(|checker| checker.forget());
        self.unstamped = 0;
        self.watches_room = false;
        while self.take_unanswered().is_some() {}
    }
}
