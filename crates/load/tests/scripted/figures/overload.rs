//! Requests that are due while the server does not keep up.

use std::thread;
use std::time::Duration;

use super::{count, number};
use crate::support::program::run;
use crate::support::scripted::Scripted;

#[test]
fn a_stall_is_charged_to_all_requests_that_were_due_meanwhile() {
    let server = Scripted::replying(|_, number| {
        if number == 20 {
            thread::sleep(Duration::from_millis(600));
        }
        "+OK\r\n".to_owned()
    });
    let port = server.port();
    let shape = ["-s", "127.0.0.1", "-p", &port, "-t", "1", "-c", "1", "-n", "150", "--rate", "100"];
    let finished = run(&[&shape[..], &["--command", "PING", "--json-out-file", "-"]].concat());
    let lab = finished.document();
    let schedule = &lab["schedule"];
    let [response, service, slip] = ["response_us", "service_us", "slip_us"].map(|name| &schedule[name]);
    assert!(number(&response["max"]) >= 600_000.0, "{response}");
    assert!(number(&service["max"]) >= 600_000.0, "one request was under way");
    // 60 of 150 requests were due meanwhile; only one of them was sent.
    assert!(number(&response["p90"]) >= 200_000.0, "{response}");
    assert!(number(&slip["max"]) >= 450_000.0, "{slip}");
    let [of_response, of_service, of_slip] = [response, service, slip].map(|times| number(&times["mean"]));
    assert!((of_response - of_service - of_slip).abs() < 1.0, "{schedule}");
    assert_eq!(lab["latency_us"], *response, "latencies are the responses");
    assert_eq!(count(&lab["requests"]), server.requests().len());
    assert_eq!(lab["requests"], 150, "what was late was still sent");
    assert_eq!((&schedule["unsent"], &schedule["is_kept"]), (&0.into(), &false.into()));
    for text in [&finished.stderr, &lab["warnings"].to_string()] {
        assert!(text.contains("slip is not negligible"), "{text}");
    }
    let histogram = |name: &str| -> usize {
        schedule[name].as_array().expect("buckets").iter().map(|bucket| count(&bucket[1])).sum()
    };
    let requests = count(&lab["requests"]);
    assert_eq!((histogram("service_histogram_ns"), histogram("slip_histogram_ns")), (requests, requests));
}

#[test]
fn requests_that_were_never_sent_are_counted() {
    let server = Scripted::replying(|_, _| {
        thread::sleep(Duration::from_millis(20));
        "+OK\r\n".to_owned()
    });
    let port = server.port();
    let shape = ["-s", "127.0.0.1", "-p", &port, "-t", "1", "-c", "2", "--test-time", "1", "--rate", "400"];
    let finished = run(&[&shape[..], &["--command", "PING", "--json-out-file", "-"]].concat());
    let lab = finished.document();
    let (sent, unsent) = (count(&lab["requests"]), count(&lab["schedule"]["unsent"]));
    assert_eq!(sent, server.requests().len());
    assert!(sent <= 104, "no more than two connections can have: {sent}");
    assert!((399..=401).contains(&(sent + unsent)), "{sent} + {unsent}");
    let sentence = format!("{unsent} requests that were due were never sent");
    for text in [&finished.stderr, &lab["warnings"].to_string()] {
        assert!(text.contains(&sentence), "{text}");
    }
    assert_eq!(lab["schedule"]["is_kept"], false);
    // The last ones that were sent had been due for most of the second.
    assert!(number(&lab["schedule"]["response_us"]["max"]) >= 500_000.0);
}

#[test]
fn a_pipeline_takes_what_is_due_while_replies_are_out() {
    // It answers nothing before all requests are there.
    let server = Scripted::start(|peer| {
        while (0..50).all(|_| peer.request().is_some()) {
            peer.send("+OK\r\n".repeat(50).as_bytes());
        }
    });
    let port = server.port();
    let shape = ["-s", "127.0.0.1", "-p", &port, "-t", "1", "-c", "1", "-n", "50", "--rate", "100"];
    let arguments = ["--pipeline", "100", "--command", "PING", "--json-out-file", "-"];
    let lab = run(&[&shape[..], &arguments].concat()).document();
    assert_eq!(lab["schedule"]["unsent"], 0);
    assert_eq!(lab["requests"], 50);
}

#[test]
fn a_rate_beyond_all_means_is_counted_not_gone_through() {
    let server = Scripted::answering("+OK\r\n");
    let port = server.port();
    let shape = ["-s", "127.0.0.1", "-p", &port, "-t", "1", "-c", "1", "--test-time", "0.5", "--rate", "1000000000"];
    let lab = run(&[&shape[..], &["--command", "PING", "--json-out-file", "-"]].concat()).document();
    let due = count(&lab["requests"]) + count(&lab["schedule"]["unsent"]);
    assert!((499_000_000..=500_000_001).contains(&due), "{due}");
    assert_eq!(count(&lab["requests"]), server.requests().len());
}
