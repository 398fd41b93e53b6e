//! The command lines of the public test suites that are meant for a cluster run against a real one.

use serde_json::json;

use crate::support::cluster::Cluster;
use crate::support::program::run;
use crate::support::suites::{self, Shortened};

#[test]
fn every_command_line_for_a_cluster_runs_on_one() {
    let Some(suites) = suites::all() else { return };
    let Some(cluster) = Cluster::start() else { return };
    let port = cluster.port(0).to_string();
    let (mut lines, mut faults) = (0, Vec::new());
    for (name, suite) in suites.iter().filter(|(_, suite)| suite.is_for_cluster()) {
        for node in &cluster.nodes {
            assert_eq!(node.ask("FLUSHALL SYNC"), "+OK");
        }
        for words in suite.preload().into_iter().chain(suite.clients()) {
            let short = Shortened::new(&words);
            let server = ["-s", "127.0.0.1", "-p", &port, "--cluster-mode", "--json-out-file", "-"];
            let finished = run(&[&short.words()[..], &server].concat());
            lines += 1;
            if finished.code != Some(0) {
                faults.push(format!("{name}: exit code {:?}: {}", finished.code, finished.stderr));
                continue;
            }
            let document = finished.document();
            let shares = document["nodes"].as_array().into_iter().flatten();
            let sum: u64 = shares.filter_map(|node| node["requests"].as_u64()).sum();
            if document["requests"] != short.requests || sum != short.requests || document["errors"] != json!({}) {
                faults.push(format!("{name}: {}, {sum} over all nodes, {}", document["requests"], document["errors"]));
            }
        }
    }
    println!("{lines} command lines ran on a cluster");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(lines > 0, "no suite for a cluster");
}
