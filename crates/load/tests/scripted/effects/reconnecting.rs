//! Connections that break, and come back or do not.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::load;
use crate::support::program::{Running, run};
use crate::support::scripted::{Peer, Port, Scripted};

/// A server whose every connection answers six requests and then lets some more come and does something else, except
/// that connections from the third on do well.
fn troubled(more: usize, trouble: fn(&mut Peer)) -> Scripted {
    Scripted::start(move |peer| {
        if peer.connection() >= 2 {
            return peer.serve(|_, _| "+OK\r\n".to_owned());
        }
        for _ in 0..6 {
            peer.request();
            peer.send(b"+OK\r\n");
        }
        for _ in 0..more {
            peer.request();
        }
        trouble(peer);
    })
}

/// 100 requests over two connections, four of them in flight on each.
const SHAPE: [&str; 10] = ["-t", "1", "-c", "2", "-n", "50", "--pipeline", "4", "--command", "PING"];

fn expect_lost(document: &Value, server: &Scripted, name: &str, connections: &Value) {
    let lab = &document["lab"];
    assert_eq!(&lab["connections"], connections);
    assert_eq!((&lab["requests"], &lab["succeeded"], &lab[name]), (&92.into(), &92.into(), &8.into()), "{lab}");
    assert_eq!(lab["commands"][0][name], 8);
    assert_eq!(server.requests().len(), 100, "what is lost is not sent again");
    assert_eq!(server.connections().len(), 4);
    assert_eq!(document["ALL STATS"]["Totals"]["Count"], 92);
}

#[test]
fn requests_in_flight_are_lost_with_a_connection_and_the_run_goes_on() {
    for trouble in [(|_| ()) as fn(&mut Peer), Peer::reset] {
        let server = troubled(4, trouble);
        let document = load(&server, &[&SHAPE[..], &["--reconnect-on-error"]].concat());
        let connections = json!({"disconnects": 2, "timeouts": 0, "reconnects": 2});
        expect_lost(&document, &server, "disconnected", &connections);
        assert_eq!(document["ALL STATS"]["Totals"]["Connection Errors"], 2);
        assert_eq!(document["lab"]["timed_out"], 0);
    }
}

#[test]
fn a_silent_connection_is_given_up_and_its_requests_are_timed_out() {
    let server = troubled(4, Peer::stay_silent);
    let started = Instant::now();
    let document = load(&server, &[&SHAPE[..], &["--reconnect-on-error", "--reply-timeout", "2"]].concat());
    expect_lost(&document, &server, "timed_out", &json!({"disconnects": 0, "timeouts": 2, "reconnects": 2}));
    assert_eq!(document["lab"]["disconnected"], 0);
    assert!(started.elapsed() >= Duration::from_secs(2));
    expect_waited_for(&document, 92, 8, 2e6);
}

/// That lost requests stand among the latencies with at least the time that they were waited for, and nowhere else.
fn expect_waited_for(document: &Value, replies: u64, lost: u64, waited_us: f64) {
    let lab = &document["lab"];
    let buckets = lab["histogram_ns"].as_array().expect("buckets").iter();
    let buckets: Vec<(f64, u64)> =
        buckets.filter_map(|bucket| Some((bucket[0].as_f64()? / 1e3, bucket[1].as_u64()?))).collect();
    assert_eq!(buckets.iter().map(|(_, count)| count).sum::<u64>(), replies + lost);
    // A bucket is at most 0.4 % wide.
    let late: u64 = buckets.iter().filter(|(edge_us, _)| *edge_us >= waited_us * 0.996).map(|(_, count)| count).sum();
    assert!(late >= lost, "{buckets:?}");
    for name in ["p99", "max"] {
        assert!(lab["latency_us"][name].as_f64() >= Some(waited_us), "{}", lab["latency_us"]);
    }
    let slots = lab["timeline"]["slots"].as_array().expect("slots").iter();
    assert_eq!(slots.filter_map(|slot| slot["replies"].as_u64()).sum::<u64>(), replies);
    let seconds = document["ALL STATS"]["Totals"]["Time-Serie"].as_object().expect("seconds").values();
    assert_eq!(seconds.filter_map(|second| second["Count"].as_u64()).sum::<u64>(), replies);
}

#[test]
fn with_a_rate_lost_requests_are_charged_from_when_they_were_due() {
    let server = troubled(4, Peer::stay_silent);
    let rate = ["--rate", "1000", "--reconnect-on-error", "--reply-timeout", "2"];
    let document = load(&server, &[&SHAPE[..], &rate].concat());
    expect_waited_for(&document, 92, 8, 2e6);
    let schedule = &document["lab"]["schedule"];
    assert_eq!(schedule["response_us"], document["lab"]["latency_us"]);
    assert!(schedule["service_us"]["max"].as_f64() >= Some(2e6), "{schedule}");
}

