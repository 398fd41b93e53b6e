//! What `--compat` keeps of `memtier_benchmark`: expected numbers are from its formulas, by hand.

use std::collections::BTreeMap;

use crate::support::scripted::{Scripted, key};
use crate::support::{load, multiset};

/// The keys of each connection, sorted.
fn walks(arguments: &[&str]) -> Vec<Vec<u64>> {
    let server = Scripted::answering("+OK\r\n");
    load(&server, &[&["--compat", "-t", "2", "-c", "4"], arguments].concat());
    let keys = |requests: Vec<Vec<String>>| requests.iter().map(|request| key(request, "memtier-")).collect();
    let mut walks: Vec<Vec<u64>> = server.connections().into_iter().map(keys).collect();
    walks.sort();
    walks
}

const ELEVEN: [&str; 4] = ["--key-minimum", "0", "--key-maximum", "10"];

#[test]
fn all_keys_of_sets_in_parallel_goes_beyond_the_range() {
    let arguments = ["-n", "allkeys", "--ratio", "1:0", "--key-pattern", "P:P"];
    // 10 / 8 + 1 = 2 keys for each of 8 clients; the last one ends with the range and wraps at once.
    let expected = [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10, 11], [12, 13], [14, 14]];
    assert_eq!(walks(&[&arguments[..], &ELEVEN].concat()), expected);
}

#[test]
fn all_keys_otherwise_leaves_out_the_last_key_on_each_connection() {
    for (letter, keys) in [("S", (0..10).collect::<Vec<u64>>()), ("P", [0, 1].repeat(5))] {
        let command = ["-n", "allkeys", "--command", "SET __key__ x", "--command-key-pattern", letter];
        let walks = walks(&[&command[..], &ELEVEN].concat());
        assert_eq!(walks[0], keys, "pattern {letter}");
        assert_eq!(walks.iter().map(Vec::len).collect::<Vec<_>>(), [10; 8]);
    }
}

#[test]
fn the_document_tells_how_many_requests_all_keys_would_have_been() {
    let server = Scripted::answering("+OK\r\n");
    let command = ["-n", "allkeys", "--command", "SET __key__ x", "--command-key-pattern", "P"];
    let document = load(&server, &[&["-t", "2", "-c", "4"][..], &command, &ELEVEN].concat());
    assert_eq!(server.requests().len(), 11);
    let differences = document["lab"]["differences"].to_string();
    assert!(differences.contains("allkeys is 11 requests; with memtier_benchmark it is 80"), "{differences}");
}

#[test]
fn zipf_ranks_are_the_ids_themselves() {
    let counts = |arguments: &[&str]| -> BTreeMap<u64, usize> {
        let server = Scripted::answering("+OK\r\n");
        let keys = ["--key-minimum", "100", "--key-maximum", "1099", "--command", "GET __key__"];
        let shape = ["-t", "1", "-c", "1", "-n", "4000", "--pipeline", "50", "--command-key-pattern", "Z"];
        load(&server, &[&keys[..], &shape, arguments].concat());
        multiset(server.keys("memtier-"))
    };
    // The first key's share is 1 / 7.4855 as the first rank, and (1 / 100) / 2.4021 as rank 100 of 100 to 1099.
    assert!(counts(&[])[&100] > 400);
    assert!(counts(&["--compat"]).get(&100).copied().unwrap_or(0) < 45);
}

#[test]
fn errors_count_as_operations() {
    let rates = |arguments: &[&str]| {
        let server = Scripted::answering("-ERR no\r\n");
        let document = load(&server, &[&["-t", "1", "-c", "1", "-n", "20", "--command", "PING"], arguments].concat());
        let totals = &document["ALL STATS"]["Totals"];
        assert_eq!((&totals["Count"], &totals["Errors"]), (&20.into(), &20.into()));
        (totals["Ops/sec"].as_f64().expect("a number"), document["lab"]["differences"].to_string())
    };
    let (rate, differences) = rates(&[]);
    assert!(rate.abs() < f64::EPSILON, "{rate}");
    assert!(differences.contains("20 error replies are left out of Ops/sec"), "{differences}");
    let (rate, differences) = rates(&["--compat"]);
    assert!(rate > 0.0 && !differences.contains("error replies"), "{rate} {differences}");
}
