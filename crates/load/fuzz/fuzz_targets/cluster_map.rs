//! Any bytes as replies to `CLUSTER SLOTS` and `CLUSTER NODES`: hosts are not empty, and there are not too many.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zerolap_load_requests::Endpoint;
use zerolap_load_engine::untrusted::{cluster_nodes, cluster_slots};

fuzz_target!(|bytes: &[u8]| {
    let asked = Endpoint::Tcp { host: "asked".to_owned(), port: 1 };
    for (first, last, nodes) in cluster_slots(bytes, &asked).into_iter().flatten() {
        assert!(first < 16_384 && last < 16_384 && !nodes.is_empty());
    }
    let hosts = cluster_nodes(bytes);
    assert!(hosts.len() <= 2_000 && hosts.iter().all(|host| !host.is_empty()));
});
