//! Requests that only read go to replicas.

use std::ops::Range;

use serde_json::{Value, json};

use super::load_cluster;
use crate::support::load;
use crate::support::program::run;
use crate::support::scripted::cluster::{Map, even, start_with};
use crate::support::scripted::{Peer, Request, Scripted};

const PRIMARIES: usize = 2;
/// Replicas of each primary, by the number of the node.
const REPLICAS: [Range<usize>; PRIMARIES] = [2..4, 4..5];

/// Two primaries; the first has two replicas, the second one.
fn slots() -> Vec<Option<std::ops::RangeInclusive<usize>>> {
    even(PRIMARIES).into_iter().chain([None, None, None]).collect()
}

/// The reply to CLUSTER SLOTS, with these replicas.
fn slots_reply(map: &Map, replicas: &[Range<usize>]) -> String {
    let node = |port: u16| format!("*3\r\n$9\r\n127.0.0.1\r\n:{port}\r\n$2\r\nid\r\n");
    let range = |primary: usize| {
        let slots = map.slots[primary].as_ref().expect("slots");
        let nodes: String = replicas[primary].clone().map(|replica| node(map.ports[replica])).collect();
        let parts = 3 + replicas[primary].len();
        format!("*{parts}\r\n:{}\r\n:{}\r\n{}{nodes}", slots.start(), slots.end(), node(map.ports[primary]))
    };
    format!("*{PRIMARIES}\r\n{}{}", range(0), range(1))
}

/// The reply to COMMAND INFO: GET and OBJECT|FREQ only read, SET does not, anything else is not known.
pub fn command_info(request: &Request) -> String {
    let info = |name: &String| match name.as_str() {
        "GET" | "OBJECT|FREQ" => "*6\r\n$3\r\nget\r\n:2\r\n*2\r\n+readonly\r\n+fast\r\n:1\r\n:1\r\n:1\r\n",
        "SET" | "OBJECT" => "*6\r\n$3\r\nset\r\n:-3\r\n*2\r\n+write\r\n+denyoom\r\n:1\r\n:1\r\n:1\r\n",
        _ => "*-1\r\n",
    };
    let infos: String = request[2..].iter().map(info).collect();
    format!("*{}\r\n{infos}", request.len() - 2)
}

/// Starts the nodes; requests that are no questions are answered with what `reply` makes of them.
fn start(reply: impl Fn(&Map, usize, &Request) -> String + Send + Sync + 'static) -> Vec<Scripted> {
    start_with(slots(), move |map: &Map, node, peer: &mut Peer| {
        peer.serve(|request, _| match request[0].as_str() {
            "CLUSTER" => slots_reply(map, &REPLICAS),
            "COMMAND" => command_info(request),
            "READONLY" => "+OK\r\n".to_owned(),
            _ => reply(map, node, request),
        });
    })
}

/// The requests of a node without questions and preparations.
fn requests(node: &Scripted) -> Vec<Request> {
    let is_asked = |request: &Request| !["CLUSTER", "COMMAND", "READONLY", "ROLE"].contains(&request[0].as_str());
    node.requests().into_iter().filter(is_asked).collect()
}

/// Roles and counts of the nodes, in the order of `nodes`; nothing for one that is not reported.
fn roles_and_counts(document: &Value, nodes: &[Scripted]) -> Vec<Value> {
    let records = document["lab"]["nodes"].as_array().expect("nodes");
    let of = |node: &Scripted| {
        let name = format!("tcp://127.0.0.1:{}", node.port());
        let record = records.iter().find(|record| record["endpoint"] == *name);
        record.map_or(json!(null), |record| json!([record["role"], record["requests"]]))
    };
    nodes.iter().map(of).collect()
}

#[test]
fn reads_go_to_the_replicas_of_the_node_with_the_key_and_writes_to_itself() {
    let nodes = start(|_, _, _| "+OK\r\n".to_owned());
    let shape = ["-t", "2", "-c", "2", "-n", "100", "--ratio", "1:3", "--pipeline", "4", "--replica-reads"];
    let document = load_cluster(&nodes, &shape);
    let map = Map { ports: vec![0; nodes.len()], slots: slots() };
    let mut roles = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        let requests = requests(node);
        let is_replica = index >= PRIMARIES;
        for request in &requests {
            assert_eq!(request[0], if is_replica { "GET" } else { "SET" }, "node {index}");
            let owner = map.owner(&request[1]);
            assert!(if is_replica { REPLICAS[owner].contains(&index) } else { owner == index }, "node {index}");
        }
        roles.push(json!([if is_replica { "replica" } else { "primary" }, requests.len()]));
        assert!(requests.len() > 20, "node {index}: {}", requests.len());
        // The first node was asked before, over connections of their own.
        let of_clients = node.connections().into_iter().filter(|connection| connection[0][0] != "CLUSTER");
        for connection in of_clients.filter(|connection| connection[0][0] != "COMMAND") {
            assert_eq!(connection[0][0] == "READONLY", is_replica, "node {index}: {connection:?}");
        }
    }
    assert_eq!(roles_and_counts(&document, &nodes), roles);
    assert_eq!((&document["lab"]["succeeded"], document["lab"].get("moved")), (&json!(400), None));
    assert_eq!(document["lab"]["settings"]["replica_reads"], true);
}

