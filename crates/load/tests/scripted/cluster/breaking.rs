//! Nodes that break connections.

use serde_json::{Value, json};

use super::load_cluster;
use crate::support::program::run;
use crate::support::scripted::Scripted;
use crate::support::scripted::cluster::{commands, even, start_with};

/// Two nodes; the first connection for requests to the second one ends after ten replies, with a request unanswered.
fn breaking() -> Vec<Scripted> {
    start_with(even(2), |map, node, peer| {
        let limit = if node == 1 && peer.connection() == 0 { 10 } else { usize::MAX };
        let mut answered = 0;
        while let Some(request) = peer.request() {
            let reply = if request[0] == "CLUSTER" { map.reply() } else { "+OK\r\n".to_owned() };
            if answered == limit || !peer.send(reply.as_bytes()) {
                return;
            }
            answered += 1;
        }
    })
}

const SHAPE: [&str; 8] = ["-t", "1", "-c", "1", "-n", "80", "--command", "GET __key__"];

fn disconnected(nodes: &[Scripted], document: &Value) -> Value {
    let records = document["lab"]["nodes"].as_array().expect("nodes");
    let port = nodes[1].port();
    let node = records.iter().find(|node| node["endpoint"].as_str().is_some_and(|endpoint| endpoint.ends_with(&port)));
    node.expect("the node")["disconnected"].clone()
}

#[test]
fn a_connection_to_one_node_is_made_anew_and_the_run_goes_on() {
    let nodes = breaking();
    let document = load_cluster(&nodes, &[&SHAPE[..], &["--reconnect-on-error"]].concat());
    let lab = &document["lab"];
    assert_eq!((&lab["requests"], &lab["disconnected"]), (&79.into(), &1.into()));
    assert_eq!(lab["connections"], json!({"disconnects": 1, "timeouts": 0, "reconnects": 1}));
    assert_eq!(commands(&nodes[0]).len() + commands(&nodes[1]).len(), 80);
    assert_eq!(nodes[1].connections().len(), 2);
}

#[test]
fn requests_lost_with_a_connection_are_told_of_its_node() {
    let nodes = breaking();
    let document = load_cluster(&nodes, &[&SHAPE[..], &["--reconnect-on-error"]].concat());
    assert_eq!(disconnected(&nodes, &document), 1);
}

#[test]
fn otherwise_the_run_ends_with_the_nodes_name() {
    let nodes = breaking();
    let port = nodes[0].port();
    let finished = run(&[&["-s", "127.0.0.1", "-p", &port, "--cluster-mode"][..], &SHAPE].concat());
    assert_eq!(finished.code, Some(4));
    let name = format!("tcp://127.0.0.1:{}", nodes[1].port());
    assert!(finished.stderr.contains(&name), "{}", finished.stderr);
}
