//! What is counted, and when the next request is sent.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::load;
use crate::support::scripted::{Peer, Scripted};

const REPLIES: [&str; 16] = [
    "+OK\r\n",
    ":5\r\n",
    "$3\r\na\r\n\r\n",
    "$0\r\n\r\n",
    "$-1\r\n",
    "*-1\r\n",
    "_\r\n",
    "*2\r\n$1\r\na\r\n*1\r\n-ERR inside\r\n",
    "*0\r\n",
    "%0\r\n",
    "%1\r\n+a\r\n:1\r\n",
    "-WRONGTYPE Operation against a key\r\n",
    "-OOM command not allowed\r\n",
    "-WRONGTYPE again\r\n",
    "|1\r\n+ttl\r\n:1\r\n,1.5\r\n",
    ">1\r\n+invalidate\r\n#t\r\n",
];

fn expect_replies_counted(send: fn(&mut Peer, &[u8]) -> bool) {
    let server = Scripted::start(move |peer| {
        let mut number = 0;
        while peer.request().is_some() && send(peer, REPLIES[number % REPLIES.len()].as_bytes()) {
            number += 1;
        }
    });
    let document =
        load(&server, &["-t", "1", "-c", "1", "-n", "32", "--pipeline", "7", "--command", "EVAL x 0"])["lab"].clone();
    let expected = json!({
        "status": 2, "integer": 2, "bulk": 4, "nil": 6, "array": 4, "map": 4, "double": 2, "boolean": 2, "error": 6,
    });
    assert_eq!(document["replies"], expected);
    assert_eq!(document["errors"], json!({"WRONGTYPE": 4, "OOM": 2, "ERR": 2}));
    assert_eq!(document["error_elements"], 2, "an error within an array");
    let bytes: usize = REPLIES.iter().map(|reply| reply.len() * 2).sum();
    assert_eq!(document["bytes_received"], bytes);
    assert_eq!(document["bytes_sent"], 32 * "*3\r\n$4\r\nEVAL\r\n$1\r\nx\r\n$1\r\n0\r\n".len());
    assert_eq!(document["pushes"], 2);
    for record in [&document, &document["commands"][0]] {
        let counts =
            ["requests", "succeeded", "empty_arrays", "zeros", "hits", "nils"].map(|name| record[name].clone());
        assert_eq!(counts, [32, 26, 4, 0, 16, 6].map(Value::from));
    }
    let rate = document["ops_per_sec"].as_f64().expect("a number");
    let elapsed_ns = document["elapsed_ns"].as_f64().expect("a number");
    assert!((rate * elapsed_ns / 1e9 - 26.0).abs() < 1e-6, "errors are not counted in the rate");
}

#[test]
fn replies_are_counted_by_kind_and_errors_by_code() {
    expect_replies_counted(Peer::send);
}

#[test]
fn replies_cut_anywhere_are_counted_alike() {
    expect_replies_counted(Peer::send_apart);
}

#[test]
fn each_command_has_its_own_counts() {
    let server = Scripted::start(|peer| {
        while let Some(request) = peer.request() {
            peer.send(if request[0] == "get" { b"$-1\r\n".as_slice() } else { b"-ERR no\r\n" });
        }
    });
    let commands = ["--command", "get __key__", "--command-ratio", "3", "--command", "SET __key__ __data__"];
    let server_commands = [&["-t", "2", "-c", "2", "-n", "8", "--pipeline", "3"][..], &commands].concat();
    let document = load(&server, &server_commands)["lab"].clone();
    let [get, set] = [&document["commands"][0], &document["commands"][1]];
    assert_eq!((&get["command"], &get["line"]), (&json!("GET"), &json!("get __key__")));

    assert_eq!((&get["requests"], &get["nils"], &get["errors"]), (&json!(24), &json!(24), &json!({})));
    assert_eq!((&set["requests"], &set["succeeded"]), (&json!(8), &json!(0)));
    assert_eq!(document["requests"], 32);
}

