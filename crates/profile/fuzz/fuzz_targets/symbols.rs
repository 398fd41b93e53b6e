//! Any bytes as the program of a recording, by which its stacks are unwound and named.

#![no_main]

#[path = "../files.rs"]
#[allow(dead_code, reason = "each target uses a part")]
mod files;

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

static RECORDING: LazyLock<PathBuf> = LazyLock::new(|| {
    let program = files::write("program", &[]);
    files::write("perf.data", &files::relocated(&files::kept("debug_information.data"), &program))
});

fuzz_target!(|data: &[u8]| {
    let recording = &*RECORDING;
    files::write("program", data);
    files::read_recording(recording);
});
