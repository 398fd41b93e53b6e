//! Which requests are sent, on which connection, in which order.

use std::collections::BTreeMap;

use crate::support::scripted::{Request, Scripted, key};
use crate::support::{load, multiset};

fn each_once(keys: std::ops::RangeInclusive<u64>, times: usize) -> BTreeMap<u64, usize> {
    keys.map(|key| (key, times)).collect()
}

const SET: &str = "SET __key__ __data__";

#[test]
fn parallel_all_keys_writes_each_key_once_though_connections_do_not_divide_the_range() {
    for (threads, clients, maximum) in [("2", "3", 13), ("1", "1", 13), ("3", "2", 8), ("2", "4", 6)] {
        let server = Scripted::answering("+OK\r\n");
        let maximum_text = maximum.to_string();
        let keys = ["--key-minimum", "3", "--key-maximum", &maximum_text, "--pipeline", "4"];
        let pattern = ["-n", "allkeys", "--command", SET, "--command-key-pattern", "P"];
        load(&server, &[&["-t", threads, "-c", clients][..], &keys, &pattern].concat());
        assert_eq!(multiset(server.keys("memtier-")), each_once(3..=maximum, 1), "{threads} x {clients}");
        let parts: Vec<usize> = server.connections().iter().map(Vec::len).collect();
        assert!(parts.iter().max().unwrap_or(&0) - parts.iter().min().unwrap_or(&0) <= 1, "{parts:?}");
    }
}

#[test]
fn parallel_walks_its_part_and_wraps() {
    let server = Scripted::answering("+OK\r\n");
    let keys = ["--key-minimum", "1", "--key-maximum", "7"];
    load(
        &server,
        &[&["-t", "1", "-c", "2", "-n", "9", "--command", SET, "--command-key-pattern", "P"][..], &keys].concat(),
    );
    let mut walks: Vec<Vec<u64>> =
        server.connections().iter().map(|requests| requests.iter().map(|one| key(one, "memtier-")).collect()).collect();
    walks.sort();
    assert_eq!(walks, [[1, 2, 3, 4, 1, 2, 3, 4, 1], [5, 6, 7, 5, 6, 7, 5, 6, 7]]);
}

#[test]
fn all_keys_is_the_whole_range_for_each_command_and_counts_keys_not_requests() {
    let server = Scripted::answering("+OK\r\n");
    let keys = ["--key-minimum", "1", "--key-maximum", "10", "--key-prefix", ""];
    let commands = ["--command", "SET __key__ x", "--command-key-pattern", "P"];
    let more = ["--command", "SADD __key__ x", "--command-key-pattern", "P"];
    load(&server, &[&["-t", "1", "-c", "3", "-n", "allkeys"][..], &keys, &commands, &more].concat());
    let sent = multiset(server.requests().into_iter().map(|request| (request[0].clone(), key(&request, ""))));
    let expected = ["SADD", "SET"].iter().flat_map(|name| (1..=10).map(|key| (((*name).to_owned(), key), 1)));
    assert_eq!(sent, expected.collect());

    let server = Scripted::answering("+OK\r\n");
    let commands = ["--command", "MSET __key__ x __key__ y", "--command-key-pattern", "P"];
    load(&server, &[&["-t", "1", "-c", "1", "-n", "allkeys"][..], &keys, &commands].concat());
    let sent = server.requests().into_iter().flat_map(|request| [request[1].clone(), request[3].clone()]);
    assert_eq!(multiset(sent), (1..=10).map(|key| (key.to_string(), 1)).collect());
}

#[test]
fn all_keys_of_eleven_over_eight_connections() {
    let sent = |commands: &[&str]| -> (BTreeMap<(String, u64), usize>, BTreeMap<usize, usize>) {
        let server = Scripted::answering("+OK\r\n");
        let range = ["-t", "2", "-c", "4", "-n", "allkeys", "--key-minimum", "5", "--key-maximum", "15"];
        load(&server, &[&range[..], commands].concat());
        let keys = server.requests().into_iter().map(|request| (request[0].clone(), key(&request, "memtier-")));
        (multiset(keys), multiset(server.connections().iter().map(Vec::len)))
    };
    let each = |name: &str, times| (5..=15).map(|key| ((name.to_owned(), key), times)).collect::<Vec<_>>();
    let pattern = |letter| ["--command", SET, "--command-key-pattern", letter];
    let more = |letter| ["--command", "GET __key__", "--command-key-pattern", letter];

    let (keys, lengths) = sent(&pattern("P"));
    assert_eq!((keys, lengths), (each("SET", 1).into_iter().collect(), [(1, 5), (2, 3)].into()));
    let (keys, lengths) = sent(&pattern("S"));
    assert_eq!((keys, lengths), (each("SET", 8).into_iter().collect(), [(11, 8)].into()));

    // As many requests as there are keys, on all connections together.
    let (keys, lengths) = sent(&pattern("R"));
    assert_eq!((keys.values().sum::<usize>(), lengths), (11, [(1, 5), (2, 3)].into()));
    assert!(keys.keys().all(|(_, key)| (5..=15).contains(key)), "{keys:?}");

    let (keys, lengths) = sent(&[pattern("P"), more("P")].concat());
    assert_eq!(keys, [each("SET", 1), each("GET", 1)].concat().into_iter().collect());
    assert_eq!(lengths, [(2, 5), (4, 3)].into());
    let (keys, _) = sent(&[pattern("S"), more("S")].concat());
    assert_eq!(keys, [each("SET", 8), each("GET", 8)].concat().into_iter().collect());

    // Those that walk decide; each of their requests has one of the others beside it.
    let (keys, lengths) = sent(&[pattern("P"), more("R")].concat());
    let sets: BTreeMap<_, _> = keys.iter().filter(|((name, _), _)| name == "SET").collect();
    assert!(sets.len() == 11 && sets.values().all(|times| **times == 1), "{keys:?}");
    assert_eq!((keys.values().sum::<usize>(), lengths), (22, [(2, 5), (4, 3)].into()));
}

