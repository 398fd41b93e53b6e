//! Any replies of a node: what they ask for names a slot of a cluster and a host that is not empty.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zerolap_load_requests::Endpoint;
use zerolap_load_engine::untrusted::redirections;

fuzz_target!(|bytes: &[u8]| {
    let asked = Endpoint::Tcp { host: "asked".to_owned(), port: 1 };
    for (slot, endpoint, _) in redirections(bytes, &asked) {
        assert!(slot < 16_384);
        assert!(matches!(endpoint, Endpoint::Tcp { host, .. } if !host.is_empty()));
    }
});
