//! Servers that fail and arguments that are wrong: a message, an exit code, and never a hang.

use std::time::{Duration, Instant};

use crate::support::first_processor;
use crate::support::program::{Finished, run};
use crate::support::scripted::{Peer, Port, Scripted};

fn load(port: &str, arguments: &[&str]) -> Finished {
    run(&[&["-s", "127.0.0.1", "-p", port, "-t", "2", "-c", "2", "-n", "100", "--command", "PING"], arguments].concat())
}

fn expect_failure(finished: &Finished, code: i32, message: &str) {
    assert_eq!(finished.code, Some(code), "{}", finished.stderr);
    assert!(finished.stderr.contains(message), "{}", finished.stderr);
    let messages = finished.stderr.lines().filter(|line| line.starts_with("zerolap-load: ")).count();
    assert!(messages <= 1, "one message, not one for each connection: {}", finished.stderr);
    assert_eq!(finished.stdout, "", "no numbers from a run that failed");
}

#[test]
fn refused_connections_end_with_4() {
    let port = Port::new();
    expect_failure(&load(&port.number(), &[]), 4, "cannot connect to tcp://127.0.0.1");
    let missing = run(&["-S", "/nonexistent/socket"]);
    expect_failure(&missing, 4, "cannot connect to unix:///nonexistent/socket");
}

#[test]
fn a_silent_server_ends_with_4_after_the_timeout() {
    let server = Scripted::start(|peer| {
        peer.request();
        peer.send(b"+PONG\r\n");
        peer.stay_silent();
    });
    let started = Instant::now();
    expect_failure(&load(&server.port(), &["--reply-timeout", "1"]), 4, "left a request unanswered for 1 s");
    assert!(started.elapsed() >= Duration::from_secs(1));
}

#[test]
fn one_silent_connection_among_busy_ones_is_noticed() {
    let server = Scripted::start(|peer| {
        while let Some(request) = peer.request() {
            if request[1] == "0" {
                return peer.stay_silent();
            }
            peer.send(b"$-1\r\n");
        }
    });
    let port = server.port();
    let keys = ["--key-prefix", "", "--key-maximum", "7", "--command", "GET __key__", "--command-key-pattern", "P"];
    let arguments = ["-s", "127.0.0.1", "-p", &port, "-t", "2", "-c", "2", "--test-time", "20", "--reply-timeout", "1"];
    expect_failure(&run(&[&arguments[..], &keys].concat()), 4, "left a request unanswered");
}

#[test]
fn a_server_that_closes_ends_with_4() {
    let server = Scripted::start(|peer| {
        for _ in 0..5 {
            peer.request();
            peer.send(b"+PONG\r\n");
        }
    });
    // Where bytes are left unread, the system resets the connection: both are reported as what they are.
    let finished = load(&server.port(), &[]);
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
    assert!(
        finished.stderr.contains("closed a connection") || finished.stderr.contains("broke"),
        "{}",
        finished.stderr
    );
}

#[test]
fn what_is_no_reply_ends_with_4() {
    let server = Scripted::answering("HTTP/1.1 400 Bad Request\r\n");
    expect_failure(&load(&server.port(), &[]), 4, "malformed reply: no reply starts with the byte 0x48");
    let server = Scripted::answering("+PONG\r\n+PONG\r\n");
    expect_failure(&load(&server.port(), &[]), 4, "sent a reply (status) to no request");
}

#[test]
fn credentials_are_sent_first_on_each_connection() {
    for (argument, expected) in
        [("secret", vec!["AUTH", "secret"]), ("bob:a:b", vec!["AUTH", "bob", "a:b"]), (":a:b", vec!["AUTH", "a:b"])]
    {
        let server = Scripted::answering("+OK\r\n");
        let finished = load(&server.port(), &["-a", argument]);
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
        let connections = server.connections();
        assert_eq!(connections.len(), 4);
        for requests in connections {
            assert_eq!(requests[0], expected);
            assert_eq!(requests.len(), 101, "the authentication is no request of the run");
        }
    }
}