#[test]
fn a_read_that_is_redirected_is_followed() {
    let nodes = start(|map, node, request| match node {
        2.. => map.redirect("MOVED", &request[1], map.owner(&request[1])),
        _ => "$1\r\nx\r\n".to_owned(),
    });
    let shape = ["-t", "1", "-c", "1", "-n", "30", "--command", "GET __key__", "--replica-reads"];
    let document = load_cluster(&nodes, &shape);
    assert_eq!((&document["lab"]["hits"], &document["lab"]["moved"]), (&json!(30), &json!(30)));
    assert_eq!(requests(&nodes[0]).len() + requests(&nodes[1]).len(), 30);
}

#[test]
fn subcommands_that_only_read_are_known() {
    let nodes = start(|_, _, _| "+OK\r\n".to_owned());
    let lines = ["--command", "OBJECT FREQ __key__", "--command", "OBJECT OTHER __key__", "--command", "get __key__"];
    load_cluster(&nodes, &[&["-t", "1", "-c", "1", "-n", "90", "--replica-reads"][..], &lines].concat());
    let second = |nodes: &[Scripted], word: &str| {
        nodes.iter().flat_map(requests).filter(|request| request.iter().any(|given| given == word)).count()
    };
    assert_eq!((second(&nodes[..2], "FREQ"), second(&nodes[2..], "FREQ")), (0, 30));
    assert_eq!((second(&nodes[..2], "OTHER"), second(&nodes[2..], "OTHER")), (30, 0));
    assert_eq!((second(&nodes[..2], "get"), second(&nodes[2..], "get")), (0, 30));
}

#[test]
fn without_a_cluster_the_primary_names_its_replicas() {
    let replicas = [(); 2].map(|()| Scripted::answering("$1\r\nx\r\n"));
    let of_role = |replica: &Scripted| {
        let port = replica.port();
        format!("*3\r\n$9\r\n127.0.0.1\r\n${}\r\n{port}\r\n$1\r\n0\r\n", port.len())
    };
    let role = format!("*3\r\n$6\r\nmaster\r\n:0\r\n*2\r\n{}{}", of_role(&replicas[0]), of_role(&replicas[1]));
    let primary = Scripted::replying(move |request, _| match request[0].as_str() {
        "ROLE" => role.clone(),
        "COMMAND" => command_info(request),
        _ => "+OK\r\n".to_owned(),
    });
    let shape = ["-t", "1", "-c", "1", "-n", "60", "--ratio", "1:2", "--pipeline", "3", "--replica-reads", "--prefill"];
    let document = load(&primary, &[&shape[..], &["--key-maximum", "9"]].concat());
    let nodes: Vec<Scripted> = [primary].into_iter().chain(replicas).collect();
    let names = |node: &Scripted| requests(node).iter().map(|request| request[0].clone()).collect::<Vec<_>>();
    assert_eq!(names(&nodes[0]), ["SET"; 30], "10 to prefill");
    let read = [1, 2].map(|replica: usize| names(&nodes[replica]).len());
    assert!(read[0] + read[1] == 40 && read.iter().all(|count| *count > 5), "{read:?}");
    assert!([names(&nodes[1]), names(&nodes[2])].concat().iter().all(|name| name == "GET"));
    assert!(!nodes[1].requests().iter().any(|request| request[0] == "READONLY"), "only a cluster's nodes know it");
    assert_eq!(
        roles_and_counts(&document, &nodes),
        [json!(["primary", 20]), json!(["replica", read[0]]), json!(["replica", read[1]])]
    );
}

#[test]
fn where_nothing_can_be_read_from_replicas_the_run_ends() {
    let none = "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n";
    let one = "*3\r\n$6\r\nmaster\r\n:0\r\n*1\r\n*3\r\n$9\r\n127.0.0.1\r\n$1\r\n1\r\n$1\r\n0\r\n";
    let cases = [
        (none, "GET __key__", "has none"),
        ("*5\r\n$5\r\nslave\r\n$1\r\nx\r\n:1\r\n$9\r\nconnected\r\n:0\r\n", "GET __key__", "is one itself"),
        ("-NOPERM no\r\n", "GET __key__", "NOPERM no"),
        (one, "SET __key__ x", "reports none of the commands as read-only"),
    ];
    for (role, line, reason) in cases {
        let server = Scripted::replying(move |request, _| match request[0].as_str() {
            "ROLE" => role.to_owned(),
            "COMMAND" => command_info(request),
            _ => "+OK\r\n".to_owned(),
        });
        let port = server.port();
        let finished = run(&["-s", "127.0.0.1", "-p", &port, "--replica-reads", "--command", line]);
        assert_eq!(finished.code, Some(4), "{}", finished.stderr);
        let expected = format!("cannot read from replicas: tcp://127.0.0.1:{port} {reason}");
        assert!(finished.stderr.contains(&expected), "{}", finished.stderr);
    }
    let nodes = start_with(slots(), |map: &Map, _, peer: &mut Peer| {
        peer.serve(|request, _| match request[0].as_str() {
            "CLUSTER" => slots_reply(map, &[2..4, 4..4]),
            _ => command_info(request),
        });
    });
    let arguments = ["-s", "127.0.0.1", "-p", &nodes[0].port(), "--cluster-mode", "--replica-reads"];
    let finished = run(&arguments);
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
    let expected = format!("cannot read from replicas: tcp://127.0.0.1:{} has none", nodes[1].port());
    assert!(finished.stderr.contains(&expected), "{}", finished.stderr);
}

#[test]
fn what_goes_to_one_node_only_is_refused() {
    for other in ["--lockstep", "--reconnect-interval=3"] {
        let finished = run(&["--replica-reads", other]);
        assert_eq!(finished.code, Some(2), "{}", finished.stderr);
        assert!(finished.stderr.contains("--replica-reads excludes"), "{}", finished.stderr);
    }
}
