//! Commands whose replies or requests are out of the ordinary, at the redis-server of the PATH, where there is one.

use serde_json::json;

use crate::support::{Real, commands};

const ONE_CONNECTION: [&str; 4] = ["-t", "1", "-c", "1"];

#[test]
fn invalidations_are_pushes_and_answer_nothing() {
    let Some(server) = Real::start(&[]) else { return };
    let lines = commands(&["CLIENT TRACKING ON", "GET __key__", "SET __key__ __data__"]);
    let keys = ["--key-minimum", "1", "--key-maximum", "1", "-P", "resp3", "-n", "300"];
    let document = server.load(&[&ONE_CONNECTION[..], &lines, &keys].concat());
    assert_eq!((&document["succeeded"], &document["errors"]), (&json!(300), &json!({})));
    // Each GET makes the server remember the key, so each SET invalidates it.
    assert_eq!(document["pushes"], 100);
    assert_eq!(document["replies"]["status"], 200);
    assert_eq!((&document["hits"], &document["nils"]), (&json!(299), &json!(1)));
}

#[test]
fn invalidations_to_many_connections_in_pipelines_lose_no_reply() {
    let Some(server) = Real::start(&[]) else { return };
    let lines = commands(&["CLIENT TRACKING ON", "GET __key__", "SET __key__ __data__"]);
    let keys = ["--key-maximum", "9", "-P", "resp3", "-t", "2", "-c", "5", "-n", "3000", "--pipeline", "16"];
    let document = server.load(&[&lines[..], &keys].concat());
    assert_eq!((&document["succeeded"], &document["errors"]), (&json!(30_000), &json!({})));
    assert!(document["pushes"].as_u64().is_some_and(|pushes| pushes > 1000), "{}", document["pushes"]);
    for command in ["get", "set", "client|tracking"] {
        assert_eq!(server.calls(command), 10_000, "{command}");
    }
}

#[test]
fn a_transaction_is_three_commands_on_one_connection() {
    let Some(server) = Real::start(&[]) else { return };
    let lines = commands(&["MULTI", "INCR counter", "EXEC"]);
    for pipeline in ["1", "7"] {
        let shape = ["-t", "2", "-c", "3", "-n", "300", "--pipeline", pipeline];
        let document = server.load(&[&shape[..], &lines].concat());
        assert_eq!((&document["succeeded"], &document["errors"]), (&json!(1800), &json!({})));
        assert_eq!(document["replies"]["status"], 1200, "OK and QUEUED");
        assert_eq!(document["replies"]["array"], 600);
    }
    assert_eq!(server.call(&["GET", "counter"]), "1200");
}

#[test]
fn an_aborted_transaction_is_an_error_and_a_watched_one_a_nil() {
    let Some(server) = Real::start(&[]) else { return };
    let aborted = commands(&["MULTI", "NOSUCHCOMMAND", "EXEC"]);
    let document = server.load(&[&ONE_CONNECTION[..], &["-n", "30"], &aborted].concat());
    assert_eq!(document["errors"], json!({"ERR": 10, "EXECABORT": 10}));
    let changed = commands(&["WATCH key", "INCR key", "MULTI", "PING", "EXEC"]);
    let document = server.load(&[&ONE_CONNECTION[..], &["-n", "50"], &changed].concat());
    assert_eq!((&document["errors"], &document["nils"]), (&json!({}), &json!(10)));
}

#[test]
fn scripts_get_keys_and_values() {
    let Some(server) = Real::start(&[]) else { return };
    let script = r#"EVAL "return redis.call('SET', KEYS[1], ARGV[1])" 1 __key__ __data__"#;
    let failing = r#"EVAL "return redis.error_reply('MINE not today')" 0"#;
    let lines = commands(&[script, failing, "EVAL \"return {1, {2, 'x'}, false}\" 0"]);
    let keys = ["--key-minimum", "1", "--key-maximum", "10", "--command-key-pattern", "S", "-d", "7", "-n", "30"];
    // The pattern belongs to the command before it.
    let document = server.load(&[&ONE_CONNECTION[..], &lines[..2], &keys, &lines[2..]].concat());
    assert_eq!((&document["succeeded"], &document["errors"]), (&json!(20), &json!({"MINE": 10})));
    assert_eq!((server.ask("DBSIZE"), server.ask("STRLEN memtier-10")), (":10".to_owned(), ":7".to_owned()));
}

