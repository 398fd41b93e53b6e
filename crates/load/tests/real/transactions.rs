//! Transactions at redis-servers of the PATH, where there are any: alone and in a cluster.

use serde_json::{Value, json};

use crate::support::cluster::Cluster;
use crate::support::program::run;
use crate::support::{Real, commands};

/// Runs against a cluster known by its first node; returns the document.
fn load(cluster: &Cluster, arguments: &[&str]) -> Value {
    let port = cluster.port(0).to_string();
    let server = ["-s", "127.0.0.1", "-p", &port, "--cluster-mode", "--json-out-file", "-"];
    run(&[&server[..], arguments].concat()).document()
}

fn calls(cluster: &Cluster, command: &str) -> Vec<u64> {
    cluster.nodes.iter().map(|node| node.calls(command)).collect()
}

#[test]
fn commands_without_a_key_go_to_the_node_of_their_transaction() {
    let Some(cluster) = Cluster::start() else { return };
    let lines = commands(&[
        "WATCH __key__",
        "MULTI",
        "PING",
        "SET {counted}a 1",
        "INCR {counted}b",
        "EXEC",
        "MULTI",
        "PING",
        "INCR __key__",
        "EXEC",
        "UNWATCH",
    ]);
    let keys = ["--key-prefix", "k", "--key-minimum", "1", "--key-maximum", "999"];
    for shape in [["-c", "2", "--pipeline", "1"], ["-c", "3", "--pipeline", "9"]] {
        // The watched key is on any node, and {counted} on one: those on others are refused.
        let document = load(&cluster, &[&["-t", "2", "-n", "1100"][..], &shape, &lines, &keys].concat());
        let errors = document["errors"].as_object().expect("errors");
        assert!(errors.keys().all(|code| ["MOVED", "EXECABORT"].contains(&code.as_str())), "{errors:?}");
        assert_eq!(document["moved"], Value::Null, "within transactions nothing is sent again");
        let counts = &document["transactions"];
        assert!(counts["executed"].as_u64().is_some_and(|executed| executed > 200), "{counts}");
        // Another connection may write a watched key in the meantime: such a transaction is not executed.
        assert_eq!(counts["empty"], 0, "{counts}");
        assert!(document["warnings"].to_string().contains("transactions were refused"), "{}", document["warnings"]);
    }
    let executed: u64 = calls(&cluster, "exec").iter().sum();
    assert!(calls(&cluster, "incr").iter().all(|calls| *calls > 0) && executed > 0);
}

#[test]
fn a_transaction_of_one_key_is_executed_on_its_node() {
    let Some(cluster) = Cluster::start() else { return };
    let lines = commands(&["WATCH {__key__}", "GET {__key__}", "MULTI", "INCR {__key__}", "EXEC"]);
    let keys = ["--key-prefix", "", "--key-minimum", "1", "--key-maximum", "1"];
    let document = load(&cluster, &[&["-t", "1", "-c", "1", "-n", "500"][..], &lines, &keys].concat());
    assert_eq!((&document["errors"], &document["succeeded"]), (&json!({}), &json!(500)));
    assert_eq!(document["transactions"]["executed"], 100);
    assert_eq!(document["nodes"].as_array().map(Vec::len), Some(1), "{}", document["nodes"]);

    // Keys of all nodes: MULTI waits for the first key.
    let lines = commands(&["MULTI", "INCR __key__", "EXEC"]);
    let keys = ["--key-prefix", "k", "--key-minimum", "1", "--key-maximum", "999"];
    let document =
        load(&cluster, &[&["-t", "2", "-c", "3", "-n", "900", "--pipeline", "5"][..], &lines, &keys].concat());
    assert_eq!((&document["errors"], &document["succeeded"]), (&json!({}), &json!(5400)));
    assert_eq!((&document["transactions"]["executed"], &document["warnings"]), (&json!(1800), &json!([])));
    assert_eq!(document["nodes"].as_array().map(Vec::len), Some(3));
}

