//! Any file as a recording of MONITOR: it is refused, or each of its commands has a line.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zerolap_load::untrusted::recording;

fuzz_target!(|bytes: &[u8]| {
    let lines = bytes.split(|&byte| byte == b'\n').count();
    assert!(recording(bytes).is_none_or(|commands| (1..=lines).contains(&commands)));
});
