//! Runs that the user ends.

use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::count;
use crate::support::load;
use crate::support::program::{Finished, Running};
use crate::support::scripted::{Peer, Scripted};

/// Starts a run against `server`, waits until so many requests have come, and ends it.
fn interrupted(server: &Scripted, requests: usize, arguments: &[&str]) -> Finished {
    let port = server.port();
    let running = Running::start(&[&["-s", "127.0.0.1", "-p", &port, "--json-out-file", "-"], arguments].concat());
    wait_for(server, requests);
    running.interrupt();
    let finished = running.finish();
    assert_eq!(finished.code, Some(130), "{}", finished.stderr);
    finished
}

fn wait_for(server: &Scripted, requests: usize) {
    while server.requests().len() < requests {
        thread::sleep(Duration::from_millis(5));
    }
}

fn slow() -> Scripted {
    Scripted::replying(|_, _| {
        thread::sleep(Duration::from_millis(2));
        "+OK\r\n".to_owned()
    })
}

fn expect_counted(document: &Value, heading: &str, requests: usize) {
    let statistics = &document[heading];
    assert_eq!(statistics["Runtime"]["Interrupted"], "true", "{document}");
    assert_eq!(count(&statistics["Totals"]["Count"]), requests);
    let lab = &document["lab"];
    assert_eq!((count(&lab["requests"]), count(&lab["succeeded"])), (requests, requests));
    assert_eq!((count(&lab["disconnected"]), count(&lab["timed_out"])), (0, 0), "replies were waited for");
}

#[test]
fn what_was_counted_until_then_is_reported() {
    for amount in [["--test-time", "3600"], ["-n", "1000000"]] {
        let server = slow();
        let shape = ["-t", "2", "-c", "2", "--pipeline", "3", "--command", "PING"];
        let finished = interrupted(&server, 200, &[&shape[..], &amount].concat());
        expect_counted(&finished.json(), "ALL STATS", server.requests().len());
        assert!(finished.stderr.contains("interrupted"), "{}", finished.stderr);
    }
}

#[test]
fn an_open_loop_ends_too() {
    let server = slow();
    let shape = ["-t", "1", "-c", "2", "--test-time", "3600", "--rate", "200", "--command", "PING"];
    let finished = interrupted(&server, 40, &shape);
    expect_counted(&finished.json(), "ALL STATS", server.requests().len());
    // What was due later than the interrupt is not missing.
    assert!(count(&finished.json()["lab"]["schedule"]["unsent"]) < 360_000);
}

#[test]
fn the_runs_that_were_to_follow_are_left_out() {
    let server = slow();
    let shape = ["-t", "1", "-c", "1", "--test-time", "3600", "-x", "5", "--command", "PING"];
    let finished = interrupted(&server, 40, &shape);
    assert_eq!(server.connections().len(), 1);
    expect_counted(&finished.json(), "ALL STATS", server.requests().len());
}

#[test]
fn the_warm_up_ends_too_and_is_not_reported() {
    let server = slow();
    let shape = ["-t", "1", "-c", "1", "--warm-up", "3600", "--test-time", "3600", "--command", "PING"];
    let finished = interrupted(&server, 100, &shape);
    assert_eq!(finished.stdout, "", "nothing was measured");
}

#[test]
fn connecting_ends_too() {
    let server = Scripted::start(Peer::stay_silent);
    let finished = interrupted(&server, 1, &["-t", "1", "-c", "1", "-a", "secret", "--command", "PING"]);
    assert_eq!(finished.stdout, "", "nothing was counted");
}

#[test]
fn a_second_interrupt_does_not_wait_for_replies() {
    let server = Scripted::start(Peer::stay_silent);
    let port = server.port();
    let shape = ["-t", "1", "-c", "1", "--reply-timeout", "3600", "--command", "PING"];
    let mut running = Running::start(&[&["-s", "127.0.0.1", "-p", &port], &shape[..]].concat());
    wait_for(&server, 1);
    // Two that come close together may reach it as one.
    while running.child.try_wait().expect("a status").is_none() {
        running.interrupt();
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(running.finish().code, Some(130));
}

#[test]
fn a_run_to_the_end_was_not_interrupted() {
    let document = load(&slow(), &["-t", "1", "-c", "1", "-n", "3", "--command", "PING"]);
    assert_eq!(document["ALL STATS"]["Runtime"]["Interrupted"], "false");
}
