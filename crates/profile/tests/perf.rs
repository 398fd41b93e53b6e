//! Stacks of programs recorded by perf on this machine.

mod recorder;

use recorder::{Recording, record};
use zerolap_profile::perf::read_stacks;
use zerolap_profile::stacks::{FunctionSamples, Stacks, by_function, fold};

/// With a frame in every function, so that the stacks are whole without debug information too.
const FRAMES: [&str; 4] = ["-g", "-O1", "-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer"];

fn thread(stacks: &Stacks, name: &str) -> usize {
    stacks.threads.iter().position(|thread| thread.name == name).unwrap_or_else(|| panic!("no {name}: {stacks:?}"))
}

fn of<'a>(functions: &'a [FunctionSamples], thread: usize, name: &str) -> &'a FunctionSamples {
    let found = functions.iter().find(|function| (function.thread, function.function.as_str()) == (thread, name));
    found.unwrap_or_else(|| panic!("no {name} in {functions:?}"))
}

fn check(stacks: &Stacks) {
    println!("{}", fold(stacks).expect("a table"));
    assert_eq!(stacks.event, "cpu-clock");
    assert!(stacks.samples > 200, "{}", stacks.samples);
    let (main, other) = (thread(stacks, "main-thread"), thread(stacks, "bio;worker"));
    let functions = by_function(stacks).expect("a table");
    let [serve, cheap, costly, folded_in] =
        ["serve", "cheap", "costly", "folded_in"].map(|name| of(&functions, main, name));
    for function in [serve, cheap, costly] {
        assert_eq!(function.file.as_deref(), Some("main.c"));
    }
    assert_eq!(folded_in.file.as_deref(), Some("work.h"));
    let ratio = |a: u64, b: u64| a as f64 / b as f64;
    assert!((1.6..2.5).contains(&ratio(costly.own, cheap.own)), "{costly:?} {cheap:?}");
    assert!((0.3..0.8).contains(&ratio(folded_in.own, cheap.own)), "{folded_in:?} {cheap:?}");
    let below = cheap.inclusive + costly.inclusive + folded_in.inclusive + serve.own;
    assert!(serve.inclusive.abs_diff(below) <= serve.inclusive / 50, "{serve:?} {below}");
    assert!(of(&functions, main, "main").inclusive >= serve.inclusive * 49 / 50);
    assert!(of(&functions, other, "background").inclusive >= of(&functions, other, "cheap").inclusive * 49 / 50);
    assert!(functions.iter().all(|function| (function.thread, &*function.function) != (other, "costly")));
    let inlined: Vec<&str> = stacks.frames.iter().filter(|frame| frame.inlined).map(|frame| &*frame.function).collect();
    assert!(inlined.contains(&"folded_in") && !inlined.contains(&"serve"), "{inlined:?}");
    let text = fold(stacks).expect("a table");
    assert!(text.lines().any(|line| line.starts_with("main-thread;") && line.contains(";main;serve;costly ")));
    assert!(text.lines().any(|line| line.starts_with("bio_worker;") && line.contains(";other;background;cheap ")));
}

#[test]
fn stacks_by_frame_pointers() {
    let Some(recording) = record("perf_fp", &FRAMES, "fp") else { return };
    check(&read_stacks(&recording.data, recording.root()).expect("a recording"));
}

#[test]
fn stacks_by_debug_information() {
    for (name, flags) in [
        ("perf_dwarf", &["-g", "-O1", "-fomit-frame-pointer"][..]),
        ("perf_dwarf_4", &["-gdwarf-4", "-O1", "-fomit-frame-pointer", "-no-pie"]),
    ] {
        let Some(recording) = record(name, flags, "dwarf,4096") else { return };
        check(&read_stacks(&recording.data, recording.root()).expect("a recording"));
    }
}

#[test]
fn functions_have_their_symbols_where_there_is_no_debug_information() {
    let flags = &FRAMES[1..];
    let Some(recording) = record("perf_symbols", flags, "fp") else { return };
    let stacks = read_stacks(&recording.data, recording.root()).expect("a recording");
    let functions = by_function(&stacks).expect("a table");
    let costly = of(&functions, thread(&stacks, "main-thread"), "costly");
    assert!(costly.own > 50 && costly.file.is_none(), "{costly:?}");
    assert!(stacks.frames.iter().all(|frame| !frame.inlined || frame.object != "program"));
}

#[test]
fn functions_of_another_build_are_not_named() {
    let Some(recording) = record("perf_other_build", &FRAMES, "fp") else { return };
    let Some(other) = record("perf_other_build_2", &["-O2", "-DOTHER"], "fp") else { return };
    std::fs::copy(&other.program, &recording.program).expect("another program in its place");
    let stacks = read_stacks(&recording.data, recording.root()).expect("a recording");
    assert!(stacks.samples > 200);
    let of_program = stacks.frames.iter().filter(|frame| frame.object == "program");
    assert!(of_program.into_iter().all(|frame| frame.function == "[unknown]"), "{:?}", stacks.frames);
}

/// The bytes of a recording without the names of the kernel and of libraries, which take long to read.
fn without_libraries(recording: &Recording) -> Vec<u8> {
    let mut bytes = std::fs::read(&recording.data).expect("the recording");
    for name in [&b"[kernel.kallsyms]"[..], b"/lib/", b"/usr/lib/"] {
        let places: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(name)).collect();
        for at in places {
            bytes[at + 2] = b'~';
        }
    }
    bytes
}

fn positions(length: usize, number: usize) -> impl Iterator<Item = usize> {
    (0..length).step_by((length / number).max(1))
}

#[test]
fn a_recording_that_is_cut_or_changed_makes_no_panic() {
    let Some(recording) = record("perf_changed", &FRAMES, "dwarf,1024") else { return };
    let whole = without_libraries(&recording);
    let changed = recording.directory.join("changed.data");
    for keep in positions(whole.len(), 40) {
        std::fs::write(&changed, &whole[..keep]).expect("a shorter copy");
        read_stacks(&changed, recording.root()).expect_err("is not whole");
    }
    for at in (0..2048).step_by(16).chain(positions(whole.len(), 60)) {
        let mut copy = whole.clone();
        copy[at] ^= 0x5a;
        std::fs::write(&changed, &copy).expect("a changed copy");
        drop(read_stacks(&changed, recording.root()));
    }
}

#[test]
fn a_program_that_is_cut_or_changed_makes_no_panic() {
    let Some(recording) = record("perf_changed_program", &["-g", "-O1"], "dwarf,1024") else { return };
    std::fs::write(&recording.data, without_libraries(&recording)).expect("a copy without libraries");
    let whole = std::fs::read(&recording.program).expect("the program");
    for at in positions(whole.len(), 150) {
        let mut copy = whole.clone();
        copy[at] ^= 0x5a;
        std::fs::write(&recording.program, &copy).expect("a changed program");
        read_stacks(&recording.data, recording.root()).expect("a recording");
        std::fs::write(&recording.program, &whole[..at]).expect("a shorter program");
        read_stacks(&recording.data, recording.root()).expect("a recording");
    }
}
