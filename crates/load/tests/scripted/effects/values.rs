//! What values are.

use serde_json::json;

use crate::support::scripted::Scripted;
use crate::support::{load, multiset};

/// Keys and lengths of the values of so many SETs on each of two connections.
fn lengths(requests: &str, arguments: &[&str]) -> Vec<Vec<(u64, usize)>> {
    let server = Scripted::answering("+OK\r\n");
    let shape = ["-t", "1", "-c", "2", "-n", requests, "--pipeline", "20", "--key-prefix", ""];
    let command = ["--command", "SET __key__ __data__", "--command-key-pattern", "S"];
    load(&server, &[&shape[..], &command, arguments].concat());
    let lengths = |requests: Vec<Vec<String>>| {
        requests.iter().map(|request| (request[1].parse().expect("a key"), request[2].chars().count())).collect()
    };
    server.connections().into_iter().map(lengths).collect()
}

#[test]
fn values_have_the_length_asked_for() {
    for (arguments, expected) in [(&[][..], 32), (&["-d", "1"], 1), (&["--data-size", "5000"], 5_000)] {
        assert!(lengths("3", arguments).concat().iter().all(|(_, length)| *length == expected), "{arguments:?}");
    }
}

#[test]
fn lengths_of_a_range_are_all_equally_likely_and_both_ends_are_among_them() {
    let lengths = lengths("1000", &["--data-size-range", "10-19"]).concat();
    let counts = multiset(lengths.into_iter().map(|(_, length)| length));
    assert_eq!(counts.keys().copied().collect::<Vec<usize>>(), (10..=19).collect::<Vec<usize>>());
    // 200 of each are expected; 5 standard deviations are 67.
    assert!(counts.values().all(|count| count.abs_diff(200) < 67), "{counts:?}");
}

#[test]
fn lengths_of_a_range_can_grow_with_the_key() {
    let keys = ["--key-minimum", "5", "--key-maximum", "15"];
    let sizes = ["--data-size-range", "100-300", "--data-size-pattern", "S"];
    for walk in lengths("22", &[&keys[..], &sizes].concat()) {
        let expected: Vec<(u64, usize)> =
            (5..=15_u8).map(|key| (key.into(), 100 + usize::from(key - 5) * 20)).collect();
        assert_eq!(walk, expected.repeat(2));
    }
}

#[test]
fn lengths_of_a_list_come_in_turn_as_often_as_their_weights_say() {
    for walk in lengths("12", &["--data-size-list", "10:1,200:3,7:2"]) {
        let lengths: Vec<usize> = walk.into_iter().map(|(_, length)| length).collect();
        assert_eq!(lengths, [10, 200, 200, 200, 7, 7].repeat(2));
    }
}

#[test]
fn values_are_all_x_unless_they_are_to_be_random() {
    let values = |arguments: &[&str]| {
        let server = Scripted::answering("+OK\r\n");
        let command = ["-t", "1", "-c", "1", "-n", "20", "-d", "2000", "--command", "SET k __data__"];
        load(&server, &[&command[..], arguments].concat());
        server.requests().into_iter().map(|request| request[2].clone()).collect::<Vec<String>>()
    };
    assert_eq!(multiset(values(&[])), [("x".repeat(2_000), 20)].into());
    let random = values(&["--random-data"]);
    assert!(multiset(random.clone()).len() > 15, "values differ");
    // Each of 256 bytes has 156 occurrences in 40,000; the slices overlap, so only rough bounds hold.
    let bytes = multiset(random.concat().chars());
    assert!(bytes.len() == 256 && bytes.values().all(|count| (20..600).contains(count)), "{}", bytes.len());
}

#[test]
fn each_value_of_a_request_has_its_own_bytes_and_length() {
    let server = Scripted::answering("+OK\r\n");
    let command = ["--command", "MSET a __data__ b __data__ c __data__", "-R", "--data-size-list", "5:1,6:1"];
    load(&server, &[&["-t", "1", "-c", "1", "-n", "2"][..], &command].concat());
    let requests = server.requests();
    let lengths: Vec<usize> =
        requests.iter().flat_map(|request| [2, 4, 6].map(|place| request[place].chars().count())).collect();
    assert_eq!(lengths, [5, 6, 5, 6, 5, 6]);
    assert_ne!(requests[0][2], requests[0][6]);
}

#[test]
fn with_an_offset_parts_of_values_are_written_and_read() {
    let server = Scripted::answering("$-1\r\n");
    let keys = ["--key-pattern", "S:S", "--ratio", "1:2", "--data-offset", "100", "-d", "3"];
    load(&server, &[&["-t", "1", "-c", "1", "-n", "3", "--key-minimum", "1"][..], &keys].concat());
    let expected = [
        vec!["SETRANGE", "memtier-1", "100", "xxx"],
        vec!["GETRANGE", "memtier-1", "100", "-1"],
        vec!["GETRANGE", "memtier-2", "100", "-1"],
    ];
    assert_eq!(server.requests(), expected);
}

#[test]
fn the_document_names_the_offset() {
    let server = Scripted::answering("$-1\r\n");
    let document = load(&server, &["-t", "1", "-c", "1", "-n", "3", "--data-offset", "100"]);
    assert_eq!(document["configuration"]["data_offset"], json!(100));
}

#[test]
fn the_document_names_the_sizes() {
    let server = Scripted::answering("+OK\r\n");
    let recorded = |arguments: &[&str]| {
        let document = load(&server, &[&["-t", "1", "-c", "1", "-n", "1"], arguments].concat());
        ["data_size", "data_size_range", "data_size_list", "data_size_pattern", "random_data"]
            .map(|name| document["configuration"][name].clone())
    };
    assert_eq!(recorded(&["-d", "9", "-R"]), [json!(9), json!("0:0"), json!(""), json!("R"), json!("true")]);
    let range = recorded(&["--data-size-range", "4-8", "--data-size-pattern", "S"]);
    assert_eq!(range, [json!(0), json!("4:8"), json!(""), json!("S"), json!("false")]);
    let list = recorded(&["--data-size-list", "4:1,8:2"]);
    assert_eq!(list, [json!(0), json!("0:0"), json!("4:1,8:2"), json!("R"), json!("false")]);
}
