//! How keys are written, and where they are from.

use crate::support::scripted::{Request, Scripted};
use crate::support::{load, multiset};

/// Requests of one connection that walks from key 1 on.
fn walked(requests: &str, prefix: &[&str], command: &str) -> Vec<Request> {
    let server = Scripted::answering("+OK\r\n");
    let keys = ["--key-minimum", "1", "--key-maximum", "100", "--command", command, "--command-key-pattern", "S"];
    load(&server, &[&["-t", "1", "-c", "1", "-n", requests][..], prefix, &keys].concat());
    server.requests()
}

#[test]
fn keys_have_the_prefix_and_what_stands_around_them() {
    assert_eq!(walked("2", &[], "GET __key__"), [["GET", "memtier-1"], ["GET", "memtier-2"]]);
    assert_eq!(walked("2", &["--key-prefix", ""], "GET __key__"), [["GET", "1"], ["GET", "2"]]);
    assert_eq!(walked("1", &["--key-prefix", "a b:"], "GET __key__"), [["GET", "a b:1"]]);
    assert_eq!(walked("1", &["--key-prefix", ""], "GET {T:__key__}_x"), [["GET", "{T:1}_x"]]);
    assert_eq!(walked("1", &["--key-prefix", "p"], "GET __key__-0"), [["GET", "p1-0"]]);
    assert_eq!(walked("1", &["--key-prefix", "p"], "GET \"a __key__ b\""), [["GET", "a p1 b"]]);
}

#[test]
fn each_of_a_hundred_placeholders_has_a_key_of_its_own() {
    let command = format!("MGET{}", " __key__".repeat(100));
    let requests = walked("2", &["--key-prefix", ""], &command);
    let expected: Vec<String> = (1..=100).map(|key| key.to_string()).collect();
    assert_eq!(requests.len(), 2);
    assert!(requests.iter().all(|request| request[0] == "MGET" && request[1..] == expected));
}

#[test]
fn a_command_of_75_kilobytes_arrives_whole() {
    let members: Vec<String> = (0..5_000).map(|number| format!("{} member:{number:05}", number % 7)).collect();
    let members = members.join(" ");
    let command = format!("ZADD __key__ {members}");
    assert!(command.len() > 75_000);
    let requests = walked("3", &["--key-prefix", "", "--pipeline", "3"], &command);
    let expected: Vec<&str> = members.split_ascii_whitespace().collect();
    assert_eq!(requests.len(), 3);
    for (request, key) in requests.iter().zip(["1", "2", "3"]) {
        assert_eq!((request[0].as_str(), request[1].as_str()), ("ZADD", key));
        assert_eq!(request[2..], expected);
    }
}

#[test]
fn words_are_read_as_redis_cli_reads_them() {
    let requests = walked("1", &[], r#"SET "a \x41\r\n" 'it is' "" x"#);
    assert_eq!(requests, [["SET", "a A\r\n", "it is", "", "x"]]);
}

#[test]
fn both_ends_of_the_range_are_keys() {
    let ends = |pattern: &str| {
        let server = Scripted::answering("+OK\r\n");
        let range = ["--key-minimum", "18446744073709551611", "--key-maximum", "18446744073709551614"];
        let command = ["--key-prefix", "", "--command", "GET __key__", "--command-key-pattern", pattern];
        load(&server, &[&["-t", "1", "-c", "2", "-n", "100", "--pipeline", "20"][..], &range, &command].concat());
        multiset(server.keys("")).into_keys().collect::<Vec<u64>>()
    };
    for pattern in ["R", "S", "P", "Z"] {
        let expected: Vec<u64> = (18_446_744_073_709_551_611..=18_446_744_073_709_551_614).collect();
        assert_eq!(ends(pattern), expected, "pattern {pattern}");
    }
}

#[test]
fn without_a_range_keys_are_from_0_to_10_million() {
    let server = Scripted::answering("+OK\r\n");
    load(&server, &["-t", "1", "-c", "1", "-n", "5000", "--pipeline", "50", "--command", "GET __key__"]);
    let keys = server.keys("memtier-");
    let mean = keys.iter().sum::<u64>() / 5_000;
    assert!(keys.iter().all(|key| *key <= 10_000_000));
    // 5 standard errors: 10^7 / sqrt(12 * 5000) * 5.
    assert!(mean.abs_diff(5_000_000) < 205_000, "{mean}");
}

#[test]
fn the_letters_of_key_pattern_are_those_of_set_and_get() {
    let server = Scripted::answering("$-1\r\n");
    let keys = ["--key-minimum", "3", "--key-maximum", "6", "--key-pattern", "S:R"];
    load(&server, &[&["-t", "1", "-c", "1", "-n", "400", "--ratio", "1:1", "--pipeline", "20"][..], &keys].concat());
    let of = |name: &str| -> Vec<u64> {
        let requests = server.requests().into_iter().filter(|request| request[0] == name);
        requests.map(|request| request[1]["memtier-".len()..].parse().expect("a number")).collect()
    };
    assert_eq!(of("SET"), [3, 4, 5, 6].repeat(50));
    let gets = of("GET");
    assert_ne!(gets, of("SET"));
    assert_eq!(multiset(gets).into_keys().collect::<Vec<u64>>(), [3, 4, 5, 6]);

    let server = Scripted::answering("$-1\r\n");
    let keys = ["--key-minimum", "1", "--key-maximum", "4", "--key-pattern", "P:P"];
    load(&server, &[&["-t", "1", "-c", "2", "-n", "4", "--ratio", "1:1"][..], &keys].concat());
    let mut walks = server.connections();
    walks.sort();
    let names = |keys: [&str; 2]| keys.map(|key| format!("memtier-{key}"));
    for (walk, [first, second]) in walks.iter().zip([names(["1", "2"]), names(["3", "4"])]) {
        let keys: Vec<&String> = walk.iter().map(|request| &request[1]).collect();
        assert_eq!(keys, [&first, &first, &second, &second]);
    }
}
