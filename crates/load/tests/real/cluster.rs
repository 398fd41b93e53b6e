//! A cluster of redis-servers of the PATH, where there are any.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::cluster::Cluster;
use crate::support::program::{Running, Session, run};
use crate::support::{Real, commands, partial_document};

/// Runs against a cluster known by its first node; returns the document.
fn load(cluster: &Cluster, arguments: &[&str]) -> Value {
    let port = cluster.port(0).to_string();
    let server = ["-s", "127.0.0.1", "-p", &port, "--cluster-mode", "--json-out-file", "-"];
    run(&[&server[..], arguments].concat()).document()
}

/// What the document reports of a node.
fn record<'a>(document: &'a Value, node: &Real) -> &'a Value {
    let name = format!("tcp://127.0.0.1:{}", node.ports[0]);
    let nodes = document["nodes"].as_array().expect("nodes");
    nodes.iter().find(|record| record["endpoint"] == *name).unwrap_or_else(|| panic!("no {name} in {nodes:?}"))
}

fn count(record: &Value, name: &str) -> u64 {
    record[name].as_u64().unwrap_or(0)
}

fn keys_of(node: &Real) -> u64 {
    node.call(&["DBSIZE"]).parse().expect("a number")
}

#[test]
fn a_data_set_is_loaded_exactly_and_read_without_misses() {
    let Some(cluster) = Cluster::start() else { return };
    let keys = ["--key-prefix", "", "--key-minimum", "1", "--key-maximum", "10007"];
    let set = ["--command", "SET __key__ __data__", "--command-key-pattern", "P"];
    let loaded =
        load(&cluster, &[&["-t", "2", "-c", "4", "-n", "allkeys", "--pipeline", "20"][..], &keys, &set].concat());
    assert_eq!((&loaded["requests"], &loaded["succeeded"]), (&json!(10_007), &json!(10_007)));
    assert_eq!(cluster.nodes.iter().map(keys_of).sum::<u64>(), 10_007);
    for node in &cluster.nodes {
        assert_eq!(count(record(&loaded, node), "requests"), node.calls("set"));
        assert_eq!(node.calls("set"), keys_of(node));
    }

    let read = load(&cluster, &[&["-t", "2", "-c", "3", "-n", "1000", "--command", "GET __key__"][..], &keys].concat());
    assert_eq!((&read["hits"], &read["nils"], &read["moved"]), (&json!(6000), &json!(0), &json!(null)));
    for name in ["requests", "succeeded", "hits"] {
        let sum: u64 = cluster.nodes.iter().map(|node| count(record(&read, node), name)).sum();
        assert_eq!(sum, 6000, "{name}");
    }
    for node in &cluster.nodes {
        assert_eq!(count(record(&read, node), "requests"), node.calls("get"));
        assert!(node.calls("get") > 1000, "a third of 6000, more or less");
    }
}

#[test]
fn a_command_with_a_fixed_key_goes_to_the_node_that_has_it() {
    let Some(cluster) = Cluster::start() else { return };
    let fixed = ["INCR a", "INCR b", "INCR c", "INCR {a}d", "MSET {b}x 1 {b}y 2", "EVAL \"return KEYS[1]\" 1 c"];
    let document = load(&cluster, &[&["-t", "2", "-c", "2", "-n", "120"][..], &commands(&fixed)].concat());
    assert_eq!((&document["succeeded"], &document["errors"]), (&json!(480), &json!({})));
    let calls = |name: &str| cluster.nodes.iter().map(|node| node.calls(name)).sum::<u64>();
    assert_eq!((calls("incr"), calls("mset"), calls("eval")), (320, 80, 80));
    // Where a command's key is not its first argument, one redirection for each thread, or a few in flight, teach it.
    assert!(count(&document, "moved") <= 4, "{}", document["moved"]);
}

