//! The highest rate at which responses are fast enough.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::program::{Finished, Running, run};
use crate::support::scripted::{Peer, Scripted};

fn search(server: &Scripted, arguments: &[&str]) -> Finished {
    let port = server.port();
    let shape = ["-s", "127.0.0.1", "-p", &port, "-t", "1", "-c", "1", "--json-out-file", "-"];
    run(&[&shape[..], arguments].concat())
}

fn rates(search: &Value) -> Vec<u64> {
    search["steps"].as_array().expect("steps").iter().map(|step| step["rate"].as_u64().expect("a rate")).collect()
}

#[test]
fn the_highest_rate_without_errors_is_found_and_reported() {
    // Each step is a connection. From the third on all replies are errors; whether the first two are met is this
    // machine's doing, too.
    let server = Scripted::start(|peer: &mut Peer| {
        let is_bad = peer.connection() >= 2;
        peer.serve(|_, number| {
            if number == 0 {
                thread::sleep(Duration::from_millis(200));
            }
            if is_bad { "-ERR no\r\n".to_owned() } else { "+OK\r\n".to_owned() }
        });
    });
    let arguments =
        ["--search", "slo=p99<100s", "--rate", "8", "--test-time", "0.5", "--pipeline", "50", "--command", "PING"];
    let finished = search(&server, &arguments);
    let document = finished.json();
    let search = &document["lab"]["search"];
    let steps = search["steps"].as_array().expect("steps");
    let met: Vec<bool> = steps.iter().map(|step| step["met"].as_bool().expect("a verdict")).collect();
    let (tried, highest) = rates_by_rule(8, &met);
    assert_eq!((rates(search), &search["highest_rate"]), (tried, &json!(highest)), "{search}");
    assert_eq!(search["slo"], "p99<100s");
    assert_eq!(finished.code, Some(if highest.is_some() { 0 } else { 5 }), "{}", finished.stderr);
    for (number, step) in steps.iter().enumerate() {
        let has_errors = step["reason"].as_str().is_some_and(|reason| reason.contains("replies were errors"));
        assert_eq!(has_errors, number >= 2, "{step}");
        assert!(!has_errors || step["met"] == false, "{step}");
        assert!(step["percentile_us"].as_f64() > Some(100_000.0), "{step}");
        let line = format!("zerolap-load: step {}: {}/s: p99 ", number + 1, step["rate"]);
        assert!(finished.stderr.contains(&line), "{}", finished.stderr);
    }
    let connections = server.connections();
    assert_eq!(connections.len(), steps.len());
    let Some(highest) = highest else { return };
    let best = steps.iter().position(|step| step["rate"] == highest).expect("a step");
    let lab = &document["lab"];
    assert_eq!((&lab["requests"], &lab["errors"]), (&json!(connections[best].len()), &json!({})));
    assert_eq!(lab["schedule"]["per_second"], highest);
    let summary = format!("{highest}/s is the highest rate with p99<100s, of {} that were tried", steps.len());
    assert!(finished.stderr.contains(&summary), "{}", finished.stderr);
}

/// The rates that are tried from `start` on where the steps come out as `met` decides, and the highest that was met.
fn rates_by_rule(start: u64, met: &[bool]) -> (Vec<u64>, Option<u64>) {
    let (mut rates, mut rate, mut known) = (Vec::new(), start, (None, None));
    for is_met in met {
        rates.push(rate);
        known = if *is_met { (Some(rate), known.1) } else { (known.0, Some(rate)) };
        rate = match known {
            (Some(met), Some(missed)) => met + (missed - met) / 2,
            (Some(met), None) => met * 2,
            (None, missed) => missed.unwrap_or(rate) / 2,
        };
    }
    (rates, known.0)
}

#[test]
fn where_no_rate_is_good_enough_the_program_says_so() {
    let server = Scripted::answering("+OK\r\n");
    let limits =
        ["--search", "slo=max<0.001us", "--rate", "2", "--test-time", "0.6", "--prefill", "--key-maximum", "3"];
    let finished = search(&server, &[&limits[..], &["--command", "GET __key__"]].concat());
    assert_eq!(finished.code, Some(5), "{}", finished.stderr);
    let lab = &finished.json()["lab"];
    assert_eq!((rates(&lab["search"]), &lab["search"]["highest_rate"]), (vec![2, 1], &json!(null)));
    for text in [&finished.stderr, lab["failure"].as_str().expect("a failure")] {
        assert!(text.contains("no rate satisfies max<0.001us; the lowest rate tried: "), "{text}");
        assert!(text.contains("not max<0.001us"), "{text}");
    }
    assert_eq!(finished.json().get("ALL STATS"), None);
    let written = server.requests().iter().filter(|request| request[0] == "SET").count();
    assert_eq!(written, 4, "only before the first step");
}

#[test]
fn a_rate_that_the_server_does_not_keep_up_with_is_not_met() {
    let server = Scripted::replying(|_, _| {
        thread::sleep(Duration::from_millis(20));
        "+OK\r\n".to_owned()
    });
    let arguments = ["--search", "slo=p50<100s", "--rate", "500", "--test-time", "0.3", "--command", "PING"];
    let document = search(&server, &arguments).json();
    let step = &document["lab"]["search"]["steps"][0];
    assert_eq!(step["met"], false);
    let reason = step["reason"].as_str().expect("a reason");
    assert!(reason.contains("of 500 requests a second were answered"), "{reason}");
}

#[test]
fn the_user_may_end_it() {
    let server = Scripted::answering("+OK\r\n");
    let port = server.port();
    let arguments = ["--search", "slo=p50<1s", "--rate", "50", "--test-time", "3600", "--command", "PING"];
    let running = Running::start(&[&["-s", "127.0.0.1", "-p", &port, "-t", "1", "-c", "1"], &arguments[..]].concat());
    while server.requests().is_empty() {
        thread::sleep(Duration::from_millis(5));
    }
    running.interrupt();
    assert_eq!(running.finish().code, Some(130));
}

#[test]
fn what_cannot_be_searched_for_is_refused() {
    let cases: [(&[&str], &str); 5] = [
        (&["--search", "slo=p98<1ms"], "expected slo="),
        (&["--search", "p99<1ms"], "expected slo="),
        (&["--search", "slo=p99<1ms", "-n", "5"], "--search excludes --requests"),
        (&["--search", "slo=p99<1ms", "-x", "2"], "--search excludes --requests"),
        (&["--search", "slo=p99<1ms", "--control"], "with --control each slice sets its amount and its pace"),
    ];
    for (arguments, expected) in cases {
        let finished = run(arguments);
        assert_eq!(finished.code, Some(2), "{arguments:?}");
        assert!(finished.stderr.contains(expected), "{}", finished.stderr);
    }
}
