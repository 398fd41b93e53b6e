//! Where random numbers come from.

use serde_json::Value;

use crate::support::load;
use crate::support::scripted::{Request, Scripted};

/// Requests of each of four connections, in the order of their first key, and the document.
fn sent(arguments: &[&str]) -> (Vec<Vec<Request>>, Value) {
    let server = Scripted::answering("$-1\r\n");
    let shape = ["-t", "2", "-c", "2", "-n", "12", "--ratio", "1:1", "-R", "--data-size-range", "1-9"];
    let document = load(&server, &[&shape[..], arguments].concat());
    let mut connections = server.connections();
    connections.sort();
    (connections, document)
}

#[test]
fn a_seed_names_all_requests() {
    for pattern in ["R:R", "G:G", "Z:Z"] {
        let requests = |seed| sent(&["--key-pattern", pattern, "--seed", seed]).0;
        assert_eq!(requests("7"), requests("7"), "{pattern}");
        assert_ne!(requests("7"), requests("8"), "{pattern}");
    }
    assert_eq!(sent(&[]).0, sent(&["--seed", "1"]).0, "1 is the seed where none is given");
}

#[test]
fn without_a_seed_of_their_own_runs_of_one_command_line_repeat_each_other() {
    let server = Scripted::answering("+OK\r\n");
    load(&server, &["-t", "1", "-c", "1", "-n", "9", "-x", "2", "--command", "GET __key__"]);
    let connections = server.connections();
    assert_eq!(connections.len(), 2);
    assert_eq!(connections[0], connections[1]);
}

#[test]
fn randomize_is_another_seed_each_time_and_the_document_tells_it() {
    let (first, document) = sent(&["--randomize"]);
    let (second, _) = sent(&["--randomize"]);
    assert_ne!(first, second);
    let seed = document["lab"]["settings"]["seed"].to_string();
    assert_eq!(first, sent(&["--seed", &seed]).0, "the seed that is reported determines the requests");
}

#[test]
fn connections_draw_their_own_keys_and_values_unless_memtier_would_not() {
    let (own, _) = sent(&[]);
    assert!(own.windows(2).all(|pair| pair[0] != pair[1]), "all four differ");
    let (same, document) = sent(&["--compat"]);
    assert!(same.windows(2).all(|pair| pair[0] == pair[1]), "all four are the same");
    assert_eq!(document["lab"]["policy"], "memtier_benchmark");
    let (distinct, _) = sent(&["--compat", "--distinct-client-seed"]);
    assert!(distinct.windows(2).all(|pair| pair[0] != pair[1]), "all four differ");
}

#[test]
fn the_document_tells_where_memtier_would_draw_the_same_keys() {
    let differences = |arguments: &[&str]| sent(arguments).1["lab"]["differences"].to_string();
    assert!(differences(&[]).contains("each connection draws its own keys"));
    assert!(!differences(&["--compat"]).contains("draws its own keys"));
    assert!(!differences(&["--key-pattern", "S:S"]).contains("draws its own keys"));
}