#[test]
fn commands_without_any_key_are_named_and_keys_are_where_the_server_says() {
    let Some(cluster) = Cluster::start() else { return };
    let lines = commands(&["EVAL \"return 1\" 0", "EVAL \"return KEYS[1]\" 1 c", "OBJECT ENCODING c", "PING"]);
    let document = load(&cluster, &[&["-t", "1", "-c", "1", "-n", "40"][..], &lines].concat());
    assert_eq!((&document["errors"], &document["moved"]), (&json!({}), &Value::Null));
    let warnings = document["warnings"].as_array().expect("warnings");
    assert_eq!(warnings.iter().filter(|warning| warning.to_string().contains("has no key")).count(), 2, "{warnings:?}");
}

#[test]
fn what_exec_is_answered_with_is_counted() {
    let Some(server) = Real::start(&[]) else { return };
    server.call(&["SET", "text", "x"]);
    let failing = commands(&["MULTI", "LPUSH text a", "INCR text", "EXEC"]);
    let document = server.load(&[&["-t", "1", "-c", "1", "-n", "40"][..], &failing].concat());
    assert_eq!(document["errors"], json!({"WRONGTYPE": 20}));
    assert_eq!(document["error_elements"], 20);
    assert_eq!(document["transactions"]["failed_commands"], 20);
    let changed = commands(&["WATCH key", "INCR key", "MULTI", "PING", "EXEC"]);
    let document = server.load(&[&["-t", "1", "-c", "1", "-n", "50"][..], &changed].concat());
    assert_eq!(document["transactions"]["unexecuted"], 10);
    let finished = server.run(&[&["-t", "1", "-c", "1", "-n", "50"][..], &commands(&["MULTI", "EXEC"])].concat());
    assert!(finished.stderr.contains("no --command is between MULTI and EXEC"), "{}", finished.stderr);
    assert!(finished.stderr.contains("25 of 25 transactions had no commands"), "{}", finished.stderr);
}

#[test]
fn a_lost_connection_leaves_no_part_of_a_transaction() {
    let Some(server) = Real::start(&[]) else { return };
    let lines = commands(&["MULTI", "INCR a", "INCR b", "EXEC"]);
    let shape = ["-t", "1", "-c", "2", "-n", "402", "--pipeline", "3", "--reconnect-interval", "6"];
    let document = server.load(&[&shape[..], &lines].concat());
    assert_eq!(document["errors"], json!({}));
    assert_eq!(server.call(&["GET", "a"]), server.call(&["GET", "b"]));
}

#[test]
fn reads_within_a_transaction_do_not_go_to_replicas() {
    let Some(primary) = Real::start_on_ports(|[port, _]| vec!["--port".to_owned(), port.to_string()]) else { return };
    let port = primary.ports[0].to_string();
    let replica = Real::start_on_ports(|[own, _]| {
        let own = own.to_string();
        ["--port", &own, "--replicaof", "127.0.0.1", &port].map(str::to_owned).to_vec()
    });
    let Some(replica) = replica else { return };
    // ROLE names a replica once it is online, as the load generator needs it; INFO counts it before.
    while !primary.call(&["ROLE"]).contains(&replica.ports[0].to_string())
        || replica.figure("replication", "master_link_status").as_deref() != Some("up")
    {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let server = ["-s", "127.0.0.1", "-p", &port, "--replica-reads", "--json-out-file", "-", "-t", "1", "-c", "2"];
    let lines = commands(&["GET a", "MULTI", "GET a", "INCR a", "EXEC"]);
    let document = run(&[&server[..], &["-n", "50"], &lines].concat()).document();
    assert_eq!((&document["errors"], &document["transactions"]["executed"]), (&json!({}), &json!(20)));
    assert_eq!((replica.calls("get"), primary.calls("get")), (20, 20));
}