#[test]
fn refused_or_unanswered_credentials_end_with_4() {
    let server = Scripted::answering("-WRONGPASS invalid username-password pair\r\n");
    let finished = load(&server.port(), &["-a", "top:secret"]);
    expect_failure(&finished, 4, "refused AUTH: WRONGPASS invalid username-password pair");
    assert!(!finished.stderr.contains("secret"), "passwords stay out of messages");
    let server = Scripted::start(Peer::stay_silent);
    expect_failure(&load(&server.port(), &["-a", "x", "--reply-timeout", "0.5"]), 4, "unanswered for 0.5 s");
}

#[test]
fn wrong_usage_ends_with_2() {
    let cases: [(&[&str], &str); 14] = [
        (&["--nonsense"], "there is no argument --nonsense"),
        (&["-z"], "there is no argument -z"),
        (&["-c"], "missing argument for option '-c'"),
        (&["-c", "0"], "--clients"),
        (&["-n", "many"], "--requests"),
        (&["-n", "5", "--test-time", "5"], "exclude each other"),
        (&["--control", "-n", "5"], "--control"),
        (&["-S", "/x", "-p", "1"], "--unix-socket excludes"),
        (&["--key-minimum", "5", "--key-maximum", "4"], "--key-maximum must not be below"),
        (&["--command-ratio", "2"], "none stands before it"),
        (&["--command", "SET k a__data__"], "__data__ must be a whole argument"),
        (&["--command", "GET \"k"], "never closed"),
        (&["--cpus", "x"], "--cpus"),
        (&["--reply-timeout", "0"], "--reply-timeout"),
    ];
    for (arguments, message) in cases {
        expect_failure(&run(arguments), 2, message);
    }
}

#[test]
fn a_processor_or_file_that_is_not_there_ends_with_3() {
    let server = Scripted::answering("+PONG\r\n");
    expect_failure(&load(&server.port(), &["--cpus", "1000"]), 3, "cannot pin a thread to processor 1000");
    expect_failure(&load(&server.port(), &["--json-out-file", "/nonexistent/x.json"]), 3, "cannot write /nonexistent");
    assert!(server.requests().is_empty(), "found out before any request");
}

#[test]
fn a_document_is_there_whole_or_not_at_all() {
    let directory = std::env::temp_dir().join(format!("zerolap-load-document-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let path = directory.join("result.json");
    let path_text = path.display().to_string();
    let files = || std::fs::read_dir(&directory).expect("a directory").count();

    let read = || -> serde_json::Value {
        serde_json::from_str(&std::fs::read_to_string(&path).expect("a file")).expect("JSON")
    };

    let server = Scripted::start(|peer| _ = peer.request());
    assert_eq!(load(&server.port(), &["--json-out-file", "/nonexistent/x"]).code, Some(3));
    assert_eq!(load("1", &["--json-out-file", &path_text]).code, Some(4));
    assert_eq!(files(), 0, "nothing was counted");
    let refused = load(&server.port(), &["--json-out-file", &path_text, "--reply-timeout", "5"]);
    assert_eq!(refused.code, Some(4));
    let document = read();
    assert_eq!(document.get("ALL STATS"), None, "no result of a run that failed");
    assert!(document["lab"]["failure"].as_str().is_some_and(|failure| failure.contains("closed a connection")));
    assert!(document["lab"]["connections"]["disconnects"].as_u64() >= Some(1));
    assert!(document["lab"]["disconnected"].as_u64() >= Some(1));
    let server = Scripted::answering("+PONG\r\n");
    let cpu = first_processor();
    let finished = load(&server.port(), &["--json-out-file", &path_text, "-a", "bob:top-secret", "--cpus", &cpu]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(finished.stdout.contains("PING") && finished.stdout.contains("ops/s"), "{}", finished.stdout);
    assert_eq!(files(), 1);
    let document = &read()["lab"];
    assert_eq!((&document["schema"], &document["requests"]), (&"zerolap.load/2".into(), &400.into()));
    assert_eq!(document["settings"]["connections"], 4);
    assert_eq!(document["settings"]["cpus"].to_string(), format!("[{cpu}]"));
    assert!(!read().to_string().contains("top-secret"));
    std::fs::remove_dir_all(&directory).expect("removed");
}

#[test]
fn help_and_version_go_to_standard_output() {
    let help = run(&["--help"]);
    assert_eq!((help.code, help.stderr.as_str()), (Some(0), ""));
    assert!(help.stdout.contains("--command-key-pattern R|S|P") && help.stdout.contains("Examples:"));
    assert!(run(&["--version"]).stdout.starts_with("zerolap-load "));
}
