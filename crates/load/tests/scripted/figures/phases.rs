//! What is done before anything is measured.

use std::thread;
use std::time::Duration;

use super::{count, number};
use crate::support::program::run;
use crate::support::scripted::{Request, Scripted};
use crate::support::{load, multiset};

const COMMANDS: [&str; 8] =
    ["--command", "SET __key__ __data__", "--command-ratio", "3", "--command", "LPUSH __key__ x", "--pipeline", "4"];

fn names(requests: &[Request]) -> Vec<&str> {
    requests.iter().map(|request| request[0].as_str()).collect()
}

#[test]
fn a_command_that_is_refused_ends_the_run_before_anything_is_measured() {
    let server = Scripted::replying(|request, _| match request[0].as_str() {
        "LPUSH" => "-WRONGTYPE Operation against a key\r\n".to_owned(),
        _ => "+OK\r\n".to_owned(),
    });
    let port = server.port();
    let arguments = ["-s", "127.0.0.1", "-p", &port, "-t", "2", "-c", "2", "--check", "--json-out-file", "-"];
    let finished = run(&[&arguments[..], &COMMANDS].concat());
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(4), ""));
    let message = "refused \"LPUSH __key__ x\": WRONGTYPE Operation against a key";
    assert!(finished.stderr.contains(message), "{}", finished.stderr);
    assert_eq!(names(&server.requests()), ["SET", "LPUSH"], "each command once, and nothing else");
}

#[test]
fn each_command_is_checked_once_on_one_connection_and_not_counted() {
    let server = Scripted::answering("$-1\r\n");
    let never = ["--command", "NEVER", "--command-ratio", "0"];
    let document = load(&server, &[&["-t", "2", "-c", "2", "-n", "4", "--check"][..], &COMMANDS, &never].concat());
    let counts = multiset(server.connections().iter().map(|requests| names(requests).join(" ")));
    assert_eq!(counts, [("SET LPUSH".to_owned(), 1), ("SET SET SET LPUSH".to_owned(), 4)].into());
    assert_eq!(document["lab"]["requests"], 16);
    assert!(document["lab"]["phases"]["check"].is_number());
}

#[test]
fn without_a_check_errors_are_counted_and_the_run_goes_on() {
    let server = Scripted::answering("-ERR no\r\n");
    let document = load(&server, &["-t", "1", "-c", "1", "-n", "5", "--command", "PING"]);
    assert_eq!(document["lab"]["errors"]["ERR"], 5);
}

#[test]
fn each_key_of_the_range_is_written_once_before() {
    let server = Scripted::answering("$-1\r\n");
    let keys = ["--key-prefix", "k:", "--key-minimum", "11", "--key-maximum", "60", "-d", "9"];
    let shape = ["-t", "2", "-c", "3", "-n", "5", "--prefill", "--command", "GET __key__"];
    let document = load(&server, &[&shape[..], &keys].concat());
    let requests = server.requests();
    let (sets, gets): (Vec<_>, Vec<_>) = requests.into_iter().partition(|request| request[0] == "SET");
    let written = multiset(sets.iter().map(|request| request[1].clone()));
    assert_eq!(written, (11..=60).map(|key| (format!("k:{key}"), 1)).collect());
    assert!(sets.iter().all(|request| request[2] == "xxxxxxxxx"));
    assert_eq!(gets.len(), 30);
    assert_eq!((&document["lab"]["requests"], &document["lab"]["nils"]), (&30.into(), &30.into()));
    let records = server.records();
    let arrived = |name: &'static str| {
        let all = records.iter().flat_map(|record| &record.requests);
        all.filter(move |arrived| arrived.request[0] == name).map(|arrived| arrived.at)
    };
    assert!(arrived("SET").max() < arrived("GET").min(), "all are written before the first is read");
}

#[test]
fn requests_of_the_warm_up_are_not_counted() {
    let server = Scripted::replying(|_, _| {
        thread::sleep(Duration::from_millis(5));
        "+OK\r\n".to_owned()
    });
    let document = load(&server, &["-t", "1", "-c", "2", "-n", "20", "--warm-up", "0.4", "--command", "PING"]);
    let lab = &document["lab"];
    assert_eq!((&lab["requests"], &lab["bytes_received"]), (&40.into(), &200.into()));
    assert_eq!(document["ALL STATS"]["Pings"]["Count"], 40);
    let all = server.requests().len();
    assert!(all > 40, "{all}");
    assert!(number(&lab["phases"]["warm_up"]) >= 0.4, "{}", lab["phases"]);
    assert!(number(&lab["elapsed_ns"]) / 1e9 <= number(&lab["phases"]["measure"]), "{lab}");
    let slots = lab["timeline"]["slots"].as_array().expect("slots");
    assert_eq!(slots.iter().map(|slot| count(&slot["replies"])).sum::<usize>(), 40);
    assert_eq!(server.connections().len(), 2, "the measurement goes on with the same connections");
}

