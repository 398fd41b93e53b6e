//! Recordings by perf of a small C program, `data/recording/src`: made on this machine, or kept beside it.
//!
//! The samples are page faults of pages that the program touches for the first time: as many on every machine, however
//! fast or busy it is.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the kept recordings were made with, `data/recording/record`.
pub const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/recording");
/// The directory that the kept program was compiled in, as its debug information names it.
pub const KEPT_ROOT: &str = "/zerolap";
/// The kept program ran in a directory with a name of so many zeros.
const NAME_BYTES: usize = 200;

pub struct Recording {
    pub directory: PathBuf,
    pub program: PathBuf,
    pub data: PathBuf,
    /// The directory that the program was compiled in.
    pub root: String,
}

fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&directory).expect("a directory for the test");
    directory
}

/// A copy of a kept recording with its program. The libraries that it ran with are not there.
pub fn kept(name: &str, recording: &str) -> Recording {
    let directory = directory(name);
    let (program, data) = (directory.join("program"), directory.join("perf.data"));
    std::fs::copy(Path::new(KEPT).join("program"), &program).expect("the kept program");
    let bytes = std::fs::read(Path::new(KEPT).join(recording)).expect("a kept recording");
    std::fs::write(&data, relocated(&bytes, &program)).expect("a copy of the recording");
    Recording { directory, program, data, root: KEPT_ROOT.to_owned() }
}

/// The recording with the program at another path, which is filled up with slashes, and without the paths of libraries.
fn relocated(bytes: &[u8], program: &Path) -> Vec<u8> {
    let recorded = format!("/tmp/{}/program", "0".repeat(NAME_BYTES));
    let program = program.to_str().expect("a path in UTF-8");
    let slashes = recorded.len().checked_sub(program.len()).expect("a shorter path for the test's files");
    let filled = "/".repeat(slashes) + program;
    let mut bytes = bytes.to_vec();
    replace(&mut bytes, &recorded, &filled);
    without_libraries(bytes)
}

/// The recording with other names of the kernel and of libraries: they take long to read, and differ between machines.
pub fn without_libraries(mut bytes: Vec<u8>) -> Vec<u8> {
    for (name, other) in [("[kernel.kallsyms]", "[k~rnel.kallsyms]"), ("/lib/", "/l~b/"), ("/usr/lib", "/u~r/lib")] {
        replace(&mut bytes, name, other);
    }
    bytes
}

fn replace(bytes: &mut [u8], old: &str, new: &str) {
    assert_eq!(old.len(), new.len());
    let places: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(old.as_bytes())).collect();
    for at in places {
        bytes[at..at + new.len()].copy_from_slice(new.as_bytes());
    }
}

/// A recording made now, with options of `perf record`; none, with the reason on standard error, where this machine
/// cannot record.
pub fn record(name: &str, compiler_flags: &[&str], options: &[&str]) -> Option<Recording> {
    let directory = directory(name);
    let (program, data) = (directory.join("program"), directory.join("perf.data"));
    let sources = directory.join("src");
    std::fs::create_dir_all(&sources).expect("a directory for the sources");
    for source in ["main.c", "work.h"] {
        std::fs::copy(Path::new(KEPT).join("src").join(source), sources.join(source)).expect("a source file");
    }
    if !runs(&mut compiler(compiler_flags, &sources, &program), "no C compiler") {
        return None;
    }
    let mut perf = Command::new("perf");
    perf.args(["record", "-q", "-e", "page-faults:u", "-c", "1"]).args(options).arg("-o").arg(&data);
    let root = directory.to_str().expect("a path in UTF-8").to_owned();
    let recording = Recording { directory, program, data, root };
    runs(perf.arg("--").arg(&recording.program), "perf cannot record here").then_some(recording)
}

/// Compiles the sources of a recording's program once more.
pub fn compile(recording: &Recording, compiler_flags: &[&str], program: &Path) {
    let sources = recording.directory.join("src");
    assert!(runs(&mut compiler(compiler_flags, &sources, program), "it does not compile"));
}

fn compiler(flags: &[&str], sources: &Path, program: &Path) -> Command {
    let mut compiler = Command::new("cc");
    compiler.args(flags).args(["-pthread", "-Wl,--build-id", "-o"]).arg(program).arg("main.c").current_dir(sources);
    compiler
}

/// As placements of a build are: its functions and their names remain, and its build id.
pub fn strip_debug_information(program: &Path) {
    assert!(runs(Command::new("strip").arg("--strip-debug").arg(program), "no strip"));
}

fn runs(command: &mut Command, otherwise: &str) -> bool {
    match command.stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => true,
        Ok(output) => {
            eprintln!("skipped: {otherwise}: {}", String::from_utf8_lossy(&output.stderr));
            false
        }
        Err(error) => {
            eprintln!("skipped: {otherwise}: {error}");
            false
        }
    }
}