/// A server that breaks its first connection after six replies, and then loads its data for a while: each later
/// connection is informed of it three times, by the reply to the request of this name.
fn loading(name: &'static str) -> Scripted {
    Scripted::start(move |peer| {
        let is_first = peer.connection() == 0;
        let (mut number, mut refusals) = (0, 0);
        while let Some(request) = peer.request() {
            if is_first && number == 6 {
                return;
            }
            // One connection after another is refused what prepares it; requests are refused on one.
            let is_refused = request[0] == name
                && match name {
                    "AUTH" => (1..4).contains(&peer.connection()),
                    _ => !is_first && refusals < 3,
                };
            refusals += usize::from(is_refused);
            number += usize::from(request[0] == "PING");
            let reply: &[u8] =
                if is_refused { b"-LOADING Redis is loading the dataset in memory\r\n" } else { b"+OK\r\n" };
            peer.send(reply);
        }
    })
}

const ONE: [&str; 8] = ["-t", "1", "-c", "1", "-n", "30", "--command", "PING"];

#[test]
fn a_server_that_loads_its_data_is_waited_for_before_a_connection_is_prepared() {
    let server = loading("AUTH");
    let patience = ["--reconnect-on-error", "--max-reconnect-attempts", "1", "-a", "secret"];
    let document = load(&server, &[&ONE[..], &patience].concat());
    let lab = &document["lab"];
    assert_eq!((&lab["requests"], &lab["disconnected"], &lab["errors"]), (&29.into(), &1.into(), &json!({})));
    let accepted: Vec<Instant> = server.records().iter().map(|record| record.accepted).collect();
    assert_eq!(accepted.len(), 5);
    assert!(accepted[4] - accepted[1] >= Duration::from_millis(300), "it is not asked all the time");
    let once = Scripted::answering("-LOADING Redis is loading the dataset in memory\r\n");
    let port = once.port();
    let finished = run(&[&["-s", "127.0.0.1", "-p", &port, "-a", "secret"], &ONE[..]].concat());
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
}

#[test]
fn a_server_that_loads_its_data_is_asked_rarely_until_it_has() {
    for more in [&[][..], &["--rate", "2000"]] {
        let server = loading("PING");
        let document = load(&server, &[&ONE[..], &["--reconnect-on-error"], more].concat());
        let lab = &document["lab"];
        assert_eq!((&lab["requests"], &lab["disconnected"]), (&29.into(), &1.into()));
        assert_eq!(lab["errors"], json!({"LOADING": 3}));
        let records = server.records();
        let requests = &records[1].requests;
        assert!(requests[3].at - requests[0].at >= Duration::from_millis(300), "100 ms between two of them");
    }
}

#[test]
fn a_reply_that_was_cut_off_is_no_reply_and_spoils_none_after_it() {
    let server = troubled(4, |peer| _ = peer.send(b"$10\r\nabc"));
    let document = load(&server, &[&SHAPE[..], &["--reconnect-on-error"]].concat());
    expect_lost(&document, &server, "disconnected", &json!({"disconnects": 2, "timeouts": 0, "reconnects": 2}));
    assert_eq!(document["lab"]["replies"]["status"], 92);
    assert_eq!(document["lab"]["replies"]["bulk"], 0);
}

#[test]
fn a_server_that_breaks_every_connection_is_met_again_and_again() {
    let server = Scripted::start(|peer| {
        for _ in 0..3 {
            if peer.request().is_none() || !peer.send(b"+OK\r\n") {
                return;
            }
        }
        peer.request();
        peer.reset();
    });
    let document = load(&server, &["-t", "2", "-c", "2", "-n", "20", "--reconnect-on-error", "--command", "PING"]);
    let lab = &document["lab"];
    // Each connection: three replies, one request lost; five times.
    assert_eq!((&lab["requests"], &lab["disconnected"]), (&60.into(), &20.into()));
    assert_eq!(server.connections().iter().map(Vec::len).collect::<Vec<_>>(), [4; 20]);
    assert_eq!(lab["connections"], json!({"disconnects": 20, "timeouts": 0, "reconnects": 16}));
}

