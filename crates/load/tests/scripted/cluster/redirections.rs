//! Nodes that send requests elsewhere.

use serde_json::json;

use super::load_cluster;
use crate::support::multiset;
use crate::support::scripted::cluster::{Map, commands, even, first_of, slot, start, start_with};
use crate::support::scripted::{Request, Scripted};

const WALK: [&str; 10] =
    ["--key-minimum", "1", "--key-maximum", "40", "--command", "GET __key__", "--command-key-pattern", "S", "-t", "1"];

/// Two nodes of which the first claims all slots, while the upper half is on the second.
fn moved_half() -> Vec<Scripted> {
    start(first_of(2), |map, node, request| {
        let owner = usize::from(slot(&request[1]) >= 8_192);
        if owner == node { "+OK\r\n".to_owned() } else { map.redirect("MOVED", &request[1], owner) }
    })
}

fn is_upper(request: &Request) -> bool {
    slot(&request[1]) >= 8_192
}

#[test]
fn moved_is_followed_and_remembered() {
    let nodes = moved_half();
    let document = load_cluster(&nodes, &[&WALK[..], &["-c", "1", "-n", "120"]].concat());
    let (lower, upper) = (commands(&nodes[0]), commands(&nodes[1]));
    let keys = multiset((1..=40).map(|key| slot(&format!("memtier-{key}")) >= 8_192))[&true];
    assert_eq!(lower.iter().filter(|request| is_upper(request)).count(), keys, "only once for each slot");
    assert_eq!(upper.len(), keys * 3);
    assert!(upper.iter().all(is_upper));
    let lab = &document["lab"];
    assert_eq!((&lab["requests"], &lab["succeeded"]), (&120.into(), &120.into()));
    assert_eq!((&lab["moved"], &lab["errors"]), (&keys.into(), &json!({})));
    assert_eq!(lab["commands"][0]["moved"], keys);
    assert!(lab["differences"].to_string().contains("redirections were followed"));
    let seconds = lab["elapsed_ns"].as_f64().expect("a number") / 1e9;
    let rate = document["ALL STATS"]["Gets"]["MOVED/sec"].as_f64().expect("a number");
    assert!((rate * seconds - f64::from(u32::try_from(keys).expect("few"))).abs() < 0.006 * seconds + 1e-6, "{rate}");
}

#[test]
fn nothing_is_lost_or_sent_twice_with_pipelines_and_many_clients() {
    let nodes = moved_half();
    let shape = ["-c", "3", "-n", "80", "--pipeline", "6"];
    let document = load_cluster(&nodes, &[&WALK[..], &shape].concat());
    let answered = nodes.iter().enumerate().flat_map(|(node, server)| {
        let own = move |request: &Request| usize::from(is_upper(request)) == node;
        commands(server).into_iter().filter(own).map(|request| request[1].clone())
    });
    assert_eq!(multiset(answered), (1..=40).map(|key| (format!("memtier-{key}"), 6)).collect());
    let wrong = commands(&nodes[0]).iter().filter(|request| is_upper(request)).count();
    assert_eq!((&document["lab"]["requests"], &document["lab"]["moved"]), (&240.into(), &wrong.into()));
}

/// The order in which four requests reach the second node after the first moved them all at once.
fn order_after_move(slots: Vec<Option<std::ops::RangeInclusive<usize>>>) -> Vec<String> {
    let map = Map { ports: vec![0; 2], slots: slots.clone() };
    let nodes = start_with(slots, |map, node, peer| {
        let mut waiting = Vec::new();
        while let Some(request) = peer.request() {
            match (request[0].as_str(), node) {
                ("CLUSTER", _) => _ = peer.send(map.reply().as_bytes()),
                (_, 0) => waiting.push(map.redirect("MOVED", &request[1], 1)),
                _ => _ = peer.send(b"+OK\r\n"),
            }
            if waiting.len() == 4 {
                peer.send(waiting.concat().as_bytes());
                waiting.clear();
            }
        }
    });
    let tag = (0..1_000).map(|number| format!("{{{number}}}")).find(|tag| map.owner(tag) == 0).expect("one");
    load_cluster(&nodes, &[&WALK[..], &["--key-prefix", &tag, "-c", "1", "-n", "4", "--pipeline", "4"]].concat());
    commands(&nodes[1]).into_iter().map(|request| request[1].replace(&tag, "")).collect()
}

#[test]
fn requests_that_were_moved_together_to_a_new_connection_keep_their_order() {
    assert_eq!(order_after_move(first_of(2)), ["1", "2", "3", "4"]);
}

