//! Any bytes as replies to `ROLE` and `COMMAND INFO`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zerolap_load_engine::untrusted::{command_info, role};

fuzz_target!(|bytes: &[u8]| {
    assert_eq!(role(bytes), role(bytes));
    assert_eq!(command_info(bytes), command_info(bytes));
});