#[test]
fn any_node_tells_of_all_others() {
    let Some(cluster) = Cluster::start() else { return };
    for node in 0..3 {
        let port = cluster.port(node).to_string();
        let server = ["-s", "localhost", "-4", "-p", &port, "--cluster-mode", "--json-out-file", "-"];
        let arguments = ["-t", "1", "-c", "1", "-n", "300", "--command", "SET __key__ x", "--command-key-pattern", "S"];
        let document = run(&[&server[..], &arguments].concat()).document();
        assert_eq!((&document["succeeded"], &document["moved"]), (&json!(300), &json!(null)));
        assert_eq!(document["nodes"].as_array().map(Vec::len), Some(3), "{}", document["nodes"]);
    }
}

#[test]
fn keys_of_two_nodes_in_one_command_are_the_servers_error() {
    let Some(cluster) = Cluster::start() else { return };
    let document = load(&cluster, &["-t", "1", "-c", "2", "-n", "50", "--command", "MGET a b"]);
    assert_eq!(document["errors"], json!({"CROSSSLOT": 100}));
}

/// The slot of `{tag}`, and the node that has it at the beginning.
const TAG_SLOT: u32 = 8338;
const TAG_NODE: usize = 1;

#[test]
fn moved_keys_are_asked_for_and_a_moved_slot_is_learned() {
    let Some(cluster) = Cluster::start() else { return };
    assert_eq!(cluster.nodes[0].call(&["CLUSTER", "KEYSLOT", "{tag}1"]), TAG_SLOT.to_string());
    let port = cluster.port(0).to_string();
    let server = ["-s", "127.0.0.1", "-p", &port, "--cluster-mode", "-t", "1", "-c", "1", "--pipeline", "4"];
    let keys = ["--key-prefix", "{tag}", "--key-minimum", "1", "--key-maximum", "100"];
    let command = ["--command", "INCR __key__", "--command-key-pattern", "S"];
    let (mut session, _) = Session::start(&[&server[..], &keys, &command].concat());
    let mut slice = || {
        let event = session.slice(100);
        assert_eq!((&event["succeeded"], &event["errors"]), (&json!(100), &json!({})), "{event}");
        (count(&event, "asked"), count(&event, "moved"))
    };
    assert_eq!(slice(), (0, 0));
    cluster.begin_move(TAG_SLOT, TAG_NODE, 2);
    assert_eq!(slice(), (0, 0), "all keys are still there");
    assert_eq!(cluster.move_keys(TAG_SLOT, TAG_NODE, 2, 30), 30);
    assert_eq!(slice(), (30, 0));
    assert_eq!(cluster.move_keys(TAG_SLOT, TAG_NODE, 2, 100), 70);
    assert_eq!(slice(), (100, 0));
    cluster.end_move(TAG_SLOT, TAG_NODE, 2);
    let (asked, moved) = slice();
    assert!(asked == 0 && (1..=12).contains(&moved), "those in flight at the first: {moved}");
    assert_eq!(slice(), (0, 0));
    assert_eq!(session.finish(), Some(0));

    let mut client = cluster.nodes[2].client();
    let values: Vec<String> = (1..=100).map(|key| client.call(&["GET", &format!("{{tag}}{key}")])).collect();
    assert_eq!(values, ["6"; 100], "each slice counted each key once");
}