#[test]
fn phases_follow_each_other_in_each_run() {
    let server = Scripted::answering("$-1\r\n");
    let keys = ["--key-minimum", "1", "--key-maximum", "3", "--command", "GET __key__"];
    let phases = ["--check", "--prefill", "--warm-up", "0.05", "-t", "1", "-c", "1", "-n", "4", "-x", "2"];
    let document = load(&server, &[&phases[..], &keys].concat());
    let records = server.records();
    assert_eq!(records.len(), 6, "two runs, each with a connection for the check and one for the prefill");
    let lengths: Vec<usize> = records.iter().map(|record| record.requests.len()).collect();
    for run in [0, 3] {
        assert_eq!((lengths[run + 1], lengths[run + 2]), (1, 3), "{lengths:?}");
        assert!(lengths[run] > 4, "{lengths:?}");
        let ends = |connection: usize| {
            let requests = &records[run + connection].requests;
            (requests[0].at, requests[requests.len() - 1].at)
        };
        assert!(ends(1).1 < ends(2).0 && ends(2).1 < ends(0).0, "check, prefill, then the rest");
    }
    assert_eq!(document["lab"]["requests"], 8);
    let phases = document["lab"]["phases"].as_object().expect("phases");
    let mut phases: Vec<&str> = phases.keys().map(String::as_str).collect();
    phases.sort_unstable();
    assert_eq!(phases, ["check", "connect", "measure", "prefill", "warm_up"]);
}

#[test]
fn a_check_uses_user_database_and_keys_of_the_range() {
    let server = Scripted::answering("+OK\r\n");
    let keys = ["--key-minimum", "7", "--key-maximum", "7", "--key-prefix", "k", "-a", "secret", "--select-db", "1"];
    let shape = ["-t", "1", "-c", "1", "-n", "2", "--check", "--command", "SET __key__ __data__", "-d", "2"];
    load(&server, &[&shape[..], &keys].concat());
    for requests in server.connections() {
        assert_eq!(names(&requests)[..2], ["AUTH", "SELECT"]);
        assert!(requests[2..].iter().all(|request| request == &["SET", "k7", "xx"]), "{requests:?}");
    }
}

#[test]
fn a_prefill_that_is_refused_ends_the_run() {
    let server = Scripted::replying(|request, _| match request[0].as_str() {
        "SET" => "-OOM command not allowed when used memory > 'maxmemory'.\r\n".to_owned(),
        _ => "$-1\r\n".to_owned(),
    });
    let port = server.port();
    let shape = ["-s", "127.0.0.1", "-p", &port, "-t", "1", "-c", "1", "-n", "5", "--prefill"];
    let finished = run(&[&shape[..], &["--key-maximum", "9", "--command", "GET __key__"]].concat());
    assert_eq!(finished.code, Some(4), "{}", finished.stdout);
    assert!(finished.stderr.contains("OOM command not allowed"), "{}", finished.stderr);
    assert!(server.requests().iter().all(|request| request[0] == "SET"), "nothing was measured");
}

#[test]
fn a_server_that_is_lost_before_the_measurement_ends_the_run() {
    let server = Scripted::start(|peer| {
        for _ in 0..5 {
            peer.request();
            peer.send(b"+OK\r\n");
        }
        peer.request();
    });
    let port = server.port();
    for phase in [["--warm-up", "5"], ["--prefill", "--check"]] {
        let shape = ["-s", "127.0.0.1", "-p", &port, "-t", "1", "-c", "1", "-n", "50", "--json-out-file", "-"];
        let finished = run(&[&shape[..], &["--key-maximum", "99", "--command", "GET __key__"], &phase].concat());
        assert_eq!(finished.code, Some(4), "{}", finished.stderr);
        assert_eq!(finished.stdout, "", "nothing was measured");
    }
}

#[test]
fn a_prefill_writes_each_key_once_also_where_oddities_are_kept() {
    let server = Scripted::answering("+OK\r\n");
    let keys = ["--key-minimum", "1", "--key-maximum", "103", "--key-prefix", "", "--command", "GET __key__"];
    load(&server, &[&["-t", "2", "-c", "5", "-n", "1", "--compat", "--prefill"][..], &keys].concat());
    let written = multiset(server.requests().iter().filter(|request| request[0] == "SET").map(|set| set[1].clone()));
    assert_eq!(written.len(), 103);
    assert!(written.values().all(|&times| times == 1), "{written:?}");
}

#[test]
fn a_summary_that_cannot_be_written_is_found_out_before_the_first_request() {
    let server = Scripted::answering("+OK\r\n");
    let port = server.port();
    let arguments = ["-s", "127.0.0.1", "-p", &port, "-n", "5", "--command", "PING", "--out-file", "/nonexistent/x"];
    assert_eq!(run(&arguments).code, Some(3));
    assert!(server.requests().is_empty());
}
