//! A server for tests, which sends back what it gets, and its certificates.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig, ServerConnection, Stream};

use zerolap_load_requests::{Endpoint, Tls};

/// How long the server waits for the client.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the server insists on, and how it behaves.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Behaviour {
    pub(super) only_tls12: bool,
    pub(super) wants_certificate: bool,
    /// Cuts what it sends into pieces of many lengths.
    pub(super) cuts: bool,
    pub(super) ending: Option<Ending>,
}

/// When and how the server closes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ending {
    /// How much it sends back before.
    pub(super) after: usize,
    /// Whether it sends a close notification before.
    pub(super) notifies: bool,
}

/// Serves one connection.
pub(super) fn start(certificates: &TestCertificates, behaviour: Behaviour) -> Endpoint {
    let config = Arc::new(config(certificates, behaviour));
    start_with(move |mut stream| {
        let mut connection = ServerConnection::new(config).map_err(io::Error::other)?;
        let limit = behaviour.ending.map(|ending| ending.after);
        let result = if behaviour.cuts {
            let mut stream = Cut { stream: &stream, length: 1 };
            echo(&mut Stream::new(&mut connection, &mut stream), limit)
        } else {
            echo(&mut Stream::new(&mut connection, &mut stream), limit)
        };
        if behaviour.ending.is_some_and(|ending| ending.notifies) {
            connection.send_close_notify();
        }
        // Alerts too.
        while connection.wants_write() {
            connection.write_tls(&mut stream)?;
        }
        result
    })
}

/// Lets `serve` have one connection.
pub(super) fn start_with(serve: impl FnOnce(TcpStream) -> io::Result<()> + Send + 'static) -> Endpoint {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || -> io::Result<()> {
        let (stream, _) = listener.accept()?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        serve(stream)
    });
    Endpoint::Tcp { host: "127.0.0.1".to_owned(), port }
}

fn config(certificates: &TestCertificates, behaviour: Behaviour) -> ServerConfig {
    let provider = Arc::new(ring::default_provider());
    let load = |name| CertificateDer::from_pem_file(certificates.path(name)).expect("a certificate");
    let versions = if behaviour.only_tls12 { &[&TLS12][..] } else { &[&TLS13] };
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider)).with_protocol_versions(versions);
    let builder = builder.expect("versions");
    let builder = if behaviour.wants_certificate {
        let mut authorities = RootCertStore::empty();
        authorities.add(load("authority.pem")).expect("an authority");
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(authorities), provider).build();
        builder.with_client_cert_verifier(verifier.expect("a verifier"))
    } else {
        builder.with_no_client_auth()
    };
    let key = PrivateKeyDer::from_pem_file(certificates.path("key.pem")).expect("a key");
    builder.with_single_cert(vec![load("certificate.pem")], key).expect("a certificate and its key")
}

fn echo(stream: &mut (impl Read + Write), limit: Option<usize>) -> io::Result<()> {
    let mut left = limit.unwrap_or(usize::MAX);
    let mut buffer = vec![0; 100_000];
    while left > 0 {
        let most = left.min(buffer.len());
        let length = stream.read(&mut buffer[..most])?;
        if length == 0 {
            break;
        }
        stream.write_all(&buffer[..length])?;
        left -= length;
    }
    stream.flush()
}

/// Writes pieces of ever other lengths.
struct Cut<'a> {
    stream: &'a TcpStream,
    length: usize,
}

impl Read for Cut<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer)
    }
}

impl Write for Cut<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.length = self.length * 7 % 9_973;
        self.stream.write(&bytes[..self.length.min(bytes.len())])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// An authority with a certificate for 127.0.0.1 and localhost, which servers and clients use alike, in files that are
/// removed afterwards.
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
        let _ = fs::remove_dir_all(&self.directory);
    }
}
