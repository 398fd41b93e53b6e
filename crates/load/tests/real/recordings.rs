//! What was recorded is sent again to the redis-server of the PATH, where there is one.

use serde_json::{Value, json};

use crate::support::Real;
use crate::support::program::Finished;

/// Replays a recording over some connections.
fn replay(server: &Real, name: &str, recording: &str, arguments: &[&str]) -> Finished {
    let file = std::env::temp_dir().join(format!("zerolap-recording-{}-{name}", std::process::id()));
    std::fs::write(&file, recording).expect("a file");
    let path = file.display().to_string();
    let finished =
        server.run(&[&["--monitor-input", path.as_str(), "--command", "__monitor_line@__"][..], arguments].concat());
    // Whatever is left is in a temporary directory.
    let _ = std::fs::remove_file(&file);
    finished
}

/// Keys in a database.
fn keys(server: &Real, database: &str) -> String {
    let mut client = server.client();
    client.call(&["SELECT", database]);
    client.call(&["DBSIZE"])
}

const DATABASES: &str = concat!(
    "1.000001 [3 127.0.0.1:5000] \"SET\" \"in three\" \"x\"\n",
    "1.000002 [0 [::1]:5001] \"SET\" \"in zero\" \"x\"\n",
    "1.000003 [5 unix:/run/a b.sock] \"SELECT\" \"5\"\n",
    "1.000004 [5 unix:/run/a b.sock] \"SET\" \"in five\" \"x\"\n",
    "1.000005 [3 lua] \"GET\" \"in three\"\n",
);

#[test]
fn each_command_is_sent_in_the_database_of_its_recording() {
    let Some(server) = Real::start(&[]) else { return };
    for (name, shape) in [
        ("one", ["-t", "1", "-c", "1", "-n", "500", "--pipeline", "1"]),
        ("many", ["-t", "2", "-c", "5", "-n", "500", "--pipeline", "7"]),
        ("random", ["-t", "2", "-c", "3", "-n", "500", "--monitor-pattern", "R"]),
    ] {
        server.call(&["FLUSHALL"]);
        let document = replay(&server, name, DATABASES, &shape).document();
        assert_eq!((&document["errors"], &document["requests"]), (&json!({}), &document["succeeded"]));
        assert_eq!(["0", "3", "5", "1"].map(|database| keys(&server, database)), ["1", "1", "1", "0"], "{name}");
        assert!(document["selects"].as_u64().is_some_and(|selects| selects > 0), "{}", document["selects"]);
    }
}

#[test]
fn a_recording_of_one_database_needs_no_changes_and_another_one_can_be_given() {
    let Some(server) = Real::start(&[]) else { return };
    let recording = "1.0 [3 127.0.0.1:1] \"SET\" \"k\" \"x\"\n1.0 [3 127.0.0.1:1] \"GET\" \"k\"\n";
    let document = replay(&server, "single", recording, &["-n", "10"]).document();
    assert_eq!((&document["settings"]["database"], &document["selects"]), (&json!(3), &Value::Null));
    assert_eq!((keys(&server, "3"), keys(&server, "0")), ("1".to_owned(), "0".to_owned()));
    let document = replay(&server, "given", recording, &["-n", "10", "--select-db", "2"]).document();
    assert_eq!((keys(&server, "2"), keys(&server, "0")), ("1".to_owned(), "0".to_owned()));
    assert!(document["warnings"].to_string().contains("recorded in the databases 3"), "{}", document["warnings"]);
}

#[test]
fn a_server_that_lacks_a_recorded_database_is_noticed_before_anything_is_sent() {
    let Some(server) = Real::start(&["--databases", "4"]) else { return };
    let finished = replay(&server, "lacking", DATABASES, &["-n", "10"]);
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
    assert!(finished.stderr.contains("refused SELECT: ERR DB index is out of range"), "{}", finished.stderr);
    assert_eq!(server.calls("set"), 0);
}

/// Two clients whose transactions overlap, as MONITOR writes them, and pieces of others.
const TRANSACTIONS: &str = concat!(
    "1.01 [0 127.0.0.1:1] \"EXEC\"\n",
    "1.02 [0 127.0.0.1:1] \"MULTI\"\n",
    "1.03 [0 127.0.0.1:2] \"WATCH\" \"seen\"\n",
    "1.04 [0 127.0.0.1:2] \"MULTI\"\n",
    "1.05 [0 127.0.0.1:3] \"INCR\" \"single\"\n",
    "1.06 [0 127.0.0.1:1] \"INCR\" \"first\"\n",
    "1.07 [0 127.0.0.1:1] \"INCR\" \"second\"\n",
    "1.08 [0 127.0.0.1:1] \"EXEC\"\n",
    "1.09 [0 127.0.0.1:2] \"INCR\" \"third\"\n",
    "1.10 [0 127.0.0.1:2] \"EXEC\"\n",
    "1.11 [0 127.0.0.1:3] \"MULTI\"\n",
);

#[test]
fn recorded_transactions_are_sent_whole_on_one_connection() {
    let Some(server) = Real::start(&[]) else { return };
    // 9 of the 11 lines are sent: 900 times a round of them.
    let shape = ["-t", "1", "-c", "6", "-n", "1350", "--pipeline", "4"];
    let document = replay(&server, "transactions", TRANSACTIONS, &shape).document();
    assert_eq!((&document["errors"], &document["succeeded"]), (&json!({}), &json!(8100)));
    let counts = ["first", "second", "third"].map(|key| server.call(&["GET", key]).parse::<u64>().expect("a number"));
    let executed = document["transactions"]["executed"].as_u64().expect("a count");
    // A transaction may be cut where a connection has sent all that it has to.
    assert!(executed >= 1790 && counts == [counts[0], counts[0], executed - counts[0]], "{executed} {counts:?}");
    assert!(document["warnings"].to_string().contains("2 of its commands"), "{}", document["warnings"]);
}
