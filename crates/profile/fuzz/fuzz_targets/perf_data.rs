//! Any bytes as a recording, whose program is the kept one where the bytes name it.

#![no_main]

#[path = "../files.rs"]
#[allow(dead_code, reason = "each target uses a part")]
mod files;

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| files::write("program", &files::kept("program")));

fuzz_target!(|data: &[u8]| {
    files::read_recording(&files::write("perf.data", &files::relocated(data, &PROGRAM)));
});