#[test]
fn requests_that_were_moved_together_to_an_open_connection_keep_their_order() {
    assert_eq!(order_after_move(even(2)), ["1", "2", "3", "4"]);
}

/// A slot that is being moved: the first node sends some of its keys to the second, which needs an ASKING before each.
fn asking(pipeline: &str) -> (Vec<Scripted>, serde_json::Value) {
    let nodes = start_with(even(2), |map, node, peer| {
        let mut asked = false;
        while let Some(request) = peer.request() {
            let reply = match request[0].as_str() {
                "CLUSTER" => map.reply(),
                "ASKING" => "+OK\r\n".to_owned(),
                _ if node == 0 && request[1].ends_with('7') => map.redirect("ASK", &request[1], 1),
                _ if map.owner(&request[1]) == node || asked => "$1\r\nx\r\n".to_owned(),
                _ => map.redirect("MOVED", &request[1], map.owner(&request[1])),
            };
            asked = request[0] == "ASKING";
            peer.send(reply.as_bytes());
        }
    });
    let document = load_cluster(&nodes, &[&WALK[..], &["-c", "1", "-n", "120", "--pipeline", pipeline]].concat());
    (nodes, document)
}

#[test]
fn ask_is_followed_once_after_an_asking_and_not_remembered() {
    for pipeline in ["1", "8"] {
        let (nodes, document) = asking(pipeline);
        let map = Map { ports: vec![0; 2], slots: even(2) };
        let is_away = |key: &str| key.ends_with('7') && map.owner(key) == 0;
        let away = (1..=40).filter(|key| is_away(&format!("memtier-{key}"))).count();
        assert!(away > 0, "some keys are away");
        for connection in nodes[1].connections() {
            for (index, request) in connection.iter().enumerate().filter(|(_, request)| request[0] == "GET") {
                let after_asking = index > 0 && connection[index - 1] == ["ASKING"];
                assert_eq!(after_asking, is_away(&request[1]), "pipeline {pipeline}: {request:?}");
            }
        }
        let asked = nodes[1].requests().iter().filter(|request| request[0] == "ASKING").count();
        assert_eq!(asked, away * 3, "each time anew");
        let lab = &document["lab"];
        assert_eq!((&lab["requests"], &lab["replies"]["bulk"]), (&120.into(), &120.into()), "ASKING is no request");
        assert_eq!((&lab["asked"], lab.get("moved")), (&asked.into(), None));
        assert!(document["ALL STATS"]["Totals"]["ASK/sec"].as_f64() > Some(0.0));
    }
}

#[test]
fn going_round_in_circles_ends_as_an_error() {
    let nodes = start(even(2), |map, node, request| map.redirect("MOVED", &request[1], 1 - node));
    let document = load_cluster(&nodes, &[&WALK[..], &["-c", "1", "-n", "5"]].concat());
    let lab = &document["lab"];
    assert_eq!((&lab["requests"], &lab["succeeded"], &lab["errors"]), (&5.into(), &0.into(), &json!({"MOVED": 5})));
    let sent: usize = nodes.iter().map(|node| commands(node).len()).sum();
    assert_eq!(lab["moved"], sent - 5, "each request but the last one of its kind was sent on");
    assert!((5 * 5..=5 * 50).contains(&sent), "{sent}");
    assert!(lab["commands"][0]["first_error"].as_str().is_some_and(|error| error.starts_with("MOVED ")));
}

#[test]
fn a_node_that_nobody_told_of_is_connected_to_and_prepared() {
    let nodes = start(first_of(2), |map, node, request| match (request[0].as_str(), node) {
        ("AUTH", _) | (_, 1) => "+OK\r\n".to_owned(),
        _ => map.redirect("MOVED", &request[1], 1),
    });
    let document = load_cluster(&nodes, &[&WALK[..], &["-c", "2", "-n", "80", "-a", "secret"]].concat());
    let connections = nodes[1].connections();
    assert_eq!(connections.len(), 2, "one for each client");
    assert!(connections.iter().all(|requests| requests[0] == ["AUTH", "secret"]));
    assert_eq!(document["lab"]["requests"], 160);
    assert_eq!(document["lab"]["connections"], json!({"disconnects": 0, "timeouts": 0, "reconnects": 0}));
}

