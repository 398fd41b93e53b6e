//! What all encrypted connections to a server have in common.

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::sign::SingleCertAndKey;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, RootCertStore, SupportedProtocolVersion};

use super::verifier::AcceptAny;
use super::{TlsSession, files};
use zerolap_load_measure::LoadError;
use zerolap_load_measure::TlsError;
use zerolap_load_requests::{Endpoint, Tls, TlsVersion};

/// The name that is asked for at a unix socket.
const LOCAL_NAME: &str = "localhost";

/// Makes the sessions of all connections to one server.
#[derive(Debug, Clone)]
pub(crate) struct TlsConnector {
    config: Arc<ClientConfig>,
    server_name: ServerName<'static>,
    /// Whether the settings name the server, whatever its host.
    is_named: bool,
}

impl TlsConnector {
    /// Reads all files.
    ///
    /// # Errors
    /// When a file cannot be used, or no certificate can be for the server's name.
    pub(crate) fn new(tls: &Tls, endpoint: &Endpoint) -> Result<Self, LoadError> {
        let server_name = server_name(tls.server_name.as_ref(), endpoint)?;
        let config = Arc::new(config(tls)?);
        Ok(Self { config, server_name, is_named: tls.server_name.is_some() })
    }

    /// The same for another node of the server's cluster.
    ///
    /// # Errors
    /// When no certificate can be for its name.
    pub(crate) fn for_node(&self, endpoint: &Endpoint) -> Result<Self, LoadError> {
        let mut connector = self.clone();
        if !self.is_named {
            connector.server_name = server_name(None, endpoint)?;
        }
        Ok(connector)
    }

    /// A session for a new connection.
    ///
    /// # Errors
    /// When the settings contradict each other.
    pub(crate) fn session(&self) -> Result<TlsSession, LoadError> {
        let connection = ClientConnection::new(Arc::clone(&self.config), self.server_name.clone());
        Ok(TlsSession::new(connection.map_err(TlsError::Setup)?))
    }
}

fn server_name(asked: Option<&String>, endpoint: &Endpoint) -> Result<ServerName<'static>, TlsError> {
    let name = match (asked, endpoint) {
        (Some(name), _) => name,
        (None, Endpoint::Tcp { host, .. }) => host,
        (None, Endpoint::Unix(_)) => LOCAL_NAME,
    };
    ServerName::try_from(name.to_owned()).map_err(|_| TlsError::ServerName { name: name.to_owned() })
}

fn config(tls: &Tls) -> Result<ClientConfig, TlsError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_protocol_versions(&versions(&tls.versions)).map_err(TlsError::Setup)?;
    let builder = if tls.skip_verify {
        let verifier = AcceptAny::new(provider.signature_verification_algorithms);
        builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
    } else {
        builder.with_root_certificates(authorities(tls)?)
    };
    let key = tls.key.as_ref();
    let mut config = match (&tls.certificate, key) {
        (Some(certificate), key) => {
            // One file may hold both.
            let identity = files::identity(certificate, key.unwrap_or(certificate), &provider)?;
            builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(identity)))
        }
        (None, Some(key)) => return Err(TlsError::NoCertificate { key: key.clone() }),
        (None, None) => builder.with_no_client_auth(),
    };
    // Tickets would be shared by all threads, and make some handshakes cheaper than others.
    config.resumption = Resumption::disabled();
    Ok(config)
}

fn authorities(tls: &Tls) -> Result<RootCertStore, TlsError> {
    tls.authorities.as_ref().map_or_else(files::system_authorities, |path| files::authorities(path))
}

fn versions(asked: &[TlsVersion]) -> Vec<&'static SupportedProtocolVersion> {
    let all = [TlsVersion::V1_2, TlsVersion::V1_3];
    let asked = if asked.is_empty() { &all } else { asked };
    let known = |version: &TlsVersion| match version {
        TlsVersion::V1_2 => &TLS12,
        TlsVersion::V1_3 => &TLS13,
    };
    asked.iter().map(known).collect()
}
