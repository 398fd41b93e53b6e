//! What is reported of each node.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::load_cluster;
use crate::support::scripted::Scripted;
use crate::support::scripted::cluster::{commands, even, start};

/// The figures of each node, by its port.
fn by_port(document: &Value) -> BTreeMap<String, Value> {
    let nodes = document["lab"]["nodes"].as_array().expect("nodes");
    let port =
        |node: &Value| node["endpoint"].as_str().and_then(|name| name.rsplit(':').next()).expect("a port").to_owned();
    let figures: BTreeMap<String, Value> = nodes.iter().map(|node| (port(node), node.clone())).collect();
    assert_eq!(figures.len(), nodes.len(), "each node is reported once");
    figures
}

#[test]
fn each_node_has_its_own_counts_and_latencies() {
    let nodes = start(even(3), |_, node, _| match node {
        0 => "$-1\r\n".to_owned(),
        1 => "-OOM no room\r\n".to_owned(),
        _ => {
            thread::sleep(Duration::from_millis(10));
            "$1\r\nx\r\n".to_owned()
        }
    });
    let document = load_cluster(&nodes, &["-t", "2", "-c", "1", "-n", "60", "--command", "GET __key__"]);
    let figures = by_port(&document);
    assert_eq!(figures.len(), 3);
    let [nil, error, slow] = [0, 1, 2].map(|node: usize| &figures[&nodes[node].port()]);
    for (figure, node) in [nil, error, slow].into_iter().zip(&nodes) {
        assert_eq!(figure["requests"], commands(node).len());
        assert_eq!(figure["endpoint"], format!("tcp://127.0.0.1:{}", node.port()));
    }
    assert_eq!(nil["nils"], commands(&nodes[0]).len());
    assert_eq!((&error["succeeded"], &error["errors"]), (&0.into(), &json!({"OOM": commands(&nodes[1]).len()})));
    assert_eq!(slow["hits"], commands(&nodes[2]).len());
    let median = |figure: &Value| figure["latency_us"]["p50"].as_f64().expect("a number");
    assert!(median(slow) >= 10_000.0, "{}", median(slow));
    let sum: u64 = figures.values().filter_map(|figure| figure["requests"].as_u64()).sum();
    assert_eq!(document["lab"]["requests"], sum);
}

#[test]
fn without_a_cluster_no_nodes_are_reported() {
    let server = Scripted::answering("+OK\r\n");
    let document = crate::support::load(&server, &["-t", "1", "-c", "1", "-n", "2", "--command", "PING"]);
    assert_eq!(document["lab"].get("nodes"), None);
    assert_eq!(document["ALL STATS"]["Totals"].get("MOVED/sec"), None);
}

#[test]
fn redirections_are_told_of_the_nodes_that_answered_with_them() {
    let nodes = start(even(2), |map, node, request| match node {
        0 => map.redirect("ASK", &request[1], 1),
        _ => "+OK\r\n".to_owned(),
    });
    let document = load_cluster(&nodes, &["-t", "1", "-c", "1", "-n", "40", "--command", "GET __key__"]);
    let figures = by_port(&document);
    let asked = document["lab"]["asked"].as_u64().expect("a count");
    assert!(asked > 0);
    assert_eq!(figures[&nodes[1].port()]["requests"], 40);
    let asked_of_node = figures.get(&nodes[0].port()).and_then(|figure| figure["asked"].as_u64());
    assert_eq!(asked_of_node, Some(asked));
}
