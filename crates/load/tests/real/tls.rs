//! Encrypted connections to the redis-server of the PATH, where there is one.

use serde_json::json;

use crate::support::Real;
use crate::support::certificates::Certificates;
use crate::support::program::{Finished, run};

/// A server that encrypts on the first port and does not on the second.
struct Encrypted {
    server: Real,
    certificates: Certificates,
}

impl Encrypted {
    fn start(more: &[&str]) -> Option<Self> {
        let certificates = Certificates::new();
        let [authority, certificate, key] = ["authority.pem", "certificate.pem", "key.pem"];
        let server = Real::start_on_ports(|[encrypted, plain]| {
            let words = [
                ["--tls-port", &encrypted.to_string()],
                ["--port", &plain.to_string()],
                ["--tls-ca-cert-file", &certificates.path(authority)],
                ["--tls-cert-file", &certificates.path(certificate)],
                ["--tls-key-file", &certificates.path(key)],
            ];
            words.concat().iter().chain(more).map(|&word| word.to_owned()).collect()
        })?;
        Some(Self { server, certificates })
    }

    /// Runs against one of the ports for 20 requests.
    fn load_from(&self, port: usize, arguments: &[&str]) -> Finished {
        let port = self.server.ports[port].to_string();
        let shape = ["-s", "127.0.0.1", "-p", &port, "-t", "2", "-c", "2", "-n", "5", "--command", "INCR counter"];
        let output = ["--json-out-file", "-", "--reply-timeout", "5"];
        run(&[&shape[..], &output, arguments].concat())
    }

    /// Runs encrypted.
    fn load(&self, arguments: &[&str]) -> Finished {
        self.load_from(0, &[&["--tls"], arguments].concat())
    }

    fn path(&self, name: &str) -> String {
        self.certificates.path(name)
    }

    fn counter(&self) -> String {
        self.server.call(&["GET", "counter"])
    }
}

fn expect_failure(finished: &Finished, message: &str) {
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
    assert!(finished.stderr.to_lowercase().contains(message), "{message}: {}", finished.stderr);
}

#[test]
fn a_server_of_a_trusted_authority_is_taken() {
    let Some(encrypted) = Encrypted::start(&["--tls-auth-clients", "no"]) else { return };
    let document = encrypted.load(&["--cacert", &encrypted.path("authority.pem")]).document();
    assert_eq!((&document["succeeded"], &document["settings"]["tls"]), (&json!(20), &json!(true)));
    assert_eq!(encrypted.counter(), "20");
}

#[test]
fn a_server_of_a_strange_authority_is_not() {
    let Some(encrypted) = Encrypted::start(&["--tls-auth-clients", "no"]) else { return };
    expect_failure(&encrypted.load(&["--cacert", &encrypted.path("stranger.pem")]), "certificate");
    assert_eq!(encrypted.counter(), "", "nothing was sent to it");
    assert_eq!(encrypted.load(&["--tls-skip-verify"]).document()["succeeded"], 20);
}

#[test]
fn the_name_asked_for_must_be_in_the_certificate() {
    let Some(encrypted) = Encrypted::start(&["--tls-auth-clients", "no"]) else { return };
    let trusting = |name| encrypted.load(&["--cacert", &encrypted.path("authority.pem"), "--sni", name]);
    assert_eq!(trusting("redis.example").document()["succeeded"], 20);
    expect_failure(&trusting("other.example"), "certificate");
}

#[test]
fn a_client_certificate_is_shown_where_it_is_required() {
    let Some(encrypted) = Encrypted::start(&["--tls-auth-clients", "yes"]) else { return };
    let (authority, certificate, key) =
        (encrypted.path("authority.pem"), encrypted.path("certificate.pem"), encrypted.path("key.pem"));
    let known = ["--cacert", &authority, "--cert", &certificate, "--key", &key];
    for versions in ["TLSv1.2", "TLSv1.3"] {
        let trusting = ["--cacert", &authority, "--tls-protocols", versions];
        expect_failure(&encrypted.load(&trusting), "alert");
        let document = encrypted.load(&[&known[..], &["--tls-protocols", versions]].concat()).document();
        assert_eq!(document["succeeded"], 20, "{versions}");
    }
    assert_eq!(encrypted.counter(), "40");
}

#[test]
fn versions_are_agreed_on_or_there_is_no_connection() {
    let Some(encrypted) = Encrypted::start(&["--tls-auth-clients", "no", "--tls-protocols", "TLSv1.2"]) else { return };
    let with = |versions| encrypted.load(&["--cacert", &encrypted.path("authority.pem"), "--tls-protocols", versions]);
    for versions in ["TLSv1.2", "TLSv1.2,TLSv1.3"] {
        assert_eq!(with(versions).document()["succeeded"], 20, "{versions}");
    }
    expect_failure(&with("TLSv1.3"), "version");
}

#[test]
fn large_pipelines_pass_unharmed() {
    let Some(encrypted) = Encrypted::start(&["--tls-auth-clients", "no"]) else { return };
    let authority = encrypted.path("authority.pem");
    let port = encrypted.server.ports[0].to_string();
    let shape = ["-s", "127.0.0.1", "-p", &port, "--tls", "--cacert", &authority, "-t", "2", "-c", "3", "-n", "100"];
    let keys = ["--key-maximum", "50", "--key-minimum", "1", "-d", "50000", "-R", "--pipeline", "30"];
    let commands = ["--command", "SET __key__ __data__", "--command", "STRLEN __key__", "--command", "GET __key__"];
    let document = run(&[&shape[..], &keys, &commands, &["--json-out-file", "-"]].concat()).document();
    assert_eq!((&document["succeeded"], &document["errors"]), (&json!(600), &json!({})));
    let got = document["commands"][2]["hits"].as_u64().expect("a count");
    let expected = got * "$50000\r\n\r\n".len() as u64 + got * 50_000 + (198 - got) * "$-1\r\n".len() as u64;
    assert_eq!(document["commands"][2]["bytes_received"], expected);
    assert_eq!(encrypted.server.calls("get"), 198);
}

#[test]
fn a_client_that_does_not_encrypt_is_turned_away_in_time() {
    let Some(encrypted) = Encrypted::start(&["--tls-auth-clients", "no"]) else { return };
    let finished = encrypted.load_from(0, &[]);
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
}

#[test]
fn a_server_that_does_not_encrypt_is_noticed_in_time() {
    let Some(encrypted) = Encrypted::start(&["--tls-auth-clients", "no"]) else { return };
    // Whether the server sees the end of a line in the greeting, and so answers, is chance.
    let finished = encrypted.load_from(1, &["--tls", "--tls-skip-verify"]);
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
    assert_eq!(encrypted.counter(), "");
}

#[test]
fn encrypted_connections_are_made_anew() {
    let Some(encrypted) = Encrypted::start(&["--tls-auth-clients", "no"]) else { return };
    let authority = encrypted.path("authority.pem");
    let document = encrypted.load(&["--cacert", &authority, "--reconnect-interval", "2"]).document();
    assert_eq!((&document["succeeded"], &document["connections"]["reconnects"]), (&json!(20), &json!(8)));
    assert_eq!(encrypted.counter(), "20");
}