#[test]
fn latencies_are_those_of_the_server() {
    let server = Scripted::start(|peer| {
        while peer.request().is_some() {
            std::thread::sleep(Duration::from_millis(20));
            peer.send(b"+OK\r\n");
        }
    });
    let document = load(&server, &["-t", "1", "-c", "2", "-n", "10", "--command", "PING"])["lab"].clone();
    let latency = &document["latency_us"];
    for name in ["mean", "p50", "p90", "p99", "p99_9", "max"] {
        let value_us = latency[name].as_f64().expect("a number");
        assert!(value_us >= 20_000.0, "{latency}");
    }
    let buckets = document["histogram_ns"].as_array().expect("buckets");
    assert_eq!(buckets.iter().filter_map(|bucket| bucket[1].as_u64()).sum::<u64>(), 20);
    assert!(buckets.iter().all(|bucket| bucket[0].as_u64() >= Some(19_900_000)));
}

/// Runs ten requests in pipelines of four against a server that waits for exactly so many requests in turn: before it
/// answers all but the last of them, and before it answers that last one. No more may come; fewer end in a timeout.
fn expect_arrivals(expected: &'static [usize], arguments: &[&str]) {
    const QUIET: Duration = Duration::from_millis(60);
    let surplus = Arc::new(Mutex::new(0));
    let shared = Arc::clone(&surplus);
    let server = Scripted::start(move |peer| {
        let mut waiting = 0;
        for (turn, &count) in expected.iter().enumerate() {
            if !(0..count).all(|_| peer.request().is_some()) {
                return;
            }
            let more = std::iter::from_fn(|| peer.request_within(QUIET)).count();
            *shared.lock().expect("a count") += more;
            waiting += count + more;
            let answered = if turn % 2 == 0 { waiting.max(1) - 1 } else { waiting };
            peer.send("+OK\r\n".repeat(answered).as_bytes());
            waiting -= answered;
        }
        peer.stay_silent();
    });
    load(&server, &[&["-t", "1", "-c", "1", "-n", "10", "--pipeline", "4", "--command", "PING"], arguments].concat());
    assert_eq!(*surplus.lock().expect("a count"), 0);
}

#[test]
fn lockstep_sends_whole_batches_after_the_last_reply() {
    expect_arrivals(&[4, 0, 4, 0, 2, 0], &["--lockstep"]);
}

#[test]
fn without_lockstep_replies_make_room_at_once() {
    expect_arrivals(&[4, 3, 3, 0], &[]);
}

#[test]
fn a_run_by_time_ends_after_it_with_every_reply() {
    let server = Scripted::answering("+OK\r\n");
    let document = load(&server, &["-t", "2", "-c", "2", "--test-time", "0.4", "--pipeline", "3", "--command", "PING"])
        ["lab"]
        .clone();
    let elapsed_ns = document["elapsed_ns"].as_u64().expect("a number");
    assert!(elapsed_ns >= 400_000_000, "{elapsed_ns}");
    assert_eq!(document["requests"], server.requests().len());
    assert_eq!(document["requests"], document["succeeded"]);
}

#[test]
fn large_requests_and_replies_go_through_a_full_socket() {
    // More than the socket's buffers of both sides hold.
    const BODY: usize = 16 << 20;
    let server = Scripted::start(|peer| {
        let reply = format!("${BODY}\r\n{}\r\n", "y".repeat(BODY));
        while peer.request().is_some() && peer.send(reply.as_bytes()) {}
    });
    let size = BODY.to_string();
    let load_shape = ["-t", "1", "-c", "1", "-n", "3", "--pipeline", "2", "--reply-timeout", "200", "-d", &size];
    let document = load(&server, &[&load_shape[..], &["--command", "SET __key__ __data__"]].concat())["lab"].clone();
    assert_eq!(document["replies"]["bulk"], 3);
    assert!(server.requests().iter().all(|request| request[2].len() == BODY));
}
