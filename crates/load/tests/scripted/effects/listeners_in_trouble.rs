//! Listeners that are refused, lost or asked for in vain.

use std::time::Duration;

use serde_json::json;

use super::listeners::confirmed;
use crate::support::program::{Finished, Running, run};
use crate::support::scripted::{Peer, Request, Scripted};

const SHAPE: [&str; 8] = ["-t", "1", "-c", "1", "-n", "3", "--command", "PING"];

fn run_against(server: &Scripted, arguments: &[&str]) -> Finished {
    let port = server.port();
    run(&[&["-s", "127.0.0.1", "-p", &port, "--json-out-file", "-"], arguments].concat())
}

fn refusing(request: &Request, _: usize) -> String {
    match request[0].as_str() {
        "SUBSCRIBE" => "-NOPERM no such channel for you\r\n".to_owned(),
        "AUTH" if request[1] == "bad" => "-WRONGPASS no\r\n".to_owned(),
        _ => "+OK\r\n".to_owned(),
    }
}

#[test]
fn a_listener_that_is_refused_ends_the_run_before_it_begins() {
    let cases: [(&[&str], &str); 3] = [
        (&["--listen", "SUBSCRIBE a"], "refused \"SUBSCRIBE a\": NOPERM no such channel for you"),
        (&["--listen", "SUBSCRIBE a", "--listen-authenticate", "bad:pw"], "refused AUTH: WRONGPASS no"),
        (&["--listen", "PSUBSCRIBE a"], "sent a reply (status) to no request"),
    ];
    for (arguments, expected) in cases {
        let server = Scripted::replying(refusing);
        let finished = run_against(&server, &[&SHAPE[..], arguments].concat());
        assert_eq!(finished.code, Some(4), "{}", finished.stderr);
        assert!(finished.stderr.contains(expected), "{}", finished.stderr);
        assert_eq!(finished.stdout, "");
        assert!(server.requests().iter().all(|request| request[0] != "PING"));
    }
}

#[test]
fn a_server_that_does_not_confirm_ends_the_run_after_the_timeout() {
    let server = Scripted::start(|peer: &mut Peer| {
        while peer.request().is_some_and(|request| request[0] != "SUBSCRIBE") {
            peer.send(b"+OK\r\n");
        }
        peer.stay_silent();
    });
    let finished = run_against(&server, &[&SHAPE[..], &["--listen", "SUBSCRIBE a", "--reply-timeout", "0.3"]].concat());
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
    assert!(finished.stderr.contains("left a request unanswered"), "{}", finished.stderr);
}

#[test]
fn nobody_there_ends_the_run() {
    let listen = ["--listen", "SUBSCRIBE a", "--listen-only", "--test-time", "20"];
    let finished = run(&[&["-S", "/nonexistent/socket"], &listen[..]].concat());
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
    assert!(finished.stderr.contains("cannot connect"), "{}", finished.stderr);
}

/// Runs three listeners for some time, of which the server disconnects the first; the others get errors.
fn with_one_disconnected(seconds: &str) -> Finished {
    let server = Scripted::start(|peer: &mut Peer| {
        let Some(request) = peer.request() else { return };
        peer.send(confirmed(&request, '*').as_bytes());
        let pause = Duration::from_millis(if peer.connection() == 0 { 150 } else { 20 });
        while peer.request_within(pause).is_none() && peer.send(b"-ERR odd\r\n") && peer.connection() > 0 {}
    });
    run_against(&server, &["--listen", "SUBSCRIBE a", "--listeners", "3", "--listen-only", "--test-time", seconds])
}

#[test]
fn who_is_disconnected_is_counted_and_told_and_the_others_go_on() {
    // On a machine that is busy with something else, it may take longer.
    let has_happened = |finished: &Finished| {
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
        let listeners = &finished.json()["lab"]["listeners"];
        listeners["disconnects"] == 1 && listeners["errors"]["ERR"].is_u64()
    };
    let finished =
        ["1.5", "15", "150"].into_iter().map(with_one_disconnected).find(has_happened).expect("a disconnected one");
    let listeners = &finished.json()["lab"]["listeners"];
    assert_eq!((&listeners["connections"], &listeners["disconnects"]), (&json!(3), &json!(1)));
    assert!(listeners["errors"]["ERR"].as_u64() > Some(0), "{listeners}");
    assert_eq!(listeners["messages"]["other"], 0, "an error is no message");
    let warning = "1 of 3 listeners were disconnected; the first: ";
    assert!(finished.stderr.contains(&format!("warning: {warning}")), "{}", finished.stderr);
    assert!(finished.json()["lab"]["warnings"][0].as_str().is_some_and(|text| text.starts_with(warning)));
}

#[test]
fn the_user_may_end_it() {
    let server = Scripted::start(|peer: &mut Peer| {
        if let Some(request) = peer.request() {
            peer.send(confirmed(&request, '*').as_bytes());
            peer.stay_silent();
        }
    });
    let port = server.port();
    let listen = ["--listen", "SUBSCRIBE a", "--listen-only", "--test-time", "3600", "--json-out-file", "-"];
    let running = Running::start(&[&["-s", "127.0.0.1", "-p", &port], &listen[..]].concat());
    while server.requests().is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    running.interrupt();
    let finished = running.finish();
    assert_eq!(finished.code, Some(130), "{}", finished.stderr);
}

#[test]
fn what_cannot_be_is_refused() {
    let cases: [(&[&str], &str); 7] = [
        (&["--listen-only", "--test-time", "1"], "--listen-only needs a --listen"),
        (&["--listen-only", "--listen", "X"], "--listen-only needs --test-time"),
        (&["--listen-only", "--listen", "X", "--test-time", "1", "--command", "PING"], "nothing is sent"),
        (&["--listen", "X", "--control"], "--listen and --control exclude each other"),
        (&["--listen", ""], "the command line is empty"),
        (&["--listen", "SUBSCRIBE __data__"], "a listener has no __data__"),
        (&["--listeners", "0"], "expected a whole number"),
    ];
    for (arguments, expected) in cases {
        let finished = run(arguments);
        assert_eq!(finished.code, Some(2), "{arguments:?}");
        assert!(finished.stderr.contains(expected), "{}", finished.stderr);
    }
}
