//! Requests that have times of their own.

use std::time::Duration;

use crate::support::load;
use crate::support::scripted::Scripted;
use crate::{count, number};

/// Gaps between requests as the server got them, in milliseconds, sorted.
fn gaps(server: &Scripted) -> Vec<f64> {
    let times = server.arrivals();
    let mut gaps: Vec<f64> =
        times.windows(2).map(|pair| (pair[1].saturating_sub(pair[0])).as_secs_f64() * 1e3).collect();
    gaps.sort_by(f64::total_cmp);
    gaps
}

#[test]
fn a_rate_is_kept_evenly_over_all_connections_and_threads() {
    let server = Scripted::answering("+OK\r\n");
    let document = load(&server, &["-t", "2", "-c", "3", "--test-time", "1", "--rate", "200", "--command", "PING"]);
    let lab = &document["lab"];
    let requests = server.requests().len();
    assert_eq!(count(&lab["requests"]), requests);
    assert!((170..=202).contains(&requests), "{requests}");
    let schedule = &lab["schedule"];
    assert_eq!((&schedule["per_second"], &schedule["arrivals"]), (&200.into(), &"fixed".into()));
    let gaps = gaps(&server);
    let median = gaps[gaps.len() / 2];
    assert!((2.0..8.0).contains(&median), "5 ms are due: {median}");
    let times = server.arrivals();
    let first_half = times.iter().filter(|time| **time < Duration::from_millis(500)).count();
    assert!((80..=120).contains(&first_half), "{first_half}");
    let shares: Vec<usize> = server.connections().iter().map(Vec::len).collect();
    assert!(shares.iter().all(|share| (20..=48).contains(share)), "connections take turns: {shares:?}");
}

#[test]
fn a_rate_spreads_a_number_of_requests() {
    let server = Scripted::answering("+OK\r\n");
    let document = load(&server, &["-t", "1", "-c", "2", "-n", "50", "--rate", "250", "--command", "PING"]);
    assert_eq!(server.connections().iter().map(Vec::len).collect::<Vec<_>>(), [50, 50]);
    // The last of 100 is due after 396 ms.
    let seconds = number(&document["lab"]["elapsed_ns"]) / 1e9;
    assert!((0.39..3.0).contains(&seconds), "{seconds}");
    assert_eq!(document["lab"]["schedule"]["unsent"], 0);
}

#[test]
fn fixed_arrivals_come_evenly_and_poisson_arrivals_independently() {
    // The part of the gaps that are more than twice as long as the mean.
    let long = |arrivals: &str| {
        let server = Scripted::answering("+OK\r\n");
        let shape = ["-t", "1", "-c", "20", "--test-time", "2", "--rate", "300", "--command", "PING"];
        let document = load(&server, &[&shape[..], &["--arrivals", arrivals]].concat());
        assert_eq!(document["lab"]["schedule"]["arrivals"], arrivals);
        let requests = server.requests().len();
        // 600 are expected; 5 standard deviations of a Poisson process are 123.
        assert!((470..=725).contains(&requests), "{requests}");
        gaps(&server).iter().filter(|gap| **gap > 2.0 * 1e3 / 300.0).count() as f64 / requests as f64
    };
    assert!(long("fixed") < 0.06);
    // e^-2 = 0.135 are expected; 5 standard errors are 0.07.
    let poisson = long("poisson");
    assert!((0.065..0.21).contains(&poisson), "{poisson}");
}

#[test]
fn poisson_arrivals_come_from_the_seed() {
    let received = |seed: &str| {
        let server = Scripted::answering("+OK\r\n");
        let shape = ["-t", "1", "-c", "20", "-n", "10", "--rate", "400", "--arrivals", "poisson", "--command", "PING"];
        load(&server, &[&shape[..], &["--seed", seed]].concat());
        server.arrivals()
    };
    let apart = |one: &[Duration], other: &[Duration]| {
        let mut apart: Vec<Duration> = one.iter().zip(other).map(|(one, other)| one.abs_diff(*other)).collect();
        apart.sort();
        apart[apart.len() / 2]
    };
    let first = received("1");
    assert_eq!(first.len(), 200);
    // Times of other seeds drift apart, by some 30 ms.
    let (same, others) = (apart(&first, &received("1")), apart(&first, &received("2")));
    assert!(same * 2 < others, "{same:?} {others:?}");
}

#[test]
fn rate_limiting_is_of_each_connection() {
    let server = Scripted::answering("+OK\r\n");
    let shape = ["-t", "2", "-c", "2", "--test-time", "1", "--rate-limiting", "50", "--command", "PING"];
    let document = load(&server, &shape);
    let shares: Vec<usize> = server.connections().iter().map(Vec::len).collect();
    assert!(shares.iter().all(|share| (40..=52).contains(share)), "{shares:?}");
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
