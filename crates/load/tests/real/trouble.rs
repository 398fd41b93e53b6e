//! A redis-server of the PATH, where there is one, that dies.

use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::support::program::{Finished, Running, Session};
use crate::support::{Real, partial_document};

/// Runs with these arguments, and meanwhile does something to the server, or to the run.
fn run_while(server: &mut Real, arguments: &[&str], meddle: impl FnOnce(&mut Real, &Running)) -> Finished {
    let running = Running::start(&[&["-S", &server.socket(), "--json-out-file", "-"], arguments].concat());
    meddle(server, &running);
    running.finish()
}

const SHAPE: [&str; 6] = ["-t", "2", "-c", "4", "--command", "INCR counter"];

#[test]
fn a_server_that_dies_ends_the_run_with_4() {
    let Some(mut server) = Real::start(&[]) else { return };
    let arguments = [&SHAPE[..], &["--test-time", "3600", "--pipeline", "8"]].concat();
    let finished = run_while(&mut server, &arguments, |server, _| {
        server.wait_for_calls("incr", 1000);
        server.kill();
    });
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
    let document = partial_document(&finished);
    let failure = document["failure"].as_str().unwrap_or_default();
    assert!(failure.contains("closed a connection") || failure.contains("broke"), "{failure}");
    assert!(finished.stderr.contains(failure), "{}", finished.stderr);
    let count = |name: &str| document[name].as_u64().expect("a count");
    assert!(count("succeeded") >= 900, "what was counted is kept: {document}");
    assert!((1..=64).contains(&count("disconnected")), "at most all pipelines: {}", document["disconnected"]);
    let whole: serde_json::Value = serde_json::from_str(&finished.stdout).expect("a document");
    assert_eq!(whole["ALL STATS"], json!(null), "no result for those who read memtier's layout");
}

#[test]
fn a_server_that_dies_between_slices_ends_them_with_4() {
    let Some(mut server) = Real::start(&[]) else { return };
    let socket = server.socket();
    let (mut session, _) = Session::start(&[&["-S", &socket][..], &SHAPE].concat());
    session.slice(100);
    server.kill();
    session.send(r#"{"do":"slice","requests":100}"#);
    assert_eq!(session.event().expect("an event")["event"], "error");
    assert_eq!(session.finish(), Some(4));
}

#[test]
fn a_run_outlives_a_server_that_is_started_again() {
    let Some(mut server) = Real::start(&[]) else { return };
    let lasting = ["--test-time", "3600", "--pipeline", "4", "--reconnect-on-error", "--connect-timeout", "120"];
    let finished = run_while(&mut server, &[&SHAPE[..], &lasting].concat(), |server, running| {
        server.wait_for_calls("incr", 1000);
        server.kill();
        server.restart();
        server.wait_for_calls("incr", 1000);
        // Each connection has sent something before it is left alone.
        while server.call(&["CLIENT", "LIST"]).matches("cmd=incr").count() < 8 {
            thread::sleep(Duration::from_millis(5));
        }
        running.interrupt();
    });
    assert_eq!(finished.code, Some(130), "{}", finished.stderr);
    let document = partial_document(&finished);
    assert_eq!((&document["failure"], &document["errors"]), (&json!("interrupted"), &json!({})));
    assert_eq!(
        (&document["connections"]["disconnects"], &document["connections"]["reconnects"]),
        (&json!(8), &json!(8))
    );
    let lost = document["disconnected"].as_u64().expect("a count");
    assert!((1..=32).contains(&lost), "at most all pipelines: {lost}");
    // The first server is gone, and its counts with it; the second has all that succeeded since.
    let second = server.calls("incr");
    assert!(document["succeeded"].as_u64().is_some_and(|all| all >= second + 900), "{second} {document}");
    assert_eq!(server.call(&["GET", "counter"]), second.to_string());
}

#[test]
fn a_server_may_close_any_connection_and_no_more_is_lost_than_it_had() {
    let Some(mut server) = Real::start(&[]) else { return };
    let arguments = ["--test-time", "3600", "--pipeline", "4", "--reconnect-on-error"];
    let finished = run_while(&mut server, &[&SHAPE[..], &arguments].concat(), |server, running| {
        for calls in [1000, 10_000, 20_000] {
            server.wait_for_calls("incr", calls);
            server.call(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
        }
        server.wait_for_calls("incr", 30_000);
        running.interrupt();
    });
    assert_eq!(finished.code, Some(130), "{}", finished.stderr);
    let document = partial_document(&finished);
    let count = |name: &str| document[name].as_u64().expect("a count");
    let disconnects = document["connections"]["disconnects"].as_u64().expect("a count");
    assert!((8..=24).contains(&disconnects), "{disconnects}");
    assert!(count("disconnected") <= disconnects * 4, "{}", document["disconnected"]);
    // What was lost may have been carried out, or not.
    let calls = server.calls("incr");
    let most = count("succeeded") + count("disconnected");
    assert!((count("succeeded")..=most).contains(&calls), "{calls} {document}");
}

#[test]
fn a_server_that_stays_away_ends_the_run_after_so_many_tries() {
    let Some(mut server) = Real::start(&[]) else { return };
    let arguments = ["--test-time", "3600", "--reconnect-on-error", "--max-reconnect-attempts", "5"];
    let finished = run_while(&mut server, &[&SHAPE[..], &arguments].concat(), |server, _| {
        server.wait_for_calls("incr", 100);
        server.kill();
    });
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
    let failure = partial_document(&finished)["failure"].clone();
    assert!(failure.as_str().is_some_and(|text| text.contains("cannot connect")), "{failure}");
}

#[test]
fn a_server_that_stops_answering_ends_the_run_with_4() {
    let Some(mut server) = Real::start(&[]) else { return };
    let arguments = ["--test-time", "3600", "--reply-timeout", "2"];
    let finished = run_while(&mut server, &[&SHAPE[..], &arguments].concat(), |server, _| {
        server.wait_for_calls("incr", 100);
        assert_eq!(server.ask("CLIENT PAUSE 3600000 ALL"), "+OK");
    });
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
    let document = partial_document(&finished);
    assert!(document["timed_out"].as_u64().is_some_and(|count| (1..=8).contains(&count)), "{}", document["timed_out"]);
    let timeouts = document["connections"]["timeouts"].as_u64();
    assert!(matches!(timeouts, Some(1 | 2)), "each thread ends at its first: {timeouts:?}");
}
