//! Any bytes as the program of which instructions were executed, or as instructions that were kept of one; what is
//! accepted must be identical to itself.

#![no_main]

#[path = "../files.rs"]
#[allow(dead_code, reason = "each target uses a part")]
mod files;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use zerolap_profile::callgrind::{Dump, read};
use zerolap_profile::identity::{Executed, Identity, Trial, compare, executed};

static DUMP: LazyLock<Dump> =
    LazyLock::new(|| read(&include_bytes!("../../tests/data/executed.callgrind")[..]).expect("a dump"));

fuzz_target!(|data: &[u8]| {
    let kept = if data.starts_with(b"\x7fELF") {
        let trial = Trial { before: &DUMP, windows: [&[&*DUMP], &[&*DUMP], &[]], requests: [3, 3, 0], object: "/zerolap/program" };
        let Ok(executed) = executed(&trial, &files::write("program", data)) else { return };
        let json = executed.to_json().expect("a form of JSON");
        Executed::from_json(&json).expect("what was written can be read")
    } else {
        let Ok(executed) = Executed::from_json(data) else { return };
        executed
    };
    assert!(!matches!(compare(&kept, &kept), Identity::Different { .. }));
});
