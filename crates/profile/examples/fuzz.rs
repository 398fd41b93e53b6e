//! Fuzzing without a nightly compiler: changes the tests' data at random and reads it, for so many seconds.
//!
//!     cargo run -p zerolap-profile --example fuzz -- TARGET SECONDS [SEED]
//!
//! Ends with 1 where a reader panics, takes longer than it should or more memory than it may, and leaves the bytes in a
//! file. The targets are those of `fuzz/`, which follow what the code does with a change.

#[path = "../fuzz/targets.rs"]
mod targets;

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::exit;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use targets::{TARGETS, Target, seed};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
/// Of all memory together; a reader of a file of some kilobytes needs a hundredth.
const MEMORY_BYTES: u64 = 4 << 30;
/// An input that takes longer makes a hang, on a busy machine too.
const HANG: Duration = Duration::from_secs(60);
const CHANGES_LIMIT: u64 = 6;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let target = words.first().and_then(|name| targets::named(name));
    let seconds = words.get(1).and_then(|seconds| seconds.parse().ok());
    let (Some(target), Some(seconds)) = (target, seconds) else {
        eprintln!(
            "usage: fuzz TARGET SECONDS [SEED], TARGET one of {}",
            TARGETS.each_ref().map(|target| target.name).join(", ")
        );
        exit(2);
    };
    let random = words.get(2).and_then(|seed| seed.parse().ok());
    let random = random.unwrap_or_else(|| RandomState::new().build_hasher().finish()).max(1);
    let directory = targets::directory(target);
    limit_memory();
    println!("{}: seed {random}", target.name);
    let tries = run(target, Duration::from_secs(seconds), &mut Random(random), &directory);
    println!("{}: {tries} inputs in {seconds} s", target.name);
    fs::remove_dir_all(&directory).expect("the directory is removed");
}

fn run(target: &Target, time: Duration, random: &mut Random, directory: &Path) -> u64 {
    let input = directory.join("input");
    let started = Arc::new(AtomicU64::new(0));
    let _watch = watch(started.clone(), input.clone());
    let seeds: Vec<Vec<u8>> = target.seeds.iter().map(|name| seed(name)).collect();
    let begin = Instant::now();
    let mut tries = 0;
    while begin.elapsed() < time {
        let bytes = changed(&seeds, random);
        // Kept beforehand: a reader without memory ends the process.
        fs::write(&input, &bytes).expect("the input is kept");
        started.store(tries + 1, Ordering::Relaxed);
        if catch_unwind(AssertUnwindSafe(|| (target.read)(&bytes, directory))).is_err() {
            eprintln!("{}: panic at {}", target.name, input.display());
            exit(1);
        }
        tries += 1;
    }
    tries
}

/// Ends the process where the number of the input stays the same for too long, until what is returned is dropped.
fn watch(started: Arc<AtomicU64>, input: PathBuf) -> mpsc::Sender<()> {
    let (alive, ended) = mpsc::channel();
    thread::spawn(move || {
        let mut last = 0;
        while ended.recv_timeout(HANG) == Err(mpsc::RecvTimeoutError::Timeout) {
            let now = started.load(Ordering::Relaxed);
            if now == last {
                eprintln!("no end after {} s at {}", HANG.as_secs(), input.display());
                exit(1);
            }
            last = now;
        }
    });
    alive
}

fn limit_memory() {
    let limit = libc::rlimit { rlim_cur: MEMORY_BYTES, rlim_max: MEMORY_BYTES };
    // SAFETY: the call reads the structure and nothing else.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
}

/// Numbers that look random (Marsaglia 2003, xorshift64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        let limit = limit.max(1) as u64;
        usize::try_from((self.next() >> 11) % limit).unwrap_or(0)
    }
}

fn changed(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = seeds[random.below(seeds.len())].clone();
    for _ in 0..=random.next() % CHANGES_LIMIT {
        change(&mut bytes, &seeds[random.below(seeds.len())], random);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    if bytes.is_empty() {
        return;
    }
    // Headers are short, and the most is decided there.
    let reach = if random.below(3) == 0 { bytes.len().min(512) } else { bytes.len() };
    let at = random.below(reach);
    let length = 1 + random.below(64).min(bytes.len() - at - 1);
    match random.below(8) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = random.next().to_le_bytes()[7],
        2 | 3 => number(&mut bytes[at..], random),
        4 => drop(bytes.drain(at..at + length)),
        5 => {
            let part = bytes[at..at + length].to_vec();
            drop(bytes.splice(at..at, part));
        }
        6 => {
            let from = random.below(other.len());
            let to = (from + length).min(other.len());
            let end = (at + to - from).min(bytes.len());
            drop(bytes.splice(at..end, other[from..to].iter().copied()));
        }
        _ => digits(bytes, at, random),
    }
}

/// A number at the edge of what its type holds, or close to the one that is there.
fn number(bytes: &mut [u8], random: &mut Random) {
    let width = [2, 4, 8][random.below(3)].min(bytes.len());
    let edges = [0, 1, 7, 8, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, i64::MAX as u64, u64::MAX];
    let mut old = [0; 8];
    old[..width].copy_from_slice(&bytes[..width]);
    let old = u64::from_le_bytes(old);
    let new = match random.below(4) {
        0 => old.wrapping_add(1),
        1 => old.wrapping_mul(2),
        _ => edges[random.below(edges.len())],
    };
    bytes[..width].copy_from_slice(&new.to_le_bytes()[..width]);
}

/// In a text: another number in place of the next one.
fn digits(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let Some(start) = bytes[at..].iter().position(u8::is_ascii_digit).map(|found| at + found) else { return };
    let end = bytes[start..].iter().position(|byte| !byte.is_ascii_digit()).map_or(bytes.len(), |found| start + found);
    let texts = ["0", "1", "4294967295", "18446744073709551615", "18446744073709551616", "+1", "-1", "*", "0x0"];
    drop(bytes.splice(start..end, texts[random.below(texts.len())].bytes()));
}
