//! What all connections are made with.

use std::sync::Arc;

use crate::address::{Address, resolve};
use crate::setup::Setup;
use crate::socket::Socket;
use crate::transport::Transport;
use crate::{Endpoint, LoadError, Settings};

/// Makes connections.
#[derive(Debug)]
pub(crate) struct Dialer {
    pub(crate) settings: Arc<Settings>,
    pub(crate) setup: Setup,
}

/// A server that can be connected to.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) endpoint: Endpoint,
    /// At least one.
    pub(crate) addresses: Arc<[Address]>,
}

impl Dialer {
    /// Reads what connections need to be made: keys and certificates, if any.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(crate) fn new(settings: &Arc<Settings>) -> Result<Self, LoadError> {
        Ok(Self { settings: Arc::clone(settings), setup: Setup::new(&settings.server) })
    }

    /// Looks up a server.
    ///
    /// # Errors
    /// When its name has no address.
    pub(crate) fn node(&self, endpoint: Endpoint) -> Result<Node, LoadError> {
        let addresses = resolve(&endpoint, self.settings.server.ip_version)?.into();
        Ok(Node { endpoint, addresses })
    }

    /// What speaks over a socket that has just connected.
    ///
    /// # Errors
    /// When encryption cannot be set up.
    pub(crate) fn transport(&self, socket: Socket) -> Result<Transport, LoadError> {
        Ok(Transport::new(socket))
    }
}