#[test]
fn no_redirection_leads_to_a_host_that_discovery_did_not_name() {
    // What a stranger would get: a connection, and the password.
    let stranger = Scripted::answering("+OK\r\n");
    let port = stranger.port();
    let nodes = start_with(first_of(1), move |map, _, peer| {
        peer.serve(|request, number| match request[0].as_str() {
            "AUTH" => "+OK\r\n".to_owned(),
            "CLUSTER" if request[1] == "SLOTS" => map.reply(),
            // A node without slots, which may get some: its host is known.
            "CLUSTER" => {
                let line = "id 127.0.0.2:1@2 master - 0 1 2 connected\n";
                format!("${}\r\n{line}\r\n", line.len())
            }
            _ if number % 2 == 0 => format!("-MOVED {} localhost:{port}\r\n", slot(&request[1])),
            _ => format!("-ASK {} 127.0.0.3:{port}\r\n", slot(&request[1])),
        });
    });
    let shape = ["-c", "1", "-n", "10", "-a", "secret", "--reconnect-on-error"];
    let document = load_cluster(&nodes, &[&WALK[..], &shape].concat());
    assert_eq!(stranger.connections().len(), 0, "nobody is connected to whom discovery did not name");
    let lab = &document["lab"];
    assert_eq!((&lab["requests"], &lab["succeeded"]), (&10.into(), &0.into()));
    assert_eq!(lab["errors"], json!({"ASK": 5, "MOVED": 5}));
    let warnings = lab["warnings"].to_string();
    assert!(warnings.contains("10 redirections were not followed but counted as errors"), "{warnings}");
}

#[test]
fn a_node_without_slots_may_get_some_during_the_run() {
    let spare = std::net::TcpListener::bind("127.0.0.2:0").expect("a port");
    let port = spare.local_addr().expect("an address").port();
    let spare = Scripted::serve(spare, |peer| peer.serve(|_, _| "+OK\r\n".to_owned()));
    let nodes = start_with(first_of(1), move |map, _, peer| {
        peer.serve(|request, _| match (request[0].as_str(), request[1].as_str()) {
            ("CLUSTER", "SLOTS") => map.reply(),
            ("CLUSTER", _) => {
                let line = format!("id 127.0.0.2:{port}@2,,shard-id=5 master - 0 1 2 connected\n");
                format!("${}\r\n{line}\r\n", line.len())
            }
            _ => format!("-MOVED {} 127.0.0.2:{port}\r\n", slot(&request[1])),
        });
    });
    let document = load_cluster(&nodes, &[&WALK[..], &["-c", "1", "-n", "40"]].concat());
    assert_eq!((spare.requests().len(), &document["lab"]["succeeded"]), (40, &40.into()));
    assert_eq!(document["lab"]["warnings"], json!([]));
}

#[test]
fn a_host_that_is_left_out_is_the_one_that_was_asked() {
    let nodes = start(first_of(2), |map, node, request| match node {
        0 => format!("-MOVED {} :{}\r\n", slot(&request[1]), map.ports[1]),
        _ => "+OK\r\n".to_owned(),
    });
    let document = load_cluster(&nodes, &[&WALK[..], &["-c", "1", "-n", "40"]].concat());
    assert_eq!((commands(&nodes[1]).len(), &document["lab"]["succeeded"]), (40, &40.into()));
}

#[test]
fn a_command_learns_where_its_key_is_though_it_is_not_the_first_argument() {
    let nodes = start(even(2), |map, node, request| {
        let owner = map.owner(&request[3]);
        if owner == node { ":1\r\n".to_owned() } else { map.redirect("MOVED", &request[3], owner) }
    });
    let map = Map { ports: vec![0; 2], slots: even(2) };
    let key = (0..1_000).map(|number| format!("k{number}")).find(|key| map.owner(key) != map.owner("script"));
    let command = format!("EVAL script 1 {}", key.expect("one of both"));
    let document = load_cluster(&nodes, &["-t", "1", "-c", "1", "-n", "20", "--command", &command]);
    assert_eq!(document["lab"]["succeeded"], 20);
    // A client of two nodes has two requests out before it knows better.
    assert!((1..=2).contains(&document["lab"]["moved"].as_u64().unwrap_or(0)), "{}", document["lab"]["moved"]);
}

#[test]
fn errors_that_name_no_node_are_errors() {
    let nodes = start(even(2), |_, node, _| match node {
        0 => "-CLUSTERDOWN Hash slot not served\r\n".to_owned(),
        _ => "-TRYAGAIN Multiple keys request during rehashing of slot\r\n".to_owned(),
    });
    let lab = load_cluster(&nodes, &[&WALK[..], &["-c", "1", "-n", "40"]].concat())["lab"].clone();
    let [down, again] = [commands(&nodes[0]).len(), commands(&nodes[1]).len()];
    assert_eq!(lab["errors"], json!({"CLUSTERDOWN": down, "TRYAGAIN": again}));
    assert_eq!(down + again, 40);
}
