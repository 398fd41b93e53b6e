//! Certificates for tests, in files that are removed afterwards.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use zerolap_load_requests::Tls;

/// An authority with a certificate for 127.0.0.1 and localhost, which servers and clients use alike.
pub(super) struct TestCertificates {
    directory: PathBuf,
}

impl TestCertificates {
    pub(super) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("zerolap-load-tls-{}-{number}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");

        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().expect("a key")).expect("signed");
        let names = ["127.0.0.1".to_owned(), "localhost".to_owned(), "redis.example".to_owned()];
        let key = KeyPair::generate().expect("a key");
        let parameters = CertificateParams::new(names).expect("names");
        let certificate = parameters.signed_by(&key, &authority).expect("signed");

        let certificates = Self { directory };
        certificates.write("authority.pem", &authority.pem());
        certificates.write("certificate.pem", &certificate.pem());
        certificates.write("key.pem", &key.serialize_pem());
        certificates
    }

    pub(super) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.directory.join(name);
        fs::write(&path, text).expect("written");
        path
    }

    pub(super) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("text")
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Settings of a client that trusts the authority.
    pub(super) fn trusting(&self) -> Tls {
        Tls { authorities: Some(self.path("authority.pem")), ..Tls::default() }
    }

    /// Settings of a client that also shows the certificate.
    pub(super) fn trusting_and_known(&self) -> Tls {
        let [certificate, key] = ["certificate.pem", "key.pem"].map(|name| Some(self.path(name)));
        Tls { certificate, key, ..self.trusting() }
    }
}

impl Drop for TestCertificates {
    fn drop(&mut self) {
        // What is left in the directory for temporary files does no harm.
        let _ = fs::remove_dir_all(Path::new(&self.directory));
    }
}
