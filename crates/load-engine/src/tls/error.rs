//! What can be wrong with the settings for TLS.

use std::io;
use std::path::PathBuf;

use rustls::pki_types::pem;
use thiserror::Error;
use zerolap_load_measure::LoadError;

/// Why no connection can be encrypted as asked.
#[derive(Debug, Error)]
pub(crate) enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file is damaged.
    #[error("{} is not valid PEM: {source}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: pem::Error,
    },
    /// A file holds something else.
    #[error("{} holds no {content}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        content: &'static str,
    },
    /// A file holds the right thing, but of a kind that is not known or not allowed.
    #[error("{} holds a {content} that cannot be used: {source}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What it holds.
        content: &'static str,
        /// What is wrong with it.
        source: rustls::Error,
    },
    /// The private key is another certificate's.
    #[error("the private key in {} does not belong to the certificate in {}", key.display(), certificate.display())]
    WrongKey {
        /// File of the certificate.
        certificate: PathBuf,
        /// File of the key.
        key: PathBuf,
    },
    /// There is a private key, but no certificate.
    #[error("the private key {} is of no use without a certificate", key.display())]
    NoCertificate {
        /// File of the key.
        key: PathBuf,
    },
    /// No certificate can be for this name.
    #[error("{name:?} is neither a name nor an address that a certificate can be for")]
    ServerName {
        /// The name.
        name: String,
    },
    /// The system has no trusted authorities.
    #[error("found no authorities of the system {reasons:?}; name a file of authorities")]
    NoSystemAuthorities {
        /// What went wrong.
        reasons: Vec<rustls_native_certs::Error>,
    },
    /// The settings contradict each other.
    #[error("cannot set up TLS: {0}")]
    Setup(rustls::Error),
}

impl From<TlsError> for LoadError {
    fn from(error: TlsError) -> Self {
        Self::Tls(error.into())
    }
}
