//! Slices on demand.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::multiset;
use crate::support::program::Session;
use crate::support::scripted::{Request, Scripted, cluster};

fn start(server: &Scripted, arguments: &[&str]) -> Session {
    let port = server.port();
    let (session, event) = Session::start(&[&["-s", "127.0.0.1", "-p", &port], arguments].concat());
    assert_eq!(event["event"], "ready", "{event}");
    session
}

#[test]
fn slices_have_their_exact_size_and_every_reply_is_in() {
    let server = Scripted::answering("+OK\r\n");
    let port = server.port();
    let arguments = ["-s", "127.0.0.1", "-p", &port, "-t", "3", "-c", "2", "--pipeline", "4", "--command", "PING"];
    let (mut session, ready) = Session::start(&arguments);
    assert_eq!(ready, json!({"event": "ready", "connections": 6}));
    let mut total = 0;
    for requests in [1000, 1, 7, 6, 100] {
        let event = session.slice(requests);
        total += usize::try_from(requests).expect("small");
        assert_eq!((&event["requests"], &event["succeeded"]), (&requests.into(), &requests.into()));
        assert_eq!(server.requests().len(), total);
    }
    let shares: Vec<usize> = server.connections().iter().map(Vec::len).collect();
    // 166 or 167 each, then up to 1, up to 2, 1, and 16 or 17.
    assert!(shares.iter().all(|share| (184..=188).contains(share)), "{shares:?}");
    session.send(r#"{"do":"stop"}"#);
    assert_eq!(session.event(), None);
    assert_eq!(session.finish(), Some(0));
}

#[test]
fn the_end_of_input_ends_it() {
    let server = Scripted::answering("+OK\r\n");
    assert_eq!(start(&server, &["-t", "1", "-c", "1"]).finish(), Some(0));
}

#[test]
fn sequences_and_random_streams_go_on() {
    let requests = |slices: &[u64]| -> Vec<Request> {
        let server = Scripted::answering("$-1\r\n");
        let commands = ["--command", "SET __key__ __data__", "--command-key-pattern", "S", "--command", "GET __key__"];
        let mut session = start(&server, &[&["-t", "1", "-c", "1", "-R", "--pipeline", "3"][..], &commands].concat());
        for &slice in slices {
            session.slice(slice);
        }
        server.requests()
    };
    assert_eq!(requests(&[3, 4, 1, 20]), requests(&[28]));
}

#[test]
fn parallel_slices_cover_the_range_like_one_run() {
    let server = Scripted::answering("+OK\r\n");
    let keys = ["--key-prefix", "", "--key-minimum", "1", "--key-maximum", "20"];
    let command = ["--command", "SET __key__ __data__", "--command-key-pattern", "P"];
    let mut session = start(&server, &[&["-t", "2", "-c", "2"][..], &keys, &command].concat());
    for _ in 0..5 {
        session.slice(4);
    }
    assert_eq!(multiset(server.keys("")), (1..=20).map(|key| (key, 1)).collect());
}

/// CPU time of all threads of a process so far, ns.
fn cpu_ns(process: u32) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).expect("a process");
    let on_cpu = |task: std::io::Result<std::fs::DirEntry>| {
        let text = std::fs::read_to_string(task.expect("a task").path().join("schedstat")).expect("a file");
        text.split(' ').next().and_then(|time| time.parse::<u64>().ok()).expect("a number")
    };
    tasks.map(on_cpu).sum()
}

#[test]
fn threads_sleep_between_slices() {
    let server = Scripted::answering("+OK\r\n");
    let mut session = start(&server, &["-t", "4", "-c", "10", "--pipeline", "8"]);
    session.slice(1000);
    // The end of the slice may still be worked off; who polls never uses no time at all.
    let sleeps = || {
        let before_ns = cpu_ns(session.child.id());
        thread::sleep(Duration::from_millis(300));
        cpu_ns(session.child.id()) == before_ns
    };
    assert!((0..20).any(|_| sleeps()));
    assert_eq!(session.slice(1000)["requests"], 1000);
}