#[test]
fn a_node_that_was_of_no_use_before_is_connected_to_when_it_gets_a_slot() {
    let Some(cluster) = Cluster::with_spares(1) else { return };
    let port = cluster.port(0).to_string();
    let server = ["-s", "127.0.0.1", "-p", &port, "--cluster-mode", "-t", "1", "-c", "2", "--pipeline", "4"];
    let keys = ["--key-prefix", "{tag}", "--key-minimum", "1", "--key-maximum", "100"];
    let command = ["--command", "INCR __key__", "--command-key-pattern", "P"];
    let (mut session, _) = Session::start(&[&server[..], &keys, &command].concat());
    let mut slice = || {
        let event = session.slice(100);
        assert_eq!((&event["succeeded"], &event["errors"]), (&json!(100), &json!({})), "{event}");
        (count(&event, "asked"), count(&event, "moved"))
    };
    assert_eq!(slice(), (0, 0));
    assert_eq!(cluster.nodes[3].figure("clients", "connected_clients").as_deref(), Some("1"), "the one that asks");
    cluster.begin_move(TAG_SLOT, TAG_NODE, 3);
    assert_eq!(cluster.move_keys(TAG_SLOT, TAG_NODE, 3, 40), 40);
    assert_eq!(slice(), (40, 0));
    assert_eq!(cluster.move_keys(TAG_SLOT, TAG_NODE, 3, 100), 60);
    cluster.end_move(TAG_SLOT, TAG_NODE, 3);
    let (asked, moved) = slice();
    assert!(asked == 0 && (1..=24).contains(&moved), "those in flight at the first: {moved}");
    assert_eq!(slice(), (0, 0));
    assert_eq!(session.finish(), Some(0));
    assert_eq!(cluster.nodes[3].calls("incr"), 240);
    assert_eq!(cluster.nodes[3].calls("asking"), 40);
}

#[test]
fn requests_that_are_redirected_together_keep_their_order() {
    let Some(cluster) = Cluster::start() else { return };
    let port = cluster.port(0).to_string();
    let server = ["-s", "127.0.0.1", "-p", &port, "--cluster-mode", "-t", "1", "-c", "1", "--pipeline", "4"];
    let lines = commands(&["RPUSH {tag} a", "RPUSH {tag} b", "RPUSH {tag} c", "RPUSH {tag} d"]);
    let (mut session, _) = Session::start(&[&server[..], &lines].concat());
    session.slice(4);
    cluster.begin_move(TAG_SLOT, TAG_NODE, 2);
    assert_eq!(cluster.move_keys(TAG_SLOT, TAG_NODE, 2, 1), 1);
    let asked = session.slice(4);
    assert_eq!((&asked["asked"], &asked["succeeded"]), (&json!(4), &json!(4)));
    cluster.end_move(TAG_SLOT, TAG_NODE, 2);
    let moved = session.slice(4);
    assert_eq!((&moved["moved"], &moved["succeeded"]), (&json!(4), &json!(4)));
    let list = cluster.nodes[2].call(&["LRANGE", "{tag}", "0", "-1"]);
    assert_eq!(list.replace('\n', ""), "abcdabcdabcd");
}

