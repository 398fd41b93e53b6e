//! Requests go to the nodes that have their keys.

use std::time::{Duration, Instant};

use super::load_cluster;
use crate::support::multiset;
use crate::support::program::run;
use crate::support::scripted::Scripted;
use crate::support::scripted::cluster::{Map, commands, even, slot, start, start_with};

fn three_nodes() -> Vec<Scripted> {
    start(even(3), |_, _, _| "+OK\r\n".to_owned())
}

/// That each node got only requests with its own keys, which are their second words; how many each got.
fn expect_own_keys(nodes: &[Scripted]) -> Vec<usize> {
    let map = Map { ports: vec![0; nodes.len()], slots: even(nodes.len()) };
    let expect = |(node, server): (usize, &Scripted)| {
        let requests = commands(server);
        assert!(requests.iter().all(|request| map.owner(&request[1]) == node), "node {node}: {requests:?}");
        requests.len()
    };
    nodes.iter().enumerate().map(expect).collect()
}

#[test]
fn slots_in_these_tests_are_those_of_the_specification() {
    // The specification's own example, and slots that `redis-cli CLUSTER KEYSLOT` of Redis 7 reports.
    assert_eq!(slot("123456789"), 0x31c3);
    assert_eq!((slot("foo"), slot("{foo}bar"), slot("x{foo}{bar}")), (12_182, 12_182, 12_182));
    assert_ne!(slot("{}foo"), slot("foo"));
}

#[test]
fn each_request_goes_to_the_node_with_its_key() {
    for pipeline in ["1", "8"] {
        let nodes = three_nodes();
        let shape = ["-t", "2", "-c", "2", "-n", "150", "--ratio", "1:2", "--pipeline", pipeline];
        let document = load_cluster(&nodes, &shape);
        let counts = expect_own_keys(&nodes);
        assert_eq!(counts.iter().sum::<usize>(), 600);
        assert!(counts.iter().all(|count| (120..280).contains(count)), "{counts:?}");
        let lab = &document["lab"];
        assert_eq!((&lab["requests"], &lab["succeeded"]), (&600.into(), &600.into()));
        assert_eq!((lab.get("moved"), lab.get("asked")), (None, None));
        assert_eq!(document["ALL STATS"]["Totals"]["MOVED/sec"], 0.0);
        // Two connections ask for the map, and for all nodes.
        let connections: Vec<usize> = nodes.iter().map(|node| node.connections().len()).collect();
        assert_eq!(connections, [6, 4, 4], "each client has one connection to each node");
    }
}

#[test]
fn hash_tags_decide() {
    for (prefix, keys) in [("{user}:", "__key__"), ("", "{T:__key__}_x"), ("{}", "__key__"), ("a}{b}", "__key__")] {
        let nodes = three_nodes();
        let command = format!("GET {keys}");
        let shape = ["-t", "1", "-c", "2", "-n", "50", "--key-prefix", prefix, "--command", &command];
        load_cluster(&nodes, &shape);
        let counts = expect_own_keys(&nodes);
        let busy = counts.iter().filter(|count| **count > 0).count();
        let is_fixed = prefix.contains("{user}") || prefix.contains("{b}");
        assert_eq!(busy, if is_fixed { 1 } else { 3 }, "{prefix} {counts:?}");
    }
}

#[test]
fn commands_without_drawn_keys_go_where_their_first_argument_belongs() {
    let nodes = three_nodes();
    let shape =
        ["-t", "1", "-c", "1", "-n", "40", "--command", "GET foo", "--command", "GET bar", "--command", "GET a"];
    load_cluster(&nodes, &[&shape[..], &["--command", "PING"]].concat());
    let map = Map { ports: vec![0; 3], slots: even(3) };
    for (index, node) in nodes.iter().enumerate() {
        let requests = commands(node);
        assert!(requests.iter().filter(|request| request.len() > 1).all(|request| map.owner(&request[1]) == index));
    }
    let all = multiset(nodes.iter().flat_map(commands).map(|request| request.join(" ")));
    assert_eq!(all.values().copied().collect::<Vec<_>>(), [10; 4], "{all:?}");
}

#[test]
fn all_keys_are_written_once() {
    let nodes = three_nodes();
    let keys = ["--key-minimum", "1", "--key-maximum", "100", "--command-key-pattern", "P"];
    let command = ["-t", "2", "-c", "2", "-n", "allkeys", "--pipeline", "3", "--command", "SET __key__ __data__"];
    load_cluster(&nodes, &[&command[..], &keys].concat());
    expect_own_keys(&nodes);
    let sent = multiset(nodes.iter().flat_map(|node| commands(node).into_iter().map(|request| request[1].clone())));
    assert_eq!(sent, (1..=100).map(|key| (format!("memtier-{key}"), 1)).collect());
}

