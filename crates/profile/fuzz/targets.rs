//! What is done with bytes that claim to be a file of each kind. None may make a reader panic, loop or take memory out of
//! proportion; whatever a reader accepts, its result must be consistent.

use std::fs;
use std::path::{Path, PathBuf};

use zerolap_profile::binary;
use zerolap_profile::callgrind;
use zerolap_profile::functions::source_functions;
use zerolap_profile::graph::merge;
use zerolap_profile::perf::read_stacks;
use zerolap_profile::stacks;
use zerolap_profile::window::{Window, per_request};

use super::DATA;

/// The directory that the kept program was compiled in.
const ROOT: &str = "/zerolap";

/// A kind of file, and what reads it.
pub struct Target {
    pub name: &'static str,
    /// Files to begin with, below the tests' data.
    pub seeds: &'static [&'static str],
    /// Reads the bytes, which may be put into a file of the directory.
    pub read: fn(&[u8], &Path),
}

pub static TARGETS: [Target; 4] = [
    Target {
        name: "callgrind",
        seeds: &["small.callgrind", "large.callgrind", "positions.callgrind"],
        read: read_dump,
    },
    Target {
        name: "perf_data",
        seeds: &["recording/frame_pointers.data", "recording/debug_information.data", "recording/compressed.data"],
        read: read_recording,
    },
    Target { name: "binary", seeds: &["recording/program"], read: read_binary },
    Target { name: "symbols", seeds: &["recording/program"], read: read_symbols },
];

pub fn named(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// This process's own directory for the files of a target.
pub fn directory(target: &Target) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("zerolap-fuzz-{}-{}", target.name, std::process::id()));
    fs::create_dir_all(&directory).expect("a directory for files");
    directory
}

pub fn seed(name: &str) -> Vec<u8> {
    fs::read(Path::new(DATA).join(name)).expect("the tests' data")
}

fn read_dump(bytes: &[u8], _: &Path) {
    let Ok(dump) = callgrind::read(bytes) else { return };
    let nothing = callgrind::Dump::default();
    let (small, large) = (Window { dump: &nothing, requests: 0 }, Window { dump: &dump, requests: 3 });
    let graph = per_request(small, large, "/build/redis").expect("more requests");
    merge(&[graph.clone(), graph]).expect("a consistent graph");
}

fn file(bytes: &[u8], directory: &Path, name: &str) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, bytes).expect("a file of the target's own");
    path
}

fn check_stacks(data: &Path) {
    let Ok(table) = read_stacks(data, ROOT) else { return };
    stacks::by_function(&table).expect("a consistent table");
    stacks::fold(&table).expect("a consistent table");
    stacks::tree(&table).expect("a consistent table");
}

/// With the program that was recorded, but for where the bytes name another.
fn read_recording(bytes: &[u8], directory: &Path) {
    let program = directory.join("program");
    if !program.exists() {
        fs::write(&program, seed("recording/program")).expect("a file of the target's own");
    }
    check_stacks(&file(&relocated(bytes, &program), directory, "perf.data"));
}

fn read_binary(bytes: &[u8], directory: &Path) {
    let path = file(bytes, directory, "program");
    drop(binary::facts(&path));
    drop(source_functions(&path, ROOT));
}

/// As the program of a recording whose stacks are unwound by it.
fn read_symbols(bytes: &[u8], directory: &Path) {
    let program = file(bytes, directory, "program");
    let data = directory.join("perf.data");
    if !data.exists() {
        fs::write(&data, relocated(&seed("recording/debug_information.data"), &program)).expect("a file of its own");
    }
    check_stacks(&data);
}

/// The recording with the kept program at another path, and without the libraries of this machine.
fn relocated(bytes: &[u8], program: &Path) -> Vec<u8> {
    let recorded = format!("/tmp/{}/program", "0".repeat(200));
    let program = program.to_str().expect("a path in UTF-8");
    let filled = "/".repeat(recorded.len().saturating_sub(program.len())) + program;
    let mut bytes = bytes.to_vec();
    for (old, new) in [(&*recorded, &*filled), ("/usr/lib", "/u~r/lib")] {
        let places: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(old.as_bytes())).collect();
        for at in places {
            bytes[at..at + old.len()].copy_from_slice(&new.as_bytes()[..old.len()]);
        }
    }
    bytes
}
