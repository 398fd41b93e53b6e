//! Encrypted connections, as the server sees them.

use std::sync::{Arc, Mutex};

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig};

use crate::support::certificates::Certificates;
use crate::support::program::{Finished, run};
use crate::support::scripted::Scripted;
use crate::support::scripted::stream::Encryption;

const SHAPE: [&str; 8] = ["-t", "1", "-c", "2", "-n", "5", "--command", "PING"];

/// A server that takes clients with or without a certificate, and what it agreed on with each connection.
struct Encrypted {
    certificates: Certificates,
    server: Scripted,
    seen: Arc<Mutex<Vec<Encryption>>>,
}

impl Encrypted {
    fn start() -> Self {
        let certificates = Certificates::new();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&seen);
        let server = Scripted::start_encrypted(config(&certificates), move |peer| {
            while peer.request().is_some() {
                shared.lock().expect("the log").push(peer.encryption().expect("TLS"));
                peer.send(b"+OK\r\n");
            }
        });
        Self { certificates, server, seen }
    }

    fn path(&self, name: &str) -> String {
        self.certificates.path(name)
    }

    fn run(&self, arguments: &[&str]) -> Finished {
        let port = self.server.port();
        run(&[&["-s", "127.0.0.1", "-p", &port, "--json-out-file", "-"], &SHAPE[..], arguments].concat())
    }

    /// What the server agreed on with each of the ten requests of a run that went well, since all are alike.
    fn agreed(&self, arguments: &[&str]) -> Encryption {
        let document = self.run(arguments).document();
        assert_eq!((&document["requests"], &document["settings"]["tls"]), (&10.into(), &true.into()));
        let seen = std::mem::take(&mut *self.seen.lock().expect("the log"));
        assert_eq!(seen, vec![seen[0].clone(); 10]);
        seen[0].clone()
    }

    fn expect_refused(&self, arguments: &[&str], message: &str) {
        let finished = self.run(arguments);
        assert!(finished.code.is_some_and(|code| code == 3 || code == 4), "{:?}", finished.code);
        assert!(finished.stderr.contains(message), "{}", finished.stderr);
        assert!(self.seen.lock().expect("the log").is_empty(), "no request was sent");
    }
}

fn config(certificates: &Certificates) -> ServerConfig {
    let provider = Arc::new(ring::default_provider());
    let load = |name| CertificateDer::from_pem_file(certificates.path(name)).expect("a certificate");
    let mut authorities = RootCertStore::empty();
    authorities.add(load("authority.pem")).expect("an authority");
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(authorities), Arc::clone(&provider));
    let verifier = verifier.allow_unauthenticated().build().expect("a verifier");
    let builder = ServerConfig::builder_with_provider(provider).with_protocol_versions(&[&TLS12, &TLS13]);
    let builder = builder.expect("versions").with_client_cert_verifier(verifier);
    let key = PrivateKeyDer::from_pem_file(certificates.path("key.pem")).expect("a key");
    builder.with_single_cert(vec![load("certificate.pem")], key).expect("a certificate and its key")
}

#[test]
fn only_servers_of_trusted_authorities_get_requests_unless_any_will_do() {
    let encrypted = Encrypted::start();
    let (authority, stranger) = (encrypted.path("authority.pem"), encrypted.path("stranger.pem"));
    encrypted.expect_refused(&["--tls", "--cacert", &stranger], "certificate");
    encrypted.expect_refused(&["--tls"], "certificate");
    let expected = Encryption { version: "TLSv1_3".to_owned(), name: None, has_certificate: false };
    assert_eq!(encrypted.agreed(&["--tls", "--cacert", &authority]), expected);
    assert_eq!(encrypted.agreed(&["--tls", "--tls-skip-verify"]), expected);
}

#[test]
fn the_clients_certificate_is_shown() {
    let encrypted = Encrypted::start();
    let [authority, certificate, key] =
        ["authority.pem", "certificate.pem", "key.pem"].map(|name| encrypted.path(name));
    let shown = ["--tls", "--cacert", &authority, "--cert", &certificate, "--key", &key];
    assert!(encrypted.agreed(&shown).has_certificate);
}

#[test]
fn the_version_can_be_chosen() {
    let encrypted = Encrypted::start();
    let authority = encrypted.path("authority.pem");
    for (versions, expected) in [("TLSv1.2", "TLSv1_2"), ("TLSv1.3", "TLSv1_3"), ("TLSv1.2,TLSv1.3", "TLSv1_3")] {
        let agreed = encrypted.agreed(&["--tls", "--cacert", &authority, "--tls-protocols", versions]);
        assert_eq!(agreed.version, expected, "{versions}");
    }
}

#[test]
fn the_name_is_asked_for_and_must_be_in_the_certificate() {
    let encrypted = Encrypted::start();
    let authority = encrypted.path("authority.pem");
    let agreed = encrypted.agreed(&["--tls", "--cacert", &authority, "--sni", "redis.example"]);
    assert_eq!(agreed.name.as_deref(), Some("redis.example"));
    encrypted.expect_refused(&["--tls", "--cacert", &authority, "--sni", "other.example"], "certificate");
}

#[test]
fn a_uri_of_rediss_is_encrypted() {
    let encrypted = Encrypted::start();
    let (uri, authority) = (format!("rediss://127.0.0.1:{}", encrypted.server.port()), encrypted.path("authority.pem"));
    let finished = run(&[&["-u", &uri, "--cacert", &authority, "--json-out-file", "-"], &SHAPE[..]].concat());
    assert_eq!(finished.document()["settings"]["tls"], true);
    assert_eq!(encrypted.seen.lock().expect("the log").len(), 10);
}

#[test]
fn encrypted_connections_are_made_anew() {
    let encrypted = Encrypted::start();
    let authority = encrypted.path("authority.pem");
    encrypted.agreed(&["--tls", "--cacert", &authority, "--reconnect-interval", "2"]);
    let lengths: Vec<usize> = encrypted.server.connections().iter().map(Vec::len).collect();
    assert_eq!(lengths.iter().sum::<usize>(), 10);
    assert_eq!(lengths.len(), 6, "{lengths:?}");
}
