//! What the document records of what was asked for.

use serde_json::{Value, json};

use crate::support::load;
use crate::support::scripted::Scripted;

fn expect(record: &Value, expected: &[(&str, Value)]) {
    for (name, value) in expected {
        let recorded = &record[*name];
        let is_same = match (recorded.as_f64(), value.as_f64()) {
            (Some(recorded), Some(value)) => (recorded - value).abs() < 1e-9,
            _ => recorded == value,
        };
        assert!(is_same, "{name}: {recorded} is not {value}");
    }
}

#[test]
fn memtiers_names_have_the_values_of_the_command_line() {
    let server = Scripted::answering("$-1\r\n");
    let port: u16 = server.port().parse().expect("a number");
    let keys = ["--key-prefix", "p:", "--key-minimum", "2", "--key-maximum", "90", "--key-pattern", "G:Z"];
    let spread = ["--key-stddev", "3", "--key-median", "50", "--key-zipf-exp", "1.25"];
    let connections = ["-t", "2", "-c", "3", "--pipeline", "4", "-n", "5", "--connection-timeout", "7"];
    let jitter = ["--thread-conn-start-min-jitter-micros", "10", "--thread-conn-start-max-jitter-micros", "20"];
    let more = ["-P", "resp3", "--select-db", "6", "--reconnect-interval", "50", "--ratio", "2:3", "-a", "top-secret"];
    let document = load(&server, &[&keys[..], &spread, &connections, &jitter, &more].concat());
    let expected = [
        ("server", json!("127.0.0.1")),
        ("port", json!(port)),
        ("unix socket", json!(null)),
        ("address family", json!("Unspecified")),
        ("protocol", json!("resp3")),
        ("tls", json!("false")),
        ("run_count", json!(1)),
        ("requests", json!(5)),
        ("rate_limit", json!(0)),
        ("clients", json!(3)),
        ("threads", json!(2)),
        ("test_time", json!(0)),
        ("ratio", json!("2:3")),
        ("pipeline", json!(4)),
        ("data_size", json!(32)),
        ("key_prefix", json!("p:")),
        ("key_minimum", json!(2)),
        ("key_maximum", json!(90)),
        ("key_pattern", json!("G:Z")),
        ("key_stddev", json!(3)),
        ("key_median", json!(50)),
        ("key_zipf_exp", json!(1.25)),
        ("reconnect_interval", json!(50)),
        ("connection_timeout", json!(7)),
        ("thread_conn_start_min_jitter_micros", json!(10)),
        ("thread_conn_start_max_jitter_micros", json!(20)),
        ("select-db", json!(6)),
        ("print-all-runs", json!("false")),
    ];
    expect(&document["configuration"], &expected);
    assert!(!document.to_string().contains("top-secret"));
}

#[test]
fn the_settings_are_told_in_full() {
    let server = Scripted::answering("+OK\r\n");
    let connections = ["-t", "1", "-c", "3", "--pipeline", "4", "--lockstep", "-n", "5", "--connect-timeout", "7"];
    let first = ["--command", "SET __key__ __data__", "--command-ratio", "2", "--command-key-pattern", "P"];
    let second = ["--command", "GET __key__", "--command-key-pattern", "Z"];
    let more = ["--reply-timeout", "2.5", "--seed", "77", "-a", "bob:x", "-P", "resp2", "--select-db", "1", "-R"];
    let data = ["--data-size-list", "10:1,300:1,20:2"];
    let document = load(&server, &[&connections[..], &first, &second, &more, &data].concat());
    let settings = &document["lab"]["settings"];
    let expected = [
        ("endpoint", json!(format!("tcp://127.0.0.1:{}", server.port()))),
        ("user", json!("bob")),
        ("authenticated", json!(true)),
        ("protocol", json!("resp2")),
        ("database", json!(1)),
        ("tls", json!(false)),
        ("cluster", json!(false)),
        ("threads", json!(1)),
        ("clients", json!(3)),
        ("connections", json!(3)),
        ("listeners", json!(0)),
        ("pipeline", json!(4)),
        ("lockstep", json!(true)),
        ("key_prefix", json!("memtier-")),
        ("key_minimum", json!(0)),
        ("key_maximum", json!(10_000_000)),
        ("data_size", json!(300)),
        ("random_data", json!(true)),
        ("seed", json!(77)),
        ("one_stream", json!(false)),
        ("cpus", json!([])),
        ("connect_timeout_seconds", json!(7)),
        ("reply_timeout_seconds", json!(2.5)),
    ];
    expect(settings, &expected);
    let commands = json!([
        {"line": "SET __key__ __data__", "name": "SET", "keys": 1, "ratio": 2, "key_pattern": "P"},
        {"line": "GET __key__", "name": "GET", "keys": 1, "ratio": 1, "key_pattern": "Z"},
    ]);
    assert_eq!(settings["commands"], commands);
    assert_eq!(document["lab"]["schema"], "zerolap.load/2");
    assert_eq!(document["lab"]["policy"], "lab");
}

#[test]
fn numbers_beyond_a_doubles_precision_are_told_exactly() {
    let server = Scripted::answering("+OK\r\n");
    let keys = ["--key-minimum", "9007199254740993", "--key-maximum", "18446744073709551614"];
    let shape = ["-t", "1", "-c", "1", "-n", "1", "--command", "GET __key__"];
    let document = load(&server, &[&shape[..], &keys].concat());
    for (record, name) in [("configuration", "key_minimum"), ("lab", "key_minimum")] {
        let record = if record == "lab" { &document["lab"]["settings"] } else { &document[record] };
        assert_eq!(record[name].as_u64(), Some(9_007_199_254_740_993));
        assert_eq!(record["key_maximum"].as_u64(), Some(18_446_744_073_709_551_614));
    }
}