#[test]
fn sequential_walks_the_whole_range_on_each_connection_and_for_each_command() {
    let server = Scripted::answering("+OK\r\n");
    let keys = ["--key-minimum", "5", "--key-maximum", "9", "--key-prefix", "k"];
    let set = ["--command", "SET __key__ __data__", "--command-key-pattern", "S"];
    let get = ["--command", "GET __key__", "--command-ratio", "2", "--command-key-pattern", "S"];
    load(&server, &[&["-t", "2", "-c", "2", "-n", "12", "--pipeline", "5"][..], &keys, &set, &get].concat());
    let expected: Vec<(&str, u64)> = vec![
        ("SET", 5),
        ("GET", 5),
        ("GET", 6),
        ("SET", 6),
        ("GET", 7),
        ("GET", 8),
        ("SET", 7),
        ("GET", 9),
        ("GET", 5),
        ("SET", 8),
        ("GET", 6),
        ("GET", 7),
    ];
    assert_eq!(server.connections().len(), 4);
    for requests in server.connections() {
        let walked: Vec<_> = requests.iter().map(|request| (request[0].as_str(), key(request, "k"))).collect();
        assert_eq!(walked, expected);
    }

    let server = Scripted::answering("+OK\r\n");
    load(&server, &[&["-t", "2", "-c", "1", "-n", "allkeys"][..], &keys, &set].concat());
    assert_eq!(multiset(server.keys("k")), each_once(5..=9, 2));
}

#[test]
fn random_keys_cover_the_range_and_differ_between_connections() {
    let server = Scripted::answering("+OK\r\n");
    let keys = ["--key-minimum", "100", "--key-maximum", "107", "--key-prefix", ""];
    load(
        &server,
        &[&["-t", "2", "-c", "2", "-n", "2000", "--pipeline", "50", "--command", "GET __key__"][..], &keys].concat(),
    );
    let counts = multiset(server.keys(""));
    assert_eq!(counts.keys().copied().collect::<Vec<u64>>(), (100..=107).collect::<Vec<u64>>());
    // 1000 of each are expected; 5 standard deviations are 148.
    assert!(counts.values().all(|count| count.abs_diff(1000) < 148), "{counts:?}");
    let connections = server.connections();
    assert_eq!(multiset(connections).len(), 4, "each connection has a sequence of its own");
}

#[test]
fn a_seed_names_the_keys() {
    let sequence = |seed: &str| -> Vec<Vec<Request>> {
        let server = Scripted::answering("$-1\r\n");
        load(&server, &["-t", "2", "-c", "2", "-n", "40", "--seed", seed, "--command", "GET __key__"]);
        let mut connections = server.connections();
        connections.sort();
        connections
    };
    assert_eq!(sequence("7"), sequence("7"));
    assert_ne!(sequence("7"), sequence("8"));
}

#[test]
fn the_default_is_one_set_and_ten_gets() {
    let server = Scripted::answering("$-1\r\n");
    load(&server, &["-t", "1", "-c", "1", "-n", "22"]);
    let names: String = server.requests().iter().map(|request| request[0].chars().next().unwrap_or(' ')).collect();
    assert_eq!(names, "SGGGGGGGGGGSGGGGGGGGGG");
    assert_eq!(server.requests()[0][2], "x".repeat(32));

    let server = Scripted::answering("$-1\r\n");
    load(&server, &["-t", "1", "-c", "1", "-n", "6", "--ratio", "2:1"]);
    let names: String = server.requests().iter().map(|request| request[0].chars().next().unwrap_or(' ')).collect();
    assert_eq!(names, "SSGSSG");
}

#[test]
fn random_data_is_seeded_and_leaves_the_keys_alone() {
    let requests = |arguments: &[&str]| -> Vec<Request> {
        let server = Scripted::answering("+OK\r\n");
        load(&server, &[&["-t", "1", "-c", "1", "-n", "30", "-d", "50", "--command", SET], arguments].concat());
        server.requests()
    };
    let (plain, random) = (requests(&[]), requests(&["-R"]));
    let keys = |requests: &[Request]| requests.iter().map(|request| request[1].clone()).collect::<Vec<String>>();
    let values = |requests: &[Request]| multiset(requests.iter().map(|request| request[2].clone()));
    assert_eq!(keys(&plain), keys(&random));
    assert_eq!(values(&plain), [("x".repeat(50), 30)].into());
    assert!(values(&random).len() > 25, "values differ");
    assert!(random.iter().all(|request| request[2].chars().count() == 50));
    assert_eq!(random, requests(&["-R"]));
    assert_ne!(values(&random), values(&requests(&["-R", "--seed", "2"])));
}
