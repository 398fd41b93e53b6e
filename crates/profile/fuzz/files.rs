//! Files of a target's own, and the kept recording, of which programs and stacks are read.

use std::fs;
use std::path::{Path, PathBuf};

use zerolap_profile::perf::{read_stacks, read_waits};
use zerolap_profile::stacks;

const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/recording");
/// The directory that the kept program was compiled in.
pub const ROOT: &str = "/zerolap";

pub fn kept(name: &str) -> Vec<u8> {
    fs::read(Path::new(KEPT).join(name)).expect("the tests' data")
}

/// A file of this process with these bytes.
pub fn write(name: &str, bytes: &[u8]) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("zerolap-fuzz-{}", std::process::id()));
    fs::create_dir_all(&directory).expect("a directory for files");
    let path = directory.join(name);
    fs::write(&path, bytes).expect("a file of the target's own");
    path
}

/// Reads a recording; what is accepted must give a consistent table.
pub fn read_recording(data: &Path) {
    drop(read_waits(data, ROOT, std::slice::from_ref(&(0..u64::MAX))));
    let Ok(table) = read_stacks(data, ROOT, None) else { return };
    stacks::by_function(&table).expect("a consistent table");
    stacks::fold(&table).expect("a consistent table");
    stacks::tree(&table).expect("a consistent table");
}

/// The recording with the kept program at another path, and without the libraries of this machine.
pub fn relocated(recording: &[u8], program: &Path) -> Vec<u8> {
    let recorded = format!("/tmp/{}/program", "0".repeat(200));
    let program = program.to_str().expect("a path in UTF-8");
    let filled = "/".repeat(recorded.len().saturating_sub(program.len())) + program;
    let mut bytes = recording.to_vec();
    for (old, new) in [(&*recorded, &*filled), ("/usr/lib", "/u~r/lib")] {
        let places: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(old.as_bytes())).collect();
        for at in places {
            bytes[at..at + old.len()].copy_from_slice(&new.as_bytes()[..old.len()]);
        }
    }
    bytes
}
