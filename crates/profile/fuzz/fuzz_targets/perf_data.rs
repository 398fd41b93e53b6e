//! Any bytes as a file of the target `perf_data`.

#![no_main]

#[path = "../targets.rs"]
#[allow(dead_code)]
mod targets;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data");

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let target = targets::named("perf_data").expect("a target");
    (target.read)(data, &targets::directory(target));
});
