//! Reads from replicas of redis-servers of the PATH, where there are any.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::Real;
use crate::support::cluster::Cluster;
use crate::support::program::run;

const LIMIT: Duration = Duration::from_secs(120);
const KEYS: [&str; 4] = ["--key-minimum", "1", "--key-maximum", "1000"];

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < LIMIT, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn is_linked(replica: &Real) -> bool {
    replica.figure("replication", "master_link_status").as_deref() == Some("up")
}

fn roles(document: &Value) -> Vec<(String, u64)> {
    let records = document["nodes"].as_array().expect("nodes").iter();
    let mut roles: Vec<(String, u64)> = records
        .map(|record| {
            (record["role"].as_str().expect("a role").to_owned(), record["requests"].as_u64().expect("a count"))
        })
        .collect();
    roles.sort();
    roles
}

#[test]
fn a_primary_is_written_to_and_its_replica_read_from() {
    let on_port =
        |[port, _]: [u16; 2]| ["--bind", "127.0.0.1", "--port", &port.to_string()].map(str::to_owned).to_vec();
    let Some(primary) = Real::start_on_ports(on_port) else { return };
    let arguments = ["-t", "1", "-c", "2", "-n", "300", "--ratio", "1:2", "--replica-reads"];
    let alone = primary.run(&[&arguments[..], &KEYS].concat());
    assert_eq!(alone.code, Some(4), "{}", alone.stderr);
    assert!(alone.stderr.contains("cannot read from replicas"), "{}", alone.stderr);

    let Some(replica) = Real::start_on_ports(on_port) else { return };
    assert_eq!(replica.ask(&format!("REPLICAOF 127.0.0.1 {}", primary.ports[0])), "+OK");
    wait_until("the replica follows", || is_linked(&replica));
    wait_until("the primary names its replica", || primary.call(&["ROLE"]).contains(&replica.ports[0].to_string()));
    let document = primary.load(&[&arguments[..], &KEYS].concat());
    assert_eq!((&document["succeeded"], &document["errors"]), (&json!(600), &json!({})));
    assert_eq!((primary.calls("set"), primary.calls("get"), replica.calls("get")), (200, 0, 400));
    assert_eq!(roles(&document), [("primary".to_owned(), 200), ("replica".to_owned(), 400)]);
    let turned = replica.run(&[&arguments[..], &KEYS].concat());
    assert!(turned.stderr.contains("is one itself"), "{}", turned.stderr);
}

#[test]
fn a_clusters_replicas_are_read_from() {
    let Some(cluster) = Cluster::with_spares(3) else { return };
    let (primaries, replicas) = cluster.nodes.split_at(3);
    for (primary, replica) in primaries.iter().zip(replicas) {
        let id = primary.call(&["CLUSTER", "MYID"]);
        assert_eq!(replica.ask(&format!("CLUSTER REPLICATE {id}")), "+OK");
    }
    wait_until("replicas follow", || replicas.iter().all(is_linked));
    let is_named = |replica: &Real| primaries[0].call(&["CLUSTER", "SLOTS"]).contains(&replica.ports[0].to_string());
    wait_until("the map names them", || replicas.iter().all(is_named));
    let port = cluster.port(0).to_string();
    let arguments = ["-s", "127.0.0.1", "-p", &port, "--cluster-mode", "--json-out-file", "-", "--replica-reads"];
    let shape = ["-t", "2", "-c", "2", "-n", "300", "--ratio", "1:2", "--pipeline", "3"];
    let document = run(&[&arguments[..], &shape, &KEYS].concat()).document();
    assert_eq!((&document["succeeded"], &document["errors"]), (&json!(1200), &json!({})));
    assert_eq!(document["moved"], json!(null));
    let calls = |nodes: &[Real], name: &str| nodes.iter().map(|node| node.calls(name)).sum::<u64>();
    assert_eq!((calls(primaries, "get"), calls(replicas, "get")), (0, 800));
    assert_eq!(roles(&document).iter().filter(|(role, _)| role == "replica").map(|(_, count)| count).sum::<u64>(), 800);
}
