//! What all encrypted connections to a server have in common: versions, trust, certificates and keys.

use std::path::Path;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::version::{TLS12, TLS13};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, Error, InconsistentKeys, RootCertStore, SignatureScheme,
    SupportedProtocolVersion,
};

use super::TlsSession;
use super::error::TlsError;
use zerolap_load_measure::LoadError;
use zerolap_load_requests::{Endpoint, Tls, TlsVersion};

/// The name that is asked for at a unix socket.
const LOCAL_NAME: &str = "localhost";

const CERTIFICATE: &str = "certificate";
const KEY: &str = "private key without a passphrase";

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
            let identity = identity(certificate, key.unwrap_or(certificate), &provider)?;
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
    tls.authorities.as_ref().map_or_else(system_authorities, |path| authorities_in(path))
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

/// The authorities in a file.
fn authorities_in(path: &Path) -> Result<RootCertStore, TlsError> {
    let mut store = RootCertStore::empty();
    for certificate in certificates(path)? {
        store.add(certificate).map_err(|source| unusable(path, CERTIFICATE, source))?;
    }
    Ok(store)
}

/// The authorities of the system. Those of a kind that is not known are left out: most systems have some.
fn system_authorities() -> Result<RootCertStore, TlsError> {
    let system = rustls_native_certs::load_native_certs();
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(system.certs);
    if store.is_empty() { Err(TlsError::NoSystemAuthorities { reasons: system.errors }) } else { Ok(store) }
}

/// A certificate chain and its key.
fn identity(certificate: &Path, key: &Path, provider: &CryptoProvider) -> Result<CertifiedKey, TlsError> {
    let chain = certificates(certificate)?;
    let key_der = PrivateKeyDer::from_pem_file(key).map_err(|source| unreadable(key, KEY, source))?;
    let signing_key =
        provider.key_provider.load_private_key(key_der).map_err(|source| unusable(key, "private key", source))?;
    let identity = CertifiedKey::new(chain, Arc::clone(&signing_key));
    // Whatever else is wrong with the certificate is for the server to judge.
    if let Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) = identity.keys_match() {
        return Err(TlsError::WrongKey { certificate: certificate.to_owned(), key: key.to_owned() });
    }
    Ok(identity)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let read = || CertificateDer::pem_file_iter(path)?.collect::<Result<Vec<_>, _>>();
    let certificates = read().map_err(|source| unreadable(path, CERTIFICATE, source))?;
    if certificates.is_empty() {
        return Err(unreadable(path, CERTIFICATE, pem::Error::NoItemsFound));
    }
    Ok(certificates)
}

fn unreadable(path: &Path, content: &'static str, error: pem::Error) -> TlsError {
    let path = path.to_owned();
    match error {
        pem::Error::Io(source) => TlsError::Read { path, source },
        pem::Error::NoItemsFound => TlsError::Missing { path, content },
        source => TlsError::Malformed { path, source },
    }
}

fn unusable(path: &Path, content: &'static str, source: Error) -> TlsError {
    TlsError::Unusable { path: path.to_owned(), content, source }
}

/// Takes any certificate, for those who ask for it.
#[derive(Debug)]
struct AcceptAny {
    algorithms: WebPkiSupportedAlgorithms,
}

impl AcceptAny {
    fn new(algorithms: WebPkiSupportedAlgorithms) -> Self {
        Self { algorithms }
    }
}

/// Whether the key in the certificate can be got at. In certificates of X.509 version 1, which older scripts make, it
/// cannot; and as anybody's certificate is taken, a signature with it would prove nothing.
fn is_legible(certificate: &CertificateDer<'_>) -> bool {
    ParsedCertificate::try_from(certificate).is_ok()
}

impl ServerCertVerifier for AcceptAny {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if is_legible(certificate) {
            verify_tls12_signature(message, certificate, signed, &self.algorithms)
        } else {
            Ok(HandshakeSignatureValid::assertion())
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if is_legible(certificate) {
            verify_tls13_signature(message, certificate, signed, &self.algorithms)
        } else {
            Ok(HandshakeSignatureValid::assertion())
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
