//! Requests that have times of their own.

use serde_json::Value;

use super::{count, number};
use crate::support::scripted::Scripted;
use crate::support::{expect_none_early, load};

/// Requests that were due, sent or not.
fn due(document: &Value) -> usize {
    count(&document["lab"]["requests"]) + count(&document["lab"]["schedule"]["unsent"])
}

#[test]
fn a_rate_is_kept_evenly_over_all_connections_and_threads() {
    let server = Scripted::answering("+OK\r\n");
    let document = load(&server, &["-t", "2", "-c", "3", "--test-time", "1", "--rate", "200", "--command", "PING"]);
    let lab = &document["lab"];
    let requests = server.requests().len();
    assert_eq!(count(&lab["requests"]), requests);
    assert!((199..=201).contains(&due(&document)), "{}", due(&document));
    let schedule = &lab["schedule"];
    assert_eq!((&schedule["per_second"], &schedule["arrivals"]), (&200.into(), &"fixed".into()));
    expect_none_early(&server, &document, 200);
    let shares: Vec<usize> = server.connections().iter().map(Vec::len).collect();
    assert!(shares.iter().all(|share| *share > 0), "connections take turns: {shares:?}");
}

#[test]
fn a_rate_spreads_a_number_of_requests() {
    let server = Scripted::answering("+OK\r\n");
    let document = load(&server, &["-t", "1", "-c", "2", "-n", "50", "--rate", "250", "--command", "PING"]);
    assert_eq!(server.connections().iter().map(Vec::len).collect::<Vec<_>>(), [50, 50]);
    expect_none_early(&server, &document, 250);
    assert_eq!(document["lab"]["schedule"]["unsent"], 0);
}

#[test]
fn poisson_arrivals_are_as_many_as_the_rate_says_give_or_take_chance() {
    let server = Scripted::answering("+OK\r\n");
    let shape = ["-t", "2", "-c", "20", "--test-time", "2", "--rate", "300", "--command", "PING"];
    let document = load(&server, &[&shape[..], &["--arrivals", "poisson"]].concat());
    assert_eq!(document["lab"]["schedule"]["arrivals"], "poisson");
    assert_eq!(count(&document["lab"]["requests"]), server.requests().len());
    // 600 are expected; 5 standard deviations of a Poisson process are 123.
    assert!((470..=725).contains(&due(&document)), "{}", due(&document));
}

#[test]
fn rate_limiting_is_of_each_connection() {
    let server = Scripted::answering("+OK\r\n");
    let shape = ["-t", "2", "-c", "2", "--test-time", "1", "--rate-limiting", "50", "--command", "PING"];
    let document = load(&server, &shape);
    let shares: Vec<usize> = server.connections().iter().map(Vec::len).collect();
    assert!(shares.len() == 4 && shares.iter().all(|share| *share > 0), "{shares:?}");
    assert!((199..=201).contains(&due(&document)), "{}", due(&document));
    expect_none_early(&server, &document, 200);
    assert_eq!(document["lab"]["schedule"]["per_second"], 200);
    assert!((number(&document["configuration"]["rate_limit"]) - 50.0).abs() < 1e-9);
}

#[test]
fn without_a_rate_there_is_no_schedule() {
    let server = Scripted::answering("+OK\r\n");
    let document = load(&server, &["-t", "1", "-c", "1", "-n", "5", "--command", "PING"]);
    assert!(document["lab"]["schedule"].is_null());
    assert_eq!(document["lab"]["warnings"], serde_json::json!([]));
}
