//! How long values live.

use serde_json::json;

use crate::support::scripted::{Request, Scripted};
use crate::support::{load, multiset};

const SHAPE: [&str; 8] = ["-t", "1", "-c", "1", "--pipeline", "20", "--key-pattern", "S:S"];

/// Requests of one connection, of a server that has no value.
fn sent(arguments: &[&str]) -> Vec<Request> {
    let server = Scripted::answering("$-1\r\n");
    load(&server, &[&SHAPE[..], arguments].concat());
    server.requests()
}

#[test]
fn values_live_for_a_time_of_the_range() {
    let requests = sent(&["-n", "1000", "--ratio", "1:1", "--expiry-range", "10-14", "-d", "3", "--key-minimum", "1"]);
    let (sets, gets): (Vec<Request>, Vec<Request>) = requests.into_iter().partition(|request| request[0] != "GET");
    assert_eq!((sets.len(), gets.len()), (500, 500));
    for (number, set) in sets.iter().enumerate() {
        assert_eq!((set.len(), set[0].as_str(), set[3].as_str()), (4, "SETEX", "xxx"));
        assert_eq!(set[1], format!("memtier-{}", number + 1));
    }
    let counts = multiset(sets.into_iter().map(|set| set[2].clone()));
    assert_eq!(counts.keys().collect::<Vec<_>>(), ["10", "11", "12", "13", "14"]);
    // 100 of each are expected; 5 standard deviations are 45.
    assert!(counts.values().all(|count| count.abs_diff(100) < 45), "{counts:?}");
}

#[test]
fn a_time_of_0_is_none() {
    let requests = sent(&["-n", "200", "--ratio", "1:0", "--expiry-range", "0-1", "-d", "1"]);
    let shapes = multiset(requests.into_iter().map(|mut set| {
        set.remove(1);
        set.join(" ")
    }));
    assert_eq!(shapes.keys().collect::<Vec<_>>(), ["SET x", "SETEX 1 x"]);
    // 100 of each are expected; 5 standard deviations are 36.
    assert!(shapes.values().all(|count| count.abs_diff(100) < 36), "{shapes:?}");
}

#[test]
fn times_are_the_same_with_the_same_seed_and_leave_keys_and_values_alone() {
    let arguments = ["-n", "50", "--ratio", "1:1", "--key-pattern", "R:R", "-R", "--data-size-range", "5-9"];
    let with = |more: &[&str]| sent(&[&arguments[..], more].concat());
    let expiring = with(&["--expiry-range", "100-100000"]);
    assert_eq!(expiring, with(&["--expiry-range", "100-100000"]));
    assert_ne!(expiring, with(&["--expiry-range", "100-100000", "--seed", "7"]));
    let plain = expiring.into_iter().map(|mut request| {
        if request[0] == "SETEX" {
            request.remove(2);
            "SET".clone_into(&mut request[0]);
        }
        request
    });
    assert_eq!(plain.collect::<Vec<_>>(), with(&[]));
}

#[test]
fn the_document_names_the_range_and_calls_the_requests_sets() {
    let server = Scripted::answering("+OK\r\n");
    let arguments = ["-t", "1", "-c", "1", "-n", "22", "--expiry-range", "5-9"];
    let document = load(&server, &arguments);
    assert_eq!(document["configuration"]["expiry_range"], json!("5:9"));
    assert_eq!(document["ALL STATS"]["Sets"]["Count"], json!(2));
    assert_eq!(document["lab"]["commands"][0]["line"], json!("SETEX __key__ 5-9 __data__"));
}
