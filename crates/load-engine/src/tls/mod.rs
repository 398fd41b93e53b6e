//! Encryption of connections, never blocking.

mod connector;
mod files;
mod session;
mod verifier;
mod wire;

#[cfg(test)]
mod test_certificates;
#[cfg(test)]
mod test_client;
#[cfg(test)]
mod test_server;
#[cfg(test)]
mod tests;

pub(crate) use connector::TlsConnector;
pub(crate) use session::TlsSession;
