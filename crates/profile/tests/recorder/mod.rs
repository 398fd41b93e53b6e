//! Recordings of a small C program by perf.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// `costly` does twice the work of `cheap`, `folded_in` half of its; each thread has one side of the work.
pub const SOURCE: &str = "\
#define _GNU_SOURCE
#include <pthread.h>
#include \"work.h\"

__attribute__((noinline)) static void cheap(void) { spin(100000); sink++; }
__attribute__((noinline)) static void costly(void) { spin(200000); sink++; }
__attribute__((noinline)) static void serve(void) { cheap(); costly(); folded_in(); sink++; }
__attribute__((noinline)) static void background(void) { cheap(); sink++; }

static void *other(void *rounds) {
    pthread_setname_np(pthread_self(), \"bio;worker\");
    for (long round = 0; round < *(long *)rounds; round++) background();
    return 0;
}

int main(void) {
    long rounds = 1500;
    pthread_t thread;
    pthread_setname_np(pthread_self(), \"main-thread\");
    pthread_create(&thread, 0, other, &rounds);
    for (long round = 0; round < rounds; round++) serve();
    pthread_join(thread, 0);
    return 0;
}
";

/// `spin` is a part of its caller's own code wherever it is used. It counts in memory on the stack: GCC gives a function
/// that needs no stack no frame either, whatever it is asked for.
pub const HEADER: &str = "\
static volatile unsigned long sink;
#define spin(times) for (volatile long i = 0; i < (times); i++) sink += i
static inline __attribute__((always_inline)) void folded_in(void) { spin(50000); }
";

pub struct Recording {
    pub directory: PathBuf,
    pub program: PathBuf,
    pub data: PathBuf,
}

impl Recording {
    pub fn root(&self) -> &str {
        self.directory.to_str().expect("a path in UTF-8")
    }
}

/// None, with the reason on standard error, where this machine cannot record.
pub fn record(name: &str, flags: &[&str], call_graph: &str) -> Option<Recording> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(directory.join("src")).expect("a directory for the test");
    std::fs::write(directory.join("src/main.c"), SOURCE).expect("a source file");
    std::fs::write(directory.join("src/work.h"), HEADER).expect("a header");
    let (program, data) = (directory.join("program"), directory.join("perf.data"));
    let mut compiler = Command::new("cc");
    compiler.args(flags).args(["-pthread", "-Wl,--build-id", "-o"]).arg(&program).arg("main.c");
    if !runs(compiler.current_dir(directory.join("src")), "no C compiler") {
        return None;
    }
    let mut perf = Command::new("perf");
    perf.args(["record", "-q", "-e", "cpu-clock", "-F", "997", "--call-graph", call_graph, "-o"]);
    runs(perf.arg(&data).arg("--").arg(&program), "perf cannot record here").then_some(Recording {
        directory,
        program,
        data,
    })
}

fn runs(command: &mut Command, otherwise: &str) -> bool {
    let output = command.stdin(Stdio::null()).output();
    match output {
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
