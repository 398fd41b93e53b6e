//! Sessions against a server made with rustls.

use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use super::test_server::{self, Behaviour, Ending, TestCertificates};
use super::{TlsConnector, TlsSession};
use crate::socket::{Socket, resolve};
use zerolap_load_measure::LoadError;
use zerolap_load_requests::{Endpoint, Tls, TlsVersion};

const PATIENCE: Duration = Duration::from_secs(20);

/// A client: a session, a socket and an event loop.
struct TestClient {
    socket: Socket,
    session: TlsSession,
    /// Lengths of what is given to [`TlsSession::send`] and [`TlsSession::receive`] at once, in turn.
    lengths: Vec<usize>,
}

impl TestClient {
    fn connect(tls: &Tls, endpoint: &Endpoint) -> Self {
        let connector = TlsConnector::new(tls, endpoint).expect("settings that can be used");
        let addresses = resolve(endpoint, None).expect("an address");
        let socket = Socket::start(&addresses[0]).expect("a connection").expect("a socket");
        assert!(socket.wait(true, PATIENCE).expect("a connection") && socket.is_connected().expect("a connection"));
        Self { socket, session: connector.session().expect("a session"), lengths: vec![100_000] }
    }

    /// Sends `bytes` and returns what comes back until there is as much, or until the server closes.
    fn exchange(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let started = Instant::now();
        let mut lengths = self.lengths.clone().into_iter().cycle();
        let mut buffer = vec![0; self.lengths.iter().copied().max().unwrap_or(1)];
        let (mut sent, mut received) = (0, Vec::new());
        while received.len() < bytes.len() {
            while sent < bytes.len() {
                let end = bytes.len().min(sent + lengths.next().unwrap_or(1));
                let Some(length) = self.session.send(&self.socket, &bytes[sent..end])? else { break };
                sent += length;
            }
            loop {
                let length = lengths.next().unwrap_or(1);
                match self.session.receive(&self.socket, &mut buffer[..length])? {
                    None => break,
                    Some(0) => return Ok(received),
                    Some(length) => received.extend_from_slice(&buffer[..length]),
                }
                if !self.session.may_hold_more() {
                    break;
                }
            }
            if received.len() < bytes.len() {
                self.wait(sent < bytes.len())?;
            }
            if started.elapsed() > PATIENCE {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        Ok(received)
    }

    fn wait(&self, has_more: bool) -> io::Result<()> {
        let wants_room = self.session.has_unsent() || has_more && !self.session.is_handshaking();
        self.socket.wait(wants_room, PATIENCE)?;
        Ok(())
    }
}

fn some_bytes(length: usize) -> Vec<u8> {
    (0..length).map(|index| u8::try_from(index * index % 251).unwrap_or_default()).collect()
}

/// The error of a client with these settings at a server of this kind.
fn trouble(tls: &Tls, certificates: &TestCertificates, behaviour: Behaviour) -> String {
    let endpoint = test_server::start(certificates, behaviour);
    TestClient::connect(tls, &endpoint).exchange(b"hello").expect_err("no connection").to_string()
}

fn echoes(tls: &Tls, certificates: &TestCertificates, behaviour: Behaviour) {
    let endpoint = test_server::start(certificates, behaviour);
    let mut client = TestClient::connect(tls, &endpoint);
    assert!(client.session.is_handshaking());
    assert_eq!(client.exchange(b"hello").expect("an echo"), b"hello");
    assert!(!client.session.is_handshaking() && !client.session.has_unsent());
}

#[test]
fn much_comes_back_unchanged_however_it_is_cut() {
    let certificates = TestCertificates::new();
    let bytes = some_bytes(10_000_000);
    for only_tls12 in [false, true] {
        let endpoint = test_server::start(&certificates, Behaviour { cuts: true, only_tls12, ..Behaviour::default() });
        let mut client = TestClient::connect(&certificates.trusting(), &endpoint);
        client.lengths = vec![1, 70_000, 5, 16_384, 100_003, 16_385, 300, 31];
        assert!(client.exchange(&bytes).expect("an echo") == bytes, "not the same");
    }
}

#[test]
fn nothing_is_taken_while_the_socket_is_full() {
    let certificates = TestCertificates::new();
    let endpoint = test_server::start(&certificates, Behaviour::default());
    let mut client = TestClient::connect(&certificates.trusting(), &endpoint);
    client.exchange(b"hello").expect("an echo");
    let bytes = some_bytes(1_000_000);
    let mut taken = 0;
    while let Some(length) = client.session.send(&client.socket, &bytes).expect("a connection") {
        taken += length;
        assert!(taken < 1_000_000_000, "the server stops to read when its echo is not read");
    }
    assert!(client.session.has_unsent());
    assert_eq!(client.session.send(&client.socket, &bytes).expect("a connection"), None);
}

#[test]
fn during_the_handshake_little_is_taken() {
    let certificates = TestCertificates::new();
    let endpoint = test_server::start_with(|mut stream| stream.read_to_end(&mut Vec::new()).map(drop));
    let mut client = TestClient::connect(&certificates.trusting(), &endpoint);
    let bytes = some_bytes(1_000_000);
    let taken = client.session.send(&client.socket, &bytes).expect("a connection");
    assert!(taken.is_some_and(|length| length < 100_000), "{taken:?}");
    assert_eq!(client.session.send(&client.socket, &bytes).expect("a connection"), None);
    assert!(!client.session.has_unsent(), "there is nothing to wait for but the server");
}

#[test]
fn the_server_must_be_known_to_an_authority_and_have_the_name() {
    let (certificates, other) = (TestCertificates::new(), TestCertificates::new());
    let text = trouble(&other.trusting(), &certificates, Behaviour::default());
    assert!(text.contains("invalid peer certificate"), "{text}");
    let wrong_name = Tls { server_name: Some("other.example".to_owned()), ..certificates.trusting() };
    let text = trouble(&wrong_name, &certificates, Behaviour::default());
    assert!(text.contains("other.example"), "{text}");
    let right_name = Tls { server_name: Some("redis.example".to_owned()), ..certificates.trusting() };
    echoes(&right_name, &certificates, Behaviour::default());
}

#[test]
fn one_of_many_authorities_is_enough() {
    let (certificates, other) = (TestCertificates::new(), TestCertificates::new());
    let both = certificates.write("both.pem", &(other.read("authority.pem") + &certificates.read("authority.pem")));
    echoes(&Tls { authorities: Some(both), ..Tls::default() }, &certificates, Behaviour::default());
}

#[test]
fn any_server_is_taken_if_asked() {
    let certificates = TestCertificates::new();
    let tls = Tls { skip_verify: true, server_name: Some("other.example".to_owned()), ..Tls::default() };
    for only_tls12 in [false, true] {
        echoes(&tls, &certificates, Behaviour { only_tls12, ..Behaviour::default() });
    }
}

#[test]
fn the_client_shows_its_certificate() {
    let certificates = TestCertificates::new();
    for only_tls12 in [false, true] {
        let behaviour = Behaviour { wants_certificate: true, only_tls12, ..Behaviour::default() };
        echoes(&certificates.trusting_and_known(), &certificates, behaviour);
        let text = trouble(&certificates.trusting(), &certificates, behaviour);
        assert!(text.contains("alert"), "{text}");
    }
}

#[test]
fn versions_are_those_asked_for() {
    let certificates = TestCertificates::new();
    let old = Behaviour { only_tls12: true, ..Behaviour::default() };
    let with = |version| Tls { versions: vec![version], ..certificates.trusting() };
    echoes(&certificates.trusting(), &certificates, old);
    echoes(&with(TlsVersion::V1_2), &certificates, old);
    echoes(&with(TlsVersion::V1_3), &certificates, Behaviour::default());
    let text = trouble(&with(TlsVersion::V1_3), &certificates, old);
    assert!(text.contains("ProtocolVersion"), "{text}");
    trouble(&with(TlsVersion::V1_2), &certificates, Behaviour::default());
}

#[test]
fn the_end_is_the_end_with_or_without_a_notification() {
    let certificates = TestCertificates::new();
    for notifies in [false, true] {
        let behaviour = Behaviour { ending: Some(Ending { after: 5, notifies }), ..Behaviour::default() };
        let endpoint = test_server::start(&certificates, behaviour);
        let mut client = TestClient::connect(&certificates.trusting(), &endpoint);
        assert_eq!(client.exchange(b"hello").expect("an echo"), b"hello");
        if !client.session.may_hold_more() {
            client.socket.wait(false, Duration::from_secs(20)).expect("an end");
        }
        for _ in 0..2 {
            assert_eq!(client.session.receive(&client.socket, &mut [0; 8]).expect("an end"), Some(0));
        }
    }
}

#[test]
fn what_is_no_tls_is_an_error() {
    let certificates = TestCertificates::new();
    let endpoint = test_server::start_with(|mut stream| {
        stream.write_all(b"-ERR unknown command\r\n")?;
        stream.read_to_end(&mut Vec::new()).map(drop)
    });
    let error = TestClient::connect(&certificates.trusting(), &endpoint).exchange(b"hello").expect_err("no TLS");
    assert_eq!(error.kind(), ErrorKind::InvalidData, "{error}");
    let endpoint = test_server::start_with(|mut stream| stream.read(&mut [0; 4096]).map(drop));
    let error = TestClient::connect(&certificates.trusting(), &endpoint).exchange(b"hello").expect_err("no TLS");
    assert!(error.to_string().contains("handshake"), "{error}");
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let certificates = TestCertificates::new();
    let other = TestCertificates::new();
    let no_pem = certificates.write("no.pem", "text");
    let cut = certificates.write("cut.pem", &certificates.read("key.pem")[..60]);
    let gone = certificates.path("gone.pem");
    let others = other.path("key.pem");
    let with_authorities = |path: &Path| Tls { authorities: Some(path.to_owned()), ..Tls::default() };
    let with_key = |path: &Path| Tls { key: Some(path.to_owned()), ..certificates.trusting_and_known() };
    let all = [
        (with_authorities(&gone), format!("cannot read {}: No such file", gone.display())),
        (with_authorities(&no_pem), format!("{} holds no certificate", no_pem.display())),
        (with_key(&no_pem), format!("{} holds no private key", no_pem.display())),
        (with_key(&cut), format!("{} is not valid PEM", cut.display())),
        (with_key(&others), format!("the private key in {} does not belong", others.display())),
        (Tls { certificate: None, ..with_key(&others) }, format!("the private key {} is of no use", others.display())),
    ];
    let endpoint = Endpoint::Unix("socket".into());
    for (tls, text) in all {
        let error = TlsConnector::new(&tls, &endpoint).expect_err("a file that cannot be used");
        assert!(matches!(error, LoadError::Tls(_)) && error.to_string().contains(&text), "{error}");
    }
}

#[test]
fn names_and_addresses_of_all_kinds_can_be_asked_for() {
    let tls = Tls { skip_verify: true, ..Tls::default() };
    for host in ["localhost", "127.0.0.1", "::1", "redis_1.example"] {
        TlsConnector::new(&tls, &Endpoint::Tcp { host: host.to_owned(), port: 1 }).expect(host);
    }
    let connector = TlsConnector::new(&tls, &Endpoint::Unix("/a b".into())).expect("a unix socket");
    connector.for_node(&Endpoint::Tcp { host: "node".to_owned(), port: 2 }).expect("another node");
    let error = TlsConnector::new(&tls, &Endpoint::Tcp { host: "a b".to_owned(), port: 1 }).expect_err("no name");
    assert!(error.to_string().contains("\"a b\""), "{error}");
}
