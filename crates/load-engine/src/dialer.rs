//! What all connections are made with.

use std::sync::Arc;

use crate::address::{Address, resolve};
use crate::setup::Setup;
use crate::socket::Socket;
use crate::tls::TlsConnector;
use crate::transport::Transport;
use zerolap_load_measure::LoadError;
use zerolap_load_requests::{Endpoint, Settings};

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
        Ok(Self { settings: Arc::clone(settings), setup: Setup::new(server), tls })
    }

    /// The same for replicas of a cluster, which answer only those who say that they only read.
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