#[test]
fn blocking_commands_that_find_nothing_are_nils() {
    let Some(server) = Real::start(&[]) else { return };
    let shape = ["-t", "1", "-c", "4", "-n", "5", "--command", "BLPOP empty 0.01"];
    let document = server.load(&shape);
    assert_eq!((&document["nils"], &document["hits"], &document["errors"]), (&json!(20), &json!(0), &json!({})));
    let median_us = document["latency_us"]["p50"].as_f64().expect("a number");
    assert!(median_us >= 10_000.0, "{median_us}");
}

#[test]
fn blocking_commands_are_fed_by_others() {
    let Some(server) = Real::start(&[]) else { return };
    let lines = commands(&["LPUSH list x", "BLPOP list 5"]);
    // Each connection pushes before it pops: there is always something, or somebody about to push.
    let document = server.load(&[&["-t", "2", "-c", "3", "-n", "200"][..], &lines].concat());
    assert_eq!((&document["hits"], &document["nils"]), (&json!(1200), &json!(0)));
    assert_eq!(document["replies"]["array"], 600);
    assert_eq!(server.ask("LLEN list"), ":0");
}

#[test]
fn a_blocking_command_that_waits_too_long_ends_with_4() {
    let Some(server) = Real::start(&[]) else { return };
    let waiting = ["-n", "5", "--command", "BLPOP empty 0", "--reply-timeout", "0.5"];
    let finished = server.run(&[&ONE_CONNECTION[..], &waiting].concat());
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
    assert!(finished.stderr.contains("left a request unanswered for 0.5 s"), "{}", finished.stderr);
}

#[test]
fn an_incremental_scan_sees_each_key_once_in_a_pass() {
    let Some(server) = Real::start(&[]) else { return };
    let mut client = server.client();
    let pairs: Vec<String> = (0..10_000).flat_map(|key| [format!("key:{key}"), "x".to_owned()]).collect();
    let words: Vec<&str> = std::iter::once("MSET").chain(pairs.iter().map(String::as_str)).collect();
    assert_eq!(client.call(&words), "OK");
    let (mut cursor, mut calls, mut found) = ("0".to_owned(), 0_u64, 0);
    loop {
        let reply = client.call(&["SCAN", &cursor, "COUNT", "100"]);
        let mut lines = reply.lines();
        cursor = lines.next().expect("a cursor").to_owned();
        found += lines.count();
        calls += 1;
        if cursor == "0" {
            break;
        }
    }
    assert_eq!(found, 10_000);
    let passes = |count: u64| {
        let requests = (calls * count).to_string();
        let scan = ["--command", "SCAN 0 COUNT 100", "--scan-incremental-iteration", "-n", &requests];
        server.load(&[&ONE_CONNECTION[..], &scan].concat())
    };
    let (one, two) = (passes(1), passes(2));
    assert_eq!((&one["requests"], &one["errors"]), (&json!(calls), &json!({})));
    let received = |document: &serde_json::Value| document["bytes_received"].as_u64().expect("a count");
    let names: u64 = (0..10_000).map(|key: u32| bulk(&format!("key:{key}"))).sum();
    assert!(received(&one) > names, "every key is returned once");
    assert!(received(&one) < names + calls * 100, "and no key twice");
    assert_eq!(received(&two), 2 * received(&one), "the second pass is like the first");
}

/// Bytes of a bulk string in a reply.
fn bulk(text: &str) -> u64 {
    (format!("${}\r\n", text.len()).len() + text.len() + 2) as u64
}