#[test]
fn connections_to_a_node_that_break_are_made_anew() {
    let Some(cluster) = Cluster::start() else { return };
    let port = cluster.port(0).to_string();
    let server = ["-s", "127.0.0.1", "-p", &port, "--cluster-mode", "--json-out-file", "-", "--reconnect-on-error"];
    let shape = ["-t", "2", "-c", "3", "--pipeline", "5", "-n", "10000", "--command", "SET __key__ x"];
    let words: Vec<String> = [&server[..], &shape].concat().iter().map(|&word| word.to_owned()).collect();
    let node = &cluster.nodes[1];
    let kill = || node.call(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
    // Until it is told to, it carries out nothing, and no connection gets beyond its pipeline.
    assert_eq!(node.ask("CLIENT PAUSE 3600000 WRITE"), "+OK");
    let running = thread::spawn(move || run(&words.iter().map(String::as_str).collect::<Vec<&str>>()));
    while node.call(&["CLIENT", "LIST"]).matches("cmd=set").count() < 6 {
        thread::sleep(Duration::from_millis(5));
    }
    kill();
    assert_eq!(node.ask("CLIENT UNPAUSE"), "+OK");
    for calls in [2000, 4000] {
        node.wait_for_calls("set", calls);
        kill();
    }
    let document = running.join().expect("it ends").document();
    assert_eq!(document["errors"], json!({}));
    assert_eq!(count(&document, "succeeded") + count(&document, "disconnected"), 60_000);
    let disconnects = count(&document["connections"], "disconnects");
    assert!((6..=18).contains(&disconnects), "of 6 connections to that node: {disconnects}");
    for (index, node) in cluster.nodes.iter().enumerate() {
        let lost = count(record(&document, node), "requests").abs_diff(node.calls("set"));
        assert!(lost <= if index == 1 { count(&document, "disconnected") } else { 0 }, "{index}: {lost}");
    }
}

#[test]
fn a_slot_that_moves_during_a_run_costs_no_request() {
    let Some(cluster) = Cluster::start() else { return };
    let port = cluster.port(2).to_string();
    let server = ["-s", "127.0.0.1", "-p", &port, "--cluster-mode", "--json-out-file", "-"];
    let shape = ["-t", "2", "-c", "3", "--pipeline", "5", "--test-time", "3600"];
    let keys = ["--key-prefix", "{tag}", "--key-minimum", "1", "--key-maximum", "200", "--command", "INCR __key__"];
    let running = Running::start(&[&server[..], &shape, &keys].concat());

    cluster.nodes[TAG_NODE].wait_for_calls("incr", 5000);
    cluster.begin_move(TAG_SLOT, TAG_NODE, 0);
    let mut moved_keys = 0;
    while let count @ 1.. = cluster.move_keys(TAG_SLOT, TAG_NODE, 0, 10) {
        moved_keys += count;
        thread::sleep(Duration::from_millis(10));
    }
    cluster.end_move(TAG_SLOT, TAG_NODE, 0);
    let before = cluster.nodes[0].calls("incr");
    cluster.nodes[0].wait_for_calls("incr", before + 1000);
    running.interrupt();
    let finished = running.finish();
    assert_eq!(finished.code, Some(130), "{}", finished.stderr);

    let document = partial_document(&finished);
    assert_eq!(moved_keys, 200);
    assert_eq!((&document["errors"], &document["disconnected"]), (&json!({}), &json!(0)));
    assert_eq!(document["requests"], document["succeeded"]);
    assert!(count(&document, "asked") > 0 && count(&document, "moved") > 0, "{document}");
    let mut client = cluster.nodes[0].client();
    let values = (1..=200).map(|key| client.call(&["GET", &format!("{{tag}}{key}")]).parse::<u64>().expect("a count"));
    assert_eq!(document["requests"], values.sum::<u64>(), "each request was carried out once");
    for node in &cluster.nodes[..2] {
        assert_eq!(count(record(&document, node), "requests"), node.calls("incr"));
    }
}

#[test]
fn a_node_that_dies_ends_the_run_with_4() {
    let Some(mut cluster) = Cluster::start() else { return };
    let port = cluster.port(0).to_string();
    let words = ["-s", "127.0.0.1", "-p", &port, "--cluster-mode", "-t", "2", "-c", "2", "--test-time", "3600"];
    let words: Vec<String> = words.iter().chain(&["--command", "SET __key__ x"]).map(|&word| word.to_owned()).collect();
    let running = thread::spawn(move || run(&words.iter().map(String::as_str).collect::<Vec<&str>>()));
    cluster.nodes[2].wait_for_calls("set", 1000);
    cluster.nodes[2].kill();
    let finished = running.join().expect("it ends");
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
    assert!(finished.stderr.contains(&cluster.port(2).to_string()), "which one: {}", finished.stderr);
}

#[test]
fn a_server_that_is_no_cluster_is_noticed() {
    let Some(server) = Real::start_on_ports(|[port, _]| vec!["--port".to_owned(), port.to_string()]) else { return };
    let port = server.ports[0].to_string();
    let finished = run(&["-s", "127.0.0.1", "-p", &port, "--cluster-mode", "-t", "1", "-c", "1", "-n", "1"]);
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
    assert!(finished.stderr.contains("does not report which node has which slot: ERR"), "{}", finished.stderr);
}
