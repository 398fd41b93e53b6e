//! Against the redis-server of the PATH, where there is one.

use serde_json::json;

use crate::support::Real;
use crate::support::program::{Session, run};

#[test]
fn a_data_set_is_loaded_exactly_and_read_without_misses() {
    let Some(server) = Real::start(&[]) else { return };
    let keys = ["--key-prefix", "", "--key-minimum", "1", "--key-maximum", "10007"];
    let set = ["--command", "SET __key__ __data__", "--command-key-pattern", "P"];
    let size = ["-t", "2", "-c", "4", "-n", "allkeys", "--pipeline", "20", "-d", "100"];
    let loaded = server.load(&[&size[..], &keys, &set].concat());
    assert_eq!((&loaded["requests"], &loaded["replies"]["status"]), (&json!(10007), &json!(10007)));
    assert_eq!(server.ask("DBSIZE"), ":10007");
    assert_eq!(server.ask("EXISTS 1 10007 0 10008"), ":2");
    assert_eq!(server.ask("STRLEN 10007"), ":100");

    let read = server.load(&[&["-t", "1", "-c", "3", "-n", "1000", "--command", "GET __key__"][..], &keys].concat());
    assert_eq!((&read["hits"], &read["nils"], &read["replies"]["bulk"]), (&json!(3000), &json!(0), &json!(3000)));
    assert_eq!(read["bytes_received"], 3000 * "$100\r\n\r\n".len() + 3000 * 100);
}

#[test]
fn replies_and_errors_are_the_servers() {
    let Some(server) = Real::start(&[]) else { return };
    let commands = [
        "SET string 1",
        "LPUSH string x",
        "LRANGE list 0 -1",
        "LPUSH list a b",
        "GET missing",
        "HGETALL missing",
        "NOSUCHCOMMAND",
        "SETRANGE binary 0 \"\\x00\\xff \\r\\n\"",
    ];
    let commands: Vec<&str> = commands.iter().flat_map(|line| ["--command", line]).collect();
    let document = server.load(&[&["-t", "1", "-c", "1", "-n", "16", "--pipeline", "8"], &commands[..]].concat());
    let expected = json!({"status": 2, "integer": 4, "bulk": 0, "nil": 2, "array": 4, "error": 4});
    assert_eq!(document["replies"], expected);
    assert_eq!(document["errors"], json!({"WRONGTYPE": 2, "ERR": 2}));
    assert_eq!((&document["empty_arrays"], &document["hits"]), (&json!(3), &json!(7)));
    assert_eq!(document["commands"][1]["errors"], json!({"WRONGTYPE": 2}));
    assert_eq!(server.ask("STRLEN binary"), ":5");
}

#[test]
fn integers_of_zero_are_counted() {
    let Some(server) = Real::start(&[]) else { return };
    assert_eq!(server.ask("SADD members key:1"), ":1");
    let shape = ["-t", "1", "-c", "1", "--key-prefix", "key:", "--key-minimum", "1", "--key-maximum", "10"];
    let commands = ["--command", "SISMEMBER members __key__", "--command-key-pattern", "S"];
    let document = server.load(&[&shape[..], &commands, &["-n", "100"]].concat());
    assert_eq!((&document["replies"]["integer"], &document["zeros"]), (&json!(100), &json!(90)));
    assert_eq!((&document["hits"], &document["misses"]), (&json!(10), &json!(90)));
}

#[test]
fn what_is_not_there_is_a_miss_by_the_rule_of_each_command() {
    let Some(server) = Real::start(&[]) else { return };
    let lines = [
        "MGET a b",
        "HMGET h f g",
        "ZMSCORE z a b",
        "GEOPOS g a",
        "SMISMEMBER s a b",
        "TTL a",
        "TYPE a",
        "STRLEN a",
        "HSCAN h 0",
    ];
    let commands: Vec<&str> = lines.iter().flat_map(|line| ["--command", line]).collect();
    let document = server.load(&[&["-t", "1", "-c", "1", "-n", "90"], &commands[..]].concat());
    assert_eq!((&document["hits"], &document["misses"]), (&json!(0), &json!(90)));
    let others = ["SADD s a", "HSET h f v", "SET k v NX", "EVAL \"return 1\" 0"];
    let commands: Vec<&str> = others.iter().flat_map(|line| ["--command", line]).collect();
    let document = server.load(&[&["-t", "1", "-c", "1", "-n", "40"], &commands[..]].concat());
    assert_eq!((&document["hits"], &document["misses"]), (&json!(40), &json!(0)));
    assert_eq!(document["commands"][0].get("look_ups"), None);
    assert_eq!(document["commands"][3]["look_ups"]["role"], "runs");
}

#[test]
fn slices_run_exactly_so_many_requests() {
    let Some(server) = Real::start(&[]) else { return };
    let socket = server.socket();
    let command = ["--command", "INCR counter", "--pipeline", "16", "--lockstep"];
    let (mut session, _) = Session::start(&[&["-S", &socket, "-t", "2", "-c", "3"][..], &command].concat());
    let mut total = 0;
    for requests in [10_000, 1, 17, 5000] {
        let event = session.slice(requests);
        total += requests;
        assert_eq!((&event["replies"]["integer"], &event["hits"]), (&requests.into(), &requests.into()));
        assert_eq!(server.ask("GETRANGE counter 0 -1"), format!("${}", total.to_string().len()));
        assert_eq!(server.ask("INCRBY counter 0"), format!(":{total}"));
    }
    assert_eq!(session.finish(), Some(0));
}

#[test]
fn passwords_are_needed_and_taken() {
    let Some(server) = Real::start(&["--requirepass", "right"]) else { return };
    let socket = server.socket();
    let with = |arguments: &[&str]| {
        let shape = ["-S", &socket, "-t", "1", "-c", "2", "-n", "5", "--command", "PING", "--json-out-file", "-"];
        run(&[&shape[..], arguments].concat())
    };
    assert_eq!(with(&["-a", "right"]).document()["succeeded"], 10);
    let wrong = with(&["-a", "wrong"]);
    assert_eq!(wrong.code, Some(4));
    assert!(wrong.stderr.contains("WRONGPASS"), "{}", wrong.stderr);
    let without = with(&[]).document();
    assert_eq!((&without["succeeded"], &without["errors"]), (&json!(0), &json!({"NOAUTH": 10})));
}

#[test]
fn resp3_replies_are_told_apart() {
    let Some(server) = Real::start(&[]) else { return };
    let commands = [
        "HELLO 3",
        "HSET hash f 1",
        "HGETALL hash",
        "SADD set a",
        "SMEMBERS set",
        "ZADD z 1.5 m",
        "ZSCORE z m",
        "GET missing",
    ];
    let commands: Vec<&str> = commands.iter().flat_map(|line| ["--command", line]).collect();
    let document = server.load(&[&["-t", "1", "-c", "1", "-n", "8"], &commands[..]].concat());
    let expected = json!({
        "status": 0, "integer": 3, "bulk": 0, "nil": 1, "array": 0, "error": 0, "map": 2, "set": 1, "double": 1,
    });
    assert_eq!(document["replies"], expected);
}
