//! Encryption of connections, never blocking.

mod connector;
mod error;
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

#[cfg_attr(not(test), expect(unused_imports, reason = "connections do not speak TLS yet"))]
pub(crate) use connector::TlsConnector;
pub use error::TlsError;
pub(crate) use session::TlsSession;
