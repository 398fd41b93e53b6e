//! A redis-server of the PATH, where there is one, that dies.

mod support;

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use support::program::Finished;
use support::real::{Real, partial_document};

/// Runs with these arguments, and meanwhile does something to the server.
fn run_while(server: &mut Real, arguments: &[&str], meddle: impl FnOnce(&mut Real)) -> Finished {
    let words = ["-S", &server.socket(), "--json-out-file", "-"].map(str::to_owned);
    let words: Vec<String> = words.into_iter().chain(arguments.iter().map(|&word| word.to_owned())).collect();
    let running =
        thread::spawn(move || support::program::run(&words.iter().map(String::as_str).collect::<Vec<&str>>()));
    meddle(server);
    running.join().expect("it ends")
}

const SHAPE: [&str; 6] = ["-t", "2", "-c", "4", "--command", "INCR counter"];

#[test]
fn a_server_that_dies_ends_the_run_with_4() {
    let Some(mut server) = Real::start(&[]) else { return };
    let mut died = Instant::now();
    let finished =
        run_while(&mut server, &[&SHAPE[..], &["--test-time", "25", "--pipeline", "8"]].concat(), |server| {
            server.wait_for_calls("incr", 1000);
            server.kill();
            died = Instant::now();
        });
    assert!(died.elapsed() < Duration::from_secs(5), "{:?}", died.elapsed());
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
    let (mut session, _) = support::program::Session::start(&[&["-S", &socket][..], &SHAPE].concat());
    session.slice(100);
    server.kill();
    session.send(r#"{"do":"slice","requests":100}"#);
    assert_eq!(session.event().expect("an event")["event"], "error");
    assert_eq!(session.finish(), Some(4));
}

#[test]
fn a_run_outlives_a_server_that_is_started_again() {
    let Some(mut server) = Real::start(&[]) else { return };
    let lasting = ["--test-time", "3", "--pipeline", "4", "--reconnect-on-error"];
    let finished = run_while(&mut server, &[&SHAPE[..], &lasting].concat(), |server| {
        server.wait_for_calls("incr", 1000);
        server.kill();
        server.restart();
        server.wait_for_calls("incr", 1000);
    });
    let document = finished.document();
    assert_eq!((&document["failure"], &document["errors"]), (&json!(null), &json!({})));
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
    let arguments = ["-n", "20000", "--pipeline", "4", "--reconnect-on-error"];
    let finished = run_while(&mut server, &[&SHAPE[..], &arguments].concat(), |server| {
        for calls in [1000, 10_000, 20_000] {
            server.wait_for_calls("incr", calls);
            server.call(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
        }
    });
    let document = finished.document();
    let count = |name: &str| document[name].as_u64().expect("a count");
    assert_eq!(count("succeeded") + count("disconnected"), 160_000);
    let disconnects = document["connections"]["disconnects"].as_u64().expect("a count");
    assert!((8..=24).contains(&disconnects), "{disconnects}");
    assert!(count("disconnected") <= disconnects * 4, "{}", document["disconnected"]);
    // What was lost may have been carried out, or not.
    let calls = server.calls("incr");
    assert!((count("succeeded")..=160_000).contains(&calls), "{calls} {}", document["succeeded"]);
}

#[test]
fn a_server_that_stays_away_ends_the_run_after_so_many_tries() {
    let Some(mut server) = Real::start(&[]) else { return };
    let arguments = ["--test-time", "25", "--reconnect-on-error", "--max-reconnect-attempts", "5"];
    let mut died = Instant::now();
    let finished = run_while(&mut server, &[&SHAPE[..], &arguments].concat(), |server| {
        server.wait_for_calls("incr", 100);
        server.kill();
        died = Instant::now();
    });
    assert!(died.elapsed() < Duration::from_secs(5), "{:?}", died.elapsed());
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
    let failure = partial_document(&finished)["failure"].clone();
    assert!(failure.as_str().is_some_and(|text| text.contains("cannot connect")), "{failure}");
}

#[test]
fn a_server_that_stops_answering_ends_the_run_with_4() {
    let Some(mut server) = Real::start(&[]) else { return };
    let arguments = ["--test-time", "25", "--reply-timeout", "1"];
    let finished = run_while(&mut server, &[&SHAPE[..], &arguments].concat(), |server| {
        server.wait_for_calls("incr", 100);
        assert_eq!(server.ask("CLIENT PAUSE 5000 ALL"), "+OK");
    });
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
    let document = partial_document(&finished);
    assert!(document["timed_out"].as_u64().is_some_and(|count| (1..=8).contains(&count)), "{}", document["timed_out"]);
    let timeouts = document["connections"]["timeouts"].as_u64();
    assert!(matches!(timeouts, Some(1 | 2)), "each thread ends at its first: {timeouts:?}");
}
