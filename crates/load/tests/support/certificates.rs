//! Certificates in files that are removed afterwards.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

/// An authority, a certificate of it that servers and clients use alike, and another authority.
pub struct Certificates {
    directory: PathBuf,
}

impl Certificates {
    pub fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("zerolap-load-certificates-{}-{number}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        let certificates = Self { directory };

        let (signer, stranger) = (authority("authority"), authority("stranger"));
        let key = KeyPair::generate().expect("a key");
        let names = ["127.0.0.1".to_owned(), "redis.example".to_owned()];
        let certificate = CertificateParams::new(names).expect("names").signed_by(&key, &signer).expect("signed");
        certificates.write("authority.pem", &signer.pem());
        certificates.write("stranger.pem", &stranger.pem());
        certificates.write("certificate.pem", &certificate.pem());
        certificates.write("key.pem", &key.serialize_pem());
        certificates
    }

    pub fn path(&self, name: &str) -> String {
        self.directory.join(name).display().to_string()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.directory.join(name), text).expect("written");
    }
}

fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut parameters = CertificateParams::default();
    // With the name of what it signs the certificate would look as if it had signed itself.
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(parameters, KeyPair::generate().expect("a key")).expect("signed")
}

impl Drop for Certificates {
    fn drop(&mut self) {
        // Whatever is left is in a temporary directory.
        let _ = fs::remove_dir_all(&self.directory);
    }
}
