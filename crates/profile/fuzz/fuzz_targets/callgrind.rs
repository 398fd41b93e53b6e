//! Any bytes as a dump; what is accepted must give a graph that is consistent.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zerolap_profile::callgrind::{Dump, read};
use zerolap_profile::graph::merge;
use zerolap_profile::window::{Window, per_request};

fuzz_target!(|data: &[u8]| {
    let Ok(dump) = read(data) else { return };
    let (small, large) = (Window { dump: &Dump::default(), requests: 0 }, Window { dump: &dump, requests: 3 });
    let graph = per_request(small, large, "/build/redis").expect("more requests");
    merge(&[graph.clone(), graph]).expect("a consistent graph");
});