#[test]
fn phases_before_the_measurement_find_the_nodes_too() {
    let nodes = three_nodes();
    let keys = ["--key-minimum", "1", "--key-maximum", "60", "--command", "GET __key__"];
    let shape = ["-t", "1", "-c", "2", "-n", "5", "--check", "--prefill", "--warm-up", "0.05"];
    let document = load_cluster(&nodes, &[&shape[..], &keys].concat());
    expect_own_keys(&nodes);
    let sets = nodes.iter().flat_map(commands).filter(|request| request[0] == "SET");
    assert_eq!(multiset(sets.map(|request| request[1].clone())).len(), 60);
    assert_eq!(document["lab"]["requests"], 10);
}

#[test]
fn a_rate_is_spread_over_the_nodes() {
    let nodes = three_nodes();
    let shape = ["-t", "1", "-c", "2", "-n", "60", "--rate", "600", "--command", "GET __key__"];
    let started = Instant::now();
    let document = load_cluster(&nodes, &shape);
    assert!(started.elapsed() >= Duration::from_millis(198), "the last request is due then");
    assert_eq!(expect_own_keys(&nodes).iter().sum::<usize>(), 120);
    assert_eq!(document["lab"]["schedule"]["unsent"], 0);
}

#[test]
fn connections_to_all_nodes_are_prepared() {
    let nodes = three_nodes();
    let shape = ["-t", "1", "-c", "1", "-n", "30", "--command", "GET __key__", "-a", "bob:secret", "-P", "resp3"];
    load_cluster(&nodes, &shape);
    for connection in nodes.iter().flat_map(Scripted::connections) {
        assert_eq!(connection[..2], [vec!["AUTH", "bob", "secret"], vec!["HELLO", "3"]]);
    }
}

#[test]
fn a_node_that_tells_no_map_ends_the_run() {
    for (reply, reason) in [
        ("-ERR This instance has cluster support disabled\r\n", "cluster support disabled"),
        ("*0\r\n", "16384 slots have no node"),
        ("*1\r\n*3\r\n:0\r\n:99\r\n*2\r\n$9\r\n127.0.0.1\r\n:1\r\n", "16284 slots have no node"),
        ("+OK\r\n", "does not report which node has which slot"),
    ] {
        let server = Scripted::answering(reply);
        let port = server.port();
        let finished = run(&["-s", "127.0.0.1", "-p", &port, "--cluster-mode", "-t", "1", "-c", "1"]);
        assert_eq!(finished.code, Some(4), "{reply}");
        assert!(finished.stderr.contains(reason), "{}", finished.stderr);
        assert_eq!(server.requests(), [["CLUSTER", "SLOTS"]]);
    }
}

#[test]
fn a_map_of_more_nodes_than_a_cluster_has_ends_the_run() {
    let range = |port: u32| format!("*3\r\n:{port}\r\n:{port}\r\n*2\r\n$9\r\n127.0.0.1\r\n:{}\r\n", port + 1);
    let reply = format!("*1001\r\n{}", (0..1001).map(range).collect::<String>());
    let server = Scripted::replying(move |_, _| reply.clone());
    let finished = run(&["-s", "127.0.0.1", "-p", &server.port(), "--cluster-mode", "-t", "1", "-c", "1"]);
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
    assert!(finished.stderr.contains("it names more than 1000 nodes"), "{}", finished.stderr);
}

#[test]
fn a_map_without_end_ends_the_run() {
    let server = Scripted::start(|peer| {
        peer.request();
        peer.send(b"$1000000000\r\n");
        while peer.send(&vec![b'x'; 1 << 16]) {}
    });
    let finished = run(&["-s", "127.0.0.1", "-p", &server.port(), "--cluster-mode", "-t", "1", "-c", "1"]);
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
    assert!(finished.stderr.contains("sent a reply of more than 16777216 bytes"), "{}", finished.stderr);
}

#[test]
fn pushes_are_no_answer_to_the_question_for_the_map() {
    let push = ">3\r\n+message\r\n+channel\r\n+text\r\n";
    let nodes = start_with(even(1), move |map, _, peer| {
        peer.serve(|request, _| match request[0].as_str() {
            "HELLO" => format!("{push}%0\r\n{push}"),
            "CLUSTER" if request[1] == "SLOTS" => format!("{push}{}", map.reply()),
            _ => "+OK\r\n".to_owned(),
        });
    });
    let shape = ["-t", "1", "-c", "1", "-n", "5", "-P", "resp3", "--command", "GET __key__"];
    assert_eq!(load_cluster(&nodes, &shape)["lab"]["succeeded"], 5);
}
