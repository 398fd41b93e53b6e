//! How connections are made: the address, the encryption, and the requests that prepare them.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use zerolap_resp::write_request;

use crate::socket::{Address, Socket, resolve};
use crate::tls::{TlsConnector, TlsSession};
use zerolap_load_measure::LoadError;
use zerolap_load_requests::{Endpoint, Protocol, Server, Settings};

/// Makes connections.
#[derive(Debug)]
pub(crate) struct Dialer {
    pub(crate) settings: Arc<Settings>,
    pub(crate) setup: Setup,
    tls: Option<TlsConnector>,
}

/// A server that can be connected to.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) endpoint: Endpoint,
    /// At least one.
    pub(crate) addresses: Arc<[Address]>,
    tls: Option<TlsConnector>,
}

impl Dialer {
    /// Reads what connections need to be made: keys and certificates, if any.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(crate) fn new(settings: &Arc<Settings>) -> Result<Self, LoadError> {
        let server = &settings.server;
        let tls = server.tls.as_ref().map(|tls| TlsConnector::new(tls, &server.endpoint)).transpose()?;
        Ok(Self { settings: Arc::clone(settings), setup: Setup::new(server, settings.largest_database), tls })
    }

    /// The same for replicas of a cluster, which answer only connections that have declared to only read.
    pub(crate) fn for_replicas(&self) -> Self {
        let mut setup = self.setup.clone();
        if self.settings.server.is_cluster {
            setup.push("READONLY", &[b"READONLY"]);
        }
        Self { settings: Arc::clone(&self.settings), setup, tls: self.tls.clone() }
    }

    /// Looks up a server.
    ///
    /// # Errors
    /// When its name has no address, or no certificate can be for it.
    pub(crate) fn node(&self, endpoint: Endpoint) -> Result<Node, LoadError> {
        let addresses = resolve(&endpoint, self.settings.server.ip_version)?;
        self.node_at(endpoint, addresses)
    }

    /// The same where its addresses are known.
    ///
    /// # Errors
    /// When no certificate can be for it.
    pub(crate) fn node_at(&self, endpoint: Endpoint, addresses: Vec<Address>) -> Result<Node, LoadError> {
        let addresses = addresses.into();
        let tls = self.tls.as_ref().map(|connector| connector.for_node(&endpoint)).transpose()?;
        Ok(Node { endpoint, addresses, tls })
    }
}

impl Node {
    /// What speaks over a socket that connects to this node.
    ///
    /// # Errors
    /// When encryption cannot be set up.
    pub(crate) fn transport(&self, socket: Socket) -> Result<Transport, LoadError> {
        let session = self.tls.as_ref().map(TlsConnector::session).transpose()?;
        Ok(Transport::new(socket, session))
    }
}

/// Requests that prepare a connection, all sent at once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Setup {
    pub(crate) bytes: Vec<u8>,
    /// What each of them is called.
    pub(crate) names: Vec<&'static str>,
}

impl Setup {
    /// Authentication, version of the protocol and database, as far as they are asked for. A server that does not have the
    /// largest database, or refuses to change to it, refuses the connection.
    pub(crate) fn new(server: &Server, largest_database: Option<u32>) -> Self {
        let mut setup = Self::default();
        if let Some(credentials) = &server.credentials {
            let mut arguments: Vec<&[u8]> = vec![b"AUTH"];
            arguments.extend(credentials.user.as_ref().map(String::as_bytes));
            arguments.push(credentials.password.as_bytes());
            setup.push("AUTH", &arguments);
        }
        match server.protocol {
            Protocol::AsIs => {}
            Protocol::Resp2 => setup.push("HELLO", &[b"HELLO", b"2"]),
            Protocol::Resp3 => setup.push("HELLO", &[b"HELLO", b"3"]),
        }
        if let Some(largest) = largest_database.filter(|largest| *largest != server.database) {
            setup.push("SELECT", &[b"SELECT", largest.to_string().as_bytes()]);
        }
        if server.database > 0 || largest_database.is_some() {
            setup.push("SELECT", &[b"SELECT", server.database.to_string().as_bytes()]);
        }
        setup
    }

    /// Adds a request.
    pub(crate) fn push(&mut self, name: &'static str, arguments: &[&[u8]]) {
        write_request(arguments, &mut self.bytes);
        self.names.push(name);
    }
}

/// What requests are written to and replies read from.
#[derive(Debug)]
pub(crate) struct Transport {
    socket: Socket,
    tls: Option<Box<TlsSession>>,
}

impl Transport {
    pub(crate) fn new(socket: Socket, tls: Option<TlsSession>) -> Self {
        Self { socket, tls: tls.map(Box::new) }
    }

    pub(crate) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Sends what is taken at once; none if nothing is taken now.
    ///
    /// # Errors
    /// When the connection is broken.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<Option<usize>> {
        match &mut self.tls {
            None => self.socket.send(bytes),
            Some(tls) => tls.send(&self.socket, bytes),
        }
    }

    /// Sends what was taken before, but found no room; returns whether some still waits.
    ///
    /// # Errors
    /// When the connection is broken.
    pub(crate) fn flush(&mut self) -> io::Result<bool> {
        let Some(tls) = &mut self.tls else { return Ok(false) };
        tls.flush(&self.socket)?;
        Ok(tls.has_unsent())
    }

    /// Whether bytes that were taken wait for room.
    pub(crate) fn has_unsent(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.has_unsent())
    }

    /// Whether both sides are still agreeing on how to encrypt.
    pub(crate) fn is_handshaking(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_handshaking())
    }

    /// Receives what is there; none if nothing is, 0 at the end of the stream.
    ///
    /// # Errors
    /// When the connection is broken.
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match &mut self.tls {
            None => self.socket.receive(buffer),
            Some(tls) => tls.receive(&self.socket, buffer),
        }
    }

    /// Whether there may be something to receive that the system knows nothing of.
    pub(crate) fn may_hold_more(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.may_hold_more())
    }
}

impl AsFd for Transport {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