#[test]
fn attempts_are_limited_where_asked_to() {
    let server = Scripted::start(|peer| {
        if peer.connection() == 0 {
            peer.request();
            peer.send(b"+OK\r\n");
            peer.request();
        }
    });
    let port = server.port();
    let shape = ["-s", "127.0.0.1", "-p", &port, "-t", "1", "-c", "1", "-n", "5", "--command", "PING", "-a", "x"];
    let tries = ["--reconnect-on-error", "--max-reconnect-attempts", "3", "--json-out-file", "-"];
    let finished = run(&[&shape[..], &tries].concat());
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
    assert_eq!(server.connections().len(), 4, "the first and three more");
    let document = finished.json();
    assert_eq!(document.get("ALL STATS"), None, "no result of a run that failed");
    assert!(document["lab"]["failure"].is_string());
}

#[test]
fn pauses_between_attempts_grow_by_the_factor() {
    let server = Scripted::start(|peer| match peer.connection() {
        0 => {
            peer.request();
            peer.send(b"+OK\r\n");
            peer.request();
        }
        1 => {}
        _ => peer.serve(|_, _| "+OK\r\n".to_owned()),
    });
    let backoff = ["--reconnect-on-error", "--reconnect-backoff-factor", "1.5", "-a", "x"];
    load(&server, &[&["-t", "1", "-c", "1", "-n", "5", "--command", "PING"][..], &backoff].concat());
    let times: Vec<Instant> = server.records().iter().map(|record| record.accepted).collect();
    let pauses: Vec<Duration> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(pauses[0] >= Duration::from_millis(999) && pauses[1] >= Duration::from_millis(1_499), "{pauses:?}");
}

#[test]
fn a_server_that_is_gone_for_a_while_is_waited_for() {
    let kept = Port::new();
    let (port, listener) = (kept.number(), kept.listen());
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        std::io::Read::read(&mut stream, &mut [0; 14]).expect("a request");
        drop((stream, listener));
        thread::sleep(Duration::from_millis(300));
        Scripted::serve(kept.listen(), |peer| peer.serve(|_, _| "+OK\r\n".to_owned()))
    });
    let shape = ["-s", "127.0.0.1", "-p", &port, "-t", "1", "-c", "1", "-n", "5", "--command", "PING"];
    let finished = run(&[&shape[..], &["--reconnect-on-error", "--json-out-file", "-"]].concat());
    let lab = finished.document();
    assert_eq!((&lab["requests"], &lab["disconnected"]), (&4.into(), &1.into()));
    assert_eq!(lab["connections"], json!({"disconnects": 1, "timeouts": 0, "reconnects": 1}));
    assert_eq!(server.join().expect("a server").requests().len(), 4);
}

/// A server that answers one request and then is gone for good: the port it had, and what ends when it goes.
fn vanishing() -> (Port, thread::JoinHandle<()>) {
    let port = Port::new();
    let listener = port.listen();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        std::io::Read::read(&mut stream, &mut [0; 14]).expect("a request");
        std::io::Write::write_all(&mut stream, b"+OK\r\n").expect("it reads");
    });
    (port, server)
}

#[test]
fn a_server_that_stays_away_does_not_hold_up_the_end_of_a_run_by_time() {
    let (kept, _) = vanishing();
    let port = kept.number();
    let shape = ["-s", "127.0.0.1", "-p", &port, "-t", "1", "-c", "1", "--test-time", "0.6", "--command", "PING"];
    let started = Instant::now();
    let finished = run(&[&shape[..], &["--reconnect-on-error", "--json-out-file", "-"]].concat());
    let lab = finished.document();
    assert!(started.elapsed() >= Duration::from_millis(600));
    assert_eq!((&lab["requests"], &lab["connections"]["disconnects"]), (&1.into(), &1.into()));
}

#[test]
fn a_run_that_waits_for_a_server_can_be_interrupted() {
    let (kept, server) = vanishing();
    let port = kept.number();
    let shape = ["-s", "127.0.0.1", "-p", &port, "-t", "1", "-c", "1", "-n", "10", "--command", "PING"];
    let running = Running::start(&[&shape[..], &["--reconnect-on-error", "--json-out-file", "-"]].concat());
    server.join().expect("it answers once");
    thread::sleep(Duration::from_millis(200));
    running.interrupt();
    let finished = running.finish();
    assert_eq!(finished.code, Some(130), "{}", finished.stderr);
    assert_eq!(finished.json()["lab"]["requests"], 1);
}

#[test]
fn whole_pipelines_go_on_after_a_reset_in_lockstep() {
    let server = troubled(2, Peer::reset);
    let document = load(&server, &[&SHAPE[..], &["--reconnect-on-error", "--lockstep"]].concat());
    let lab = &document["lab"];
    // Four replies, then two to the next four requests.
    assert_eq!((&lab["requests"], &lab["disconnected"]), (&96.into(), &4.into()), "{lab}");
    assert_eq!(lab["connections"], json!({"disconnects": 2, "timeouts": 0, "reconnects": 2}));
    assert_eq!(server.requests().len(), 100);
}