#[test]
fn a_paced_slice_sends_whole_pipelines_no_faster_than_its_rate() {
    let server = Scripted::answering("+OK\r\n");
    let mut session = start(&server, &["-t", "1", "-c", "3", "--pipeline", "4", "--command", "PING"]);
    let asked = Instant::now();
    session.send(r#"{"do":"slice","requests":120,"per_second":400}"#);
    let event = session.event().expect("an event");
    assert_eq!((&event["requests"], &event["succeeded"]), (&120.into(), &120.into()));
    // The last of 30 pipelines is due after 29 of 30 parts of 0.3 s.
    assert!(asked.elapsed() >= Duration::from_millis(290), "{event}");
    assert_eq!(server.connections().iter().map(Vec::len).collect::<Vec<_>>(), [40, 40, 40]);
}

#[test]
fn latencies_of_a_paced_slice_are_response_times_and_service_times_stand_beside() {
    let server = Scripted::replying(|_, number| {
        if number == 5 {
            thread::sleep(Duration::from_millis(500));
        }
        "+OK\r\n".to_owned()
    });
    let mut session = start(&server, &["-t", "1", "-c", "1", "--command", "PING"]);
    session.send(r#"{"do":"slice","requests":20,"per_second":100}"#);
    let event = session.event().expect("an event");
    let schedule = &event["schedule"];
    assert_eq!((&schedule["per_second"], &schedule["response_us"]), (&json!(100), &event["latency_us"]));
    let time = |name: &str, figure: &str| schedule[name][figure].as_f64().expect("a time");
    // The sixth was sent at its time, 50 ms after the beginning, or later; all that follow wait until its reply.
    assert!(time("response_us", "p50") >= 350_000.0, "{schedule}");
    assert!(time("slip_us", "max") >= 350_000.0 && time("service_us", "max") >= 500_000.0, "{schedule}");
    let apart = time("response_us", "mean") - time("service_us", "mean") - time("slip_us", "mean");
    assert!(apart.abs() < 1.0, "{schedule}");
    assert_eq!(session.slice(5).get("schedule"), None);
}

#[test]
fn lines_that_are_no_order_end_with_2() {
    for line in [
        "",
        "slice",
        "{}",
        r#"["stop"]"#,
        r#"{"do":"dance"}"#,
        r#"{"do":"slice"}"#,
        r#"{"do":"slice","requests":-1}"#,
        r#"{"do":"slice","requests":1,"more":1}"#,
        r#"{"do":"slice","requests":1,"per_second":0}"#,
    ] {
        let server = Scripted::answering("+OK\r\n");
        let mut session = start(&server, &["-t", "1", "-c", "1"]);
        session.slice(1);
        session.send(line);
        let event = session.event().expect("an event");
        assert_eq!(event["event"], "error", "{event}");
        assert!(event["message"].as_str().is_some_and(|message| message.starts_with("line 2: ")), "{event}");
        assert_eq!(session.event(), None);
        assert_eq!(session.finish(), Some(2));
    }
}

#[test]
fn trouble_with_a_connection_ends_with_4() {
    let refused = Session::start(&["-S", "/nonexistent/socket"]);
    assert_eq!(refused.1["event"], "error");
    assert_eq!(refused.0.finish(), Some(4));

    let server = Scripted::start(|peer| {
        for _ in 0..10 {
            peer.request();
            peer.send(b"+OK\r\n");
        }
        peer.stay_silent();
    });
    let mut session = start(&server, &["-t", "2", "-c", "1", "--reply-timeout", "2"]);
    session.slice(20);
    session.send(r#"{"do":"slice","requests":2}"#);
    let event = session.event().expect("an event");
    assert_eq!(event["event"], "error");
    assert!(event["message"].as_str().is_some_and(|message| message.contains("unanswered for 2 s")), "{event}");
    assert_eq!(session.finish(), Some(4));
}

#[test]
fn a_connection_closed_between_slices_is_noticed() {
    let server = Scripted::start(|peer| {
        peer.request();
        peer.send(b"+OK\r\n");
    });
    let mut session = start(&server, &["-t", "1", "-c", "1", "--command", "PING"]);
    session.slice(1);
    thread::sleep(Duration::from_millis(50));
    session.send(r#"{"do":"slice","requests":1}"#);
    assert_eq!(session.event().expect("an event")["event"], "error");
    assert_eq!(session.finish(), Some(4));
}

#[test]
fn a_connection_that_a_slice_used_up_is_made_anew_for_the_next() {
    let server = Scripted::answering("+OK\r\n");
    let mut session = start(&server, &["-t", "1", "-c", "1", "--reconnect-interval", "10", "--command", "PING"]);
    for _ in 0..3 {
        assert_eq!(session.slice(10)["requests"], 10);
    }
    assert_eq!(server.connections().iter().map(Vec::len).collect::<Vec<_>>(), [10, 10, 10]);
}

#[test]
fn paced_slices_of_a_cluster_have_their_exact_size() {
    let nodes = cluster::start(cluster::even(3), |_, _, _| "+OK\r\n".to_owned());
    let shape = ["-t", "1", "-c", "2", "--pipeline", "4", "--cluster-mode", "--command", "GET __key__"];
    let mut session = start(&nodes[0], &shape);
    let mut total = 0;
    for requests in [3, 7, 40] {
        session.send(&format!("{{\"do\":\"slice\",\"requests\":{requests},\"per_second\":2000}}"));
        let event = session.event().expect("an event");
        assert_eq!(event["requests"], requests, "{event}");
        total += requests;
        let arrived: usize = nodes.iter().map(|node| cluster::commands(node).len()).sum();
        assert_eq!(arrived, total);
    }
}
