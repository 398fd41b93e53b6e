//! Any bytes as a program of which facts and functions are asked.

#![no_main]

#[path = "../files.rs"]
#[allow(dead_code, reason = "each target uses a part")]
mod files;

use libfuzzer_sys::fuzz_target;
use zerolap_profile::{binary::facts, functions::source_functions, structs::structures};

fuzz_target!(|data: &[u8]| {
    let program = files::write("program", data);
    drop(facts(&program));
    drop(source_functions(&program, files::ROOT));
    drop(structures(&program, files::ROOT));
});
