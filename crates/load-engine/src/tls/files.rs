//! Certificates and keys from files.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{Error, InconsistentKeys, RootCertStore};

use zerolap_load_measure::TlsError;

const CERTIFICATE: &str = "certificate";
const KEY: &str = "private key without a passphrase";

/// The authorities in a file.
pub(super) fn authorities(path: &Path) -> Result<RootCertStore, TlsError> {
    let mut store = RootCertStore::empty();
    for certificate in certificates(path)? {
        store.add(certificate).map_err(|source| unusable(path, CERTIFICATE, source))?;
    }
    Ok(store)
}

/// The authorities of the system. Those of a kind that is not known are left out: most systems have some.
pub(super) fn system_authorities() -> Result<RootCertStore, TlsError> {
    let system = rustls_native_certs::load_native_certs();
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(system.certs);
    if store.is_empty() { Err(TlsError::NoSystemAuthorities { reasons: system.errors }) } else { Ok(store) }
}

/// A certificate chain and its key.
pub(super) fn identity(certificate: &Path, key: &Path, provider: &CryptoProvider) -> Result<CertifiedKey, TlsError> {
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