#[test]
fn a_command_may_have_75_kilobytes() {
    let Some(server) = Real::start(&[]) else { return };
    let line = format!("SET big {} EX 1000", "0123456789abcde".repeat(5000));
    let shape = ["-t", "2", "-c", "2", "-n", "20", "--pipeline", "5", "--command", &line];
    let document = server.load(&shape);
    assert_eq!((&document["succeeded"], &document["errors"]), (&json!(80), &json!({})));
    assert_eq!(server.ask("STRLEN big"), ":75000");
    assert_eq!(server.calls("set"), 80);
}

#[test]
fn binary_arguments_arrive_as_they_are_written() {
    let Some(server) = Real::start(&[]) else { return };
    let fill = "local all = '' for byte = 0, 255 do all = all .. string.char(byte) end redis.call('SET', 'all', all) \
                return (redis.call('DUMP', 'all'):gsub('.', function(c) return string.format('\\\\x%02x', c:byte()) end))";
    let escaped = server.call(&["EVAL", fill, "0"]);
    let line = format!("RESTORE __key__ 0 \"{escaped}\"");
    let shape = ["--key-minimum", "1", "--key-maximum", "10", "-n", "10", "--command", &line];
    let document = server.load(&[&ONE_CONNECTION[..], &shape, &["--command-key-pattern", "S"]].concat());
    // The server checks the sum of a dump.
    assert_eq!((&document["succeeded"], &document["errors"]), (&json!(10), &json!({})));
    let equal = "return redis.call('GET', 'all') == redis.call('GET', 'memtier-10') and 'equal' or 'different'";
    assert_eq!(server.call(&["EVAL", equal, "0"]), "equal");
}

#[test]
fn counts_of_each_command_are_the_servers() {
    let Some(server) = Real::start(&[]) else { return };
    let lines = [
        "SET __key__ __data__",
        "GET __key__",
        "INCRBY counter 2",
        "XADD stream * f __data__",
        "OBJECT ENCODING __key__",
    ];
    let ratios = ["3", "7", "1", "2", "4"];
    let given: Vec<&str> =
        lines.iter().zip(ratios).flat_map(|(line, ratio)| ["--command", line, "--command-ratio", ratio]).collect();
    let shape = ["-t", "2", "-c", "5", "-n", "401", "--pipeline", "9", "--key-maximum", "100"];
    let document = server.load(&[&shape[..], &given].concat());
    assert_eq!((&document["requests"], &document["succeeded"]), (&json!(4010), &json!(4010)));
    for (index, name) in ["set", "get", "incrby", "xadd", "object|encoding"].into_iter().enumerate() {
        assert_eq!(document["commands"][index]["requests"], server.calls(name), "{name}");
    }
    let counter: u64 = server.call(&["GET", "counter"]).parse().expect("a number");
    assert_eq!(document["commands"][2]["requests"], counter / 2);
}

#[test]
fn a_full_server_refuses_writes_and_goes_on() {
    let Some(server) = Real::start(&["--maxmemory", "3mb", "--maxmemory-policy", "noeviction"]) else { return };
    let lines = commands(&["SET __key__ __data__", "GET __key__"]);
    let shape = ["-t", "1", "-c", "2", "-n", "3000", "-d", "5000", "--key-maximum", "100000"];
    let document = server.load(&[&shape[..], &lines].concat());
    let errors = document["commands"][0]["errors"].as_object().expect("a map");
    assert_eq!(errors.keys().collect::<Vec<_>>(), ["OOM"]);
    let refused = errors["OOM"].as_u64().expect("a count");
    let written: u64 = document["commands"][0]["succeeded"].as_u64().expect("a count");
    assert_eq!((refused + written, written), (3000, server.calls("set")));
    assert!(refused > 1000, "{refused}");
    assert_eq!((&document["commands"][1]["requests"], &document["commands"][1]["errors"]), (&json!(3000), &json!({})));
}
