//! How much is sent.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;

use crate::support::scripted::Scripted;
use crate::support::{load, multiset};

const PING: [&str; 2] = ["--command", "PING"];

#[test]
fn requests_are_of_each_connection_of_each_thread() {
    let server = Scripted::answering("+OK\r\n");
    let document = load(&server, &[&["-t", "3", "-c", "2", "-n", "7"][..], &PING].concat());
    assert_eq!(server.connections().iter().map(Vec::len).collect::<Vec<_>>(), [7; 6]);
    assert_eq!(document["lab"]["requests"], 42);
    assert_eq!(document["ALL STATS"]["Totals"]["Count"], 42);
    let expected = json!({
        "Threads": 3, "Connections per thread": 2, "Format version": 2, "Requests per client": 7,
    });
    assert_eq!(document["run information"], expected);
    let configuration = &document["configuration"];
    let recorded = ["threads", "clients", "requests", "pipeline"].map(|name| configuration[name].clone());
    assert_eq!(recorded, [3, 2, 7, 1].map(serde_json::Value::from));
}

#[test]
fn without_amounts_there_are_4_threads_with_50_connections_of_10000_requests() {
    let server = Scripted::answering("+OK\r\n");
    load(&server, &["--command", "PING", "--pipeline", "50", "-c", "1"]);
    assert_eq!(server.connections().iter().map(Vec::len).collect::<Vec<_>>(), [10_000; 4]);
    let server = Scripted::answering("+OK\r\n");
    load(&server, &["--command", "PING", "-n", "1"]);
    assert_eq!(server.connections().iter().map(Vec::len).collect::<Vec<_>>(), [1; 200]);
}

#[test]
fn each_run_has_new_connections_and_sends_everything() {
    let server = Scripted::answering("+OK\r\n");
    let shape = ["-t", "1", "-c", "2", "-n", "5", "-x", "3"];
    let document = load(&server, &[&shape[..], &PING].concat());
    assert_eq!(server.connections().iter().map(Vec::len).collect::<Vec<_>>(), [5; 6]);
    assert_eq!(document["lab"]["requests"], 30);
    assert_eq!(document["configuration"]["run_count"], 3);
    let headings = |document: &serde_json::Value| {
        let headings = document.as_object().expect("an object").keys().cloned();
        headings.filter(|heading| heading.ends_with("RESULTS") || heading.ends_with("runs)")).collect::<Vec<String>>()
    };
    let expected = ["BEST RUN RESULTS", "WORST RUN RESULTS", "AGGREGATED AVERAGE RESULTS (3 runs)"];
    assert_eq!(headings(&document), expected);
    let count = |heading: &str| document[heading]["Totals"]["Count"].as_u64();
    assert_eq!(expected.map(count), [Some(10), Some(10), Some(30)]);
    let rate = |heading: &str| document[heading]["Totals"]["Ops/sec"].as_f64().expect("a number");
    assert!(rate(expected[0]) >= rate(expected[1]), "the best run is the fastest");

    let document = load(&server, &[&shape[..], &PING, &["--print-all-runs"]].concat());
    let all = ["RUN #1 RESULTS", "RUN #2 RESULTS", "RUN #3 RESULTS"];
    assert_eq!(headings(&document), [&all[..], &expected].concat());
    assert!(all.iter().all(|heading| document[heading]["Pings"]["Count"] == 10));
    assert_eq!(document["configuration"]["print-all-runs"], "true");
}

#[test]
fn a_run_by_time_names_its_seconds() {
    let server = Scripted::answering("+OK\r\n");
    let document = load(&server, &[&["-t", "1", "-c", "2", "--test-time", "0.3"][..], &PING].concat());
    assert_eq!(document["run information"]["Seconds"], 0.3);
    assert_eq!(document["configuration"]["test_time"], 0.3);
    let milliseconds = document["ALL STATS"]["Runtime"]["Total duration"].as_u64().expect("a number");
    assert!(milliseconds >= 300, "{milliseconds}");
}

#[test]
fn a_pipeline_is_the_most_requests_without_reply() {
    for pipeline in [1, 3, 64] {
        // Where fewer come, it waits until the run ends with a timeout.
        let surplus = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&surplus);
        let server = Scripted::start(move |peer| {
            while (0..pipeline).all(|_| peer.request().is_some()) {
                let more = std::iter::from_fn(|| peer.request_within(Duration::from_millis(40))).count();
                shared.lock().expect("the log").push(more);
                if !peer.send("+OK\r\n".repeat(pipeline + more).as_bytes()) {
                    break;
                }
            }
        });
        let (text, requests) = (pipeline.to_string(), (pipeline * 3).to_string());
        load(&server, &[&["-t", "1", "-c", "2", "-n", &requests, "--pipeline", &text][..], &PING].concat());
        assert_eq!(*surplus.lock().expect("the log"), [0; 6]);
    }
}

#[test]
fn ratios_say_how_often_each_command_has_its_turn() {
    let server = Scripted::answering("+OK\r\n");
    let first = ["--command", "INCR a", "--command-ratio", "2"];
    let second = ["--command", "GET b", "--command-ratio", "0"];
    let third = ["--command", "LPOP c", "--command-ratio", "3", "--command", "TTL d"];
    load(&server, &[&["-t", "1", "-c", "1", "-n", "14"][..], &first, &second, &third].concat());
    let letters: String = server.requests().iter().map(|request| request[1].as_str()).collect();
    assert_eq!(letters, "aacccdaacccdaa");
}

#[test]
fn ratio_is_of_sets_and_gets_each_connection_for_itself() {
    let server = Scripted::answering("$-1\r\n");
    let document = load(&server, &["-t", "2", "-c", "2", "-n", "8", "--ratio", "1:3"]);
    for requests in server.connections() {
        let names: Vec<&str> = requests.iter().map(|request| request[0].as_str()).collect();
        assert_eq!(names, ["SET", "GET", "GET", "GET"].repeat(2));
    }
    assert_eq!(document["configuration"]["ratio"], "1:3");
    let statistics = &document["ALL STATS"];
    assert_eq!((&statistics["Sets"]["Count"], &statistics["Gets"]["Count"]), (&json!(8), &json!(24)));

    let server = Scripted::answering("$-1\r\n");
    load(&server, &["-t", "1", "-c", "1", "-n", "5", "--ratio", "0:1"]);
    assert!(server.requests().iter().all(|request| request[0] == "GET"));
}

#[test]
fn all_keys_of_the_default_set_with_pattern_p_writes_each_key_once() {
    let server = Scripted::answering("+OK\r\n");
    let keys = ["--key-minimum", "1", "--key-maximum", "101", "--ratio", "1:0", "--key-pattern", "P:P"];
    load(&server, &[&["-t", "2", "-c", "3", "-n", "allkeys", "--pipeline", "7"][..], &keys].concat());
    assert_eq!(multiset(server.keys("memtier-")), (1..=101).map(|key| (key, 1)).collect());
}
