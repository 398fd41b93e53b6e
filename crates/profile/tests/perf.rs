//! Stacks of recordings by perf: kept ones, and those of this machine where it can record.

mod recorder;

use std::path::Path;

use recorder::{Recording, compile, kept, record, strip_debug_information, without_libraries};
use zerolap_profile::perf::{read_stacks, read_waits};
use zerolap_profile::stacks::{FunctionSamples, Stacks, by_function, fold};

/// With a frame in every function, so that the stacks are whole without debug information too.
const FRAMES: [&str; 4] = ["-g", "-O1", "-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer"];
const BY_FRAME_POINTERS: [&str; 2] = ["--call-graph", "fp"];
const BY_DEBUG_INFORMATION: [&str; 2] = ["--call-graph", "dwarf,1024"];
/// The stack, or code that was not needed before, may take pages of its own.
const OTHER_PAGES: u64 = 5;

fn read(recording: &Recording) -> Stacks {
    read_stacks(&recording.data, &recording.root, None).expect("a recording")
}

fn read_placed(recording: &Recording, original: &Path) -> Stacks {
    read_stacks(&recording.data, &recording.root, Some(original)).expect("a recording")
}

fn thread(stacks: &Stacks, name: &str) -> usize {
    stacks.threads.iter().position(|thread| thread.name == name).unwrap_or_else(|| panic!("no {name}: {stacks:?}"))
}

fn of<'a>(functions: &'a [FunctionSamples], thread: usize, name: &str) -> &'a FunctionSamples {
    let found = functions.iter().find(|function| (function.thread, function.function.as_str()) == (thread, name));
    found.unwrap_or_else(|| panic!("no {name} in {functions:?}"))
}

fn check(stacks: &Stacks) {
    println!("{}", fold(stacks).expect("a table"));
    assert_eq!((stacks.event.as_str(), stacks.lost), ("page-faults", 0));
    let (main, other) = (thread(stacks, "main-thread"), thread(stacks, "bio;worker"));
    let functions = by_function(stacks).expect("a table");
    for (thread, name, file, pages) in [
        (main, "cheap", "main.c", 20),
        (main, "costly", "main.c", 40),
        (main, "folded_in", "work.h", 10),
        (main, "serve", "main.c", 1),
        (other, "cheap", "main.c", 20),
        (other, "background", "main.c", 1),
    ] {
        let function = of(&functions, thread, name);
        assert!((pages..pages + OTHER_PAGES).contains(&function.own), "{function:?}, but {pages} pages");
        assert_eq!(function.file.as_deref(), Some(file));
    }
    let [serve, cheap, costly, folded_in] =
        ["serve", "cheap", "costly", "folded_in"].map(|name| of(&functions, main, name));
    assert_eq!(serve.inclusive, cheap.inclusive + costly.inclusive + folded_in.inclusive + serve.own);
    assert!(of(&functions, main, "main").inclusive >= serve.inclusive);
    let [background, cheap] = ["background", "cheap"].map(|name| of(&functions, other, name));
    assert_eq!(background.inclusive, cheap.inclusive + background.own);
    assert!(functions.iter().all(|function| (function.thread, &*function.function) != (other, "costly")));
    let inlined: Vec<&str> = stacks.frames.iter().filter(|frame| frame.inlined).map(|frame| &*frame.function).collect();
    assert!(inlined.contains(&"folded_in") && !inlined.contains(&"serve"), "{inlined:?}");
    check_lines(stacks);
    let text = fold(stacks).expect("a table");
    assert!(text.lines().any(|line| line.starts_with("main-thread;") && line.contains(";main;serve;costly ")));
    assert!(text.lines().any(|line| line.starts_with("bio_worker;") && line.contains(";other;background;cheap ")));
}

/// The lines of `data/recording/src` whose code touched the pages, in both threads.
fn check_lines(stacks: &Stacks) {
    let functions = stacks.lines.as_ref().expect("lines");
    for (name, file, line, pages) in
        [("cheap", "main.c", 8, 40), ("costly", "main.c", 9, 40), ("folded_in", "work.h", 5, 10)]
    {
        let of_function = functions.iter().find(|of| (&*of.function, &*of.object) == (name, "program"));
        let of_function = of_function.unwrap_or_else(|| panic!("no {name} in {functions:?}"));
        assert_eq!(of_function.file.as_deref(), Some(file));
        let of_line = of_function.lines.iter().find(|of| (&*of.file, of.line) == (file, line));
        let samples = of_line.map_or(0, |of| of.samples);
        assert!((pages..=of_function.samples).contains(&samples), "{of_function:?}, but {pages} pages in line {line}");
    }
}

#[test]
fn stacks_by_frame_pointers() {
    check(&read(&kept("kept_fp", "frame_pointers.data")));
    let Some(recording) = record("perf_fp", &FRAMES, &BY_FRAME_POINTERS) else { return };
    check(&read(&recording));
}

#[test]
fn stacks_by_debug_information() {
    check(&read(&kept("kept_dwarf", "debug_information.data")));
    for (name, flags) in [
        ("perf_dwarf", &["-g", "-O1", "-fomit-frame-pointer"][..]),
        ("perf_dwarf_4", &["-gdwarf-4", "-O1", "-fomit-frame-pointer", "-no-pie"]),
    ] {
        let Some(recording) = record(name, flags, &BY_DEBUG_INFORMATION) else { return };
        check(&read(&recording));
    }
}

#[test]
fn functions_in_another_order_have_the_lines_of_the_original() {
    let kept = kept("kept_placed", "debug_information.data");
    let original = kept.directory.join("original");
    std::fs::copy(&kept.program, &original).expect("a copy of the program");
    strip_debug_information(&kept.program);
    check(&read_placed(&kept, &original));

    let flags = ["-g", "-O1", "-ffunction-sections"];
    let placed = [&flags[..], &["-Wl,--sort-section=name"]].concat();
    let Some(recording) = record("perf_placed", &placed, &BY_DEBUG_INFORMATION) else { return };
    strip_debug_information(&recording.program);
    compile(&recording, &flags, &original);
    check(&read_placed(&recording, &original));
}

#[test]
fn a_program_of_other_code_is_no_original() {
    let recording = kept("kept_other_code", "debug_information.data");
    strip_debug_information(&recording.program);
    let other = recording.directory.join("other");
    let with_files = |original: &Path| {
        let frames = read_placed(&recording, original).frames;
        frames.into_iter().filter(|frame| frame.object == "program" && frame.file.is_some()).count()
    };
    for bytes in [&b""[..], b"no program"] {
        std::fs::write(&other, bytes).expect("a file");
        assert_eq!(with_files(&other), 0);
    }
    std::fs::copy(std::env::current_exe().expect("this program"), &other).expect("a copy of it");
    assert_eq!(with_files(&other), 0);
    assert_eq!(with_files(&recording.directory.join("missing")), 0);
}

#[test]
fn stacks_of_compressed_recordings() {
    check(&read(&kept("kept_compressed", "compressed.data")));
    let options = [&BY_DEBUG_INFORMATION[..], &["-z"]].concat();
    let Some(recording) = record("perf_compressed", &["-g", "-O1"], &options) else { return };
    check(&read(&recording));
}

#[test]
fn a_recording_without_switches_has_no_waits() {
    let recording = kept("kept_no_waits", "debug_information.data");
    let waits = read_waits(&recording.data, &recording.root, &[0..1000, 2000..u64::MAX]).expect("a recording");
    assert_eq!((waits.event.as_str(), waits.samples, waits.stacks.len()), ("off-cpu", 0, 0));
}

#[test]
fn functions_have_their_symbols_where_there_is_no_debug_information() {
    let Some(recording) = record("perf_symbols", &FRAMES[1..], &BY_FRAME_POINTERS) else { return };
    let stacks = read(&recording);
    let functions = by_function(&stacks).expect("a table");
    let costly = of(&functions, thread(&stacks, "main-thread"), "costly");
    assert!(costly.own >= 40 && costly.file.is_none(), "{costly:?}");
    let lines = stacks.lines.as_ref().expect("lines");
    assert!(lines.iter().all(|of| of.object != "program"), "{lines:?}");
    assert!(stacks.frames.iter().all(|frame| !frame.inlined || frame.object != "program"));
}

#[test]
fn functions_of_another_build_are_not_named() {
    let recording = kept("perf_other_build", "frame_pointers.data");
    let bytes = std::fs::read(&recording.program).expect("the program");
    let id = build_id_note(&bytes);
    let mut other = bytes;
    other[id] ^= 0x5a;
    std::fs::write(&recording.program, other).expect("another program in its place");
    let stacks = read(&recording);
    assert!(stacks.samples >= 92, "{}", stacks.samples);
    let of_program = stacks.frames.iter().filter(|frame| frame.object == "program");
    assert!(of_program.into_iter().all(|frame| frame.function == "[unknown]"), "{:?}", stacks.frames);
}

/// Where the build id begins in a program: behind the name of its note, which other notes have too.
fn build_id_note(program: &[u8]) -> usize {
    let note = [&4_u32.to_le_bytes()[..], &20_u32.to_le_bytes(), &3_u32.to_le_bytes(), b"GNU\0"].concat();
    let at = program.windows(note.len()).position(|bytes| bytes == note).expect("a build id");
    at + note.len()
}

fn positions(length: usize, number: usize) -> impl Iterator<Item = usize> {
    (0..length).step_by((length / number).max(1))
}

#[test]
fn a_recording_that_is_cut_or_changed_makes_no_panic() {
    for kind in ["frame_pointers.data", "debug_information.data", "compressed.data"] {
        let recording = kept("perf_changed", kind);
        let whole = without_libraries(std::fs::read(&recording.data).expect("the recording"));
        let changed = recording.directory.join("changed.data");
        for keep in positions(whole.len(), 40) {
            std::fs::write(&changed, &whole[..keep]).expect("a shorter copy");
            read_stacks(&changed, &recording.root, None).expect_err("is not whole");
        }
        for at in (0..1024).step_by(16).chain(positions(whole.len(), 60)) {
            let mut copy = whole.clone();
            copy[at] ^= 0x5a;
            std::fs::write(&changed, &copy).expect("a changed copy");
            drop(read_stacks(&changed, &recording.root, None));
            drop(read_waits(&changed, &recording.root, &[0..1000, 2000..u64::MAX]));
        }
    }
}

fn u64_at(bytes: &[u8], offset: usize) -> usize {
    let number = u64::from_le_bytes(bytes[offset..offset + 8].try_into().expect("8 bytes"));
    usize::try_from(number).expect("an offset")
}

/// Where the first record of a kind begins.
fn record_of(bytes: &[u8], kind: u32) -> usize {
    let (mut at, size) = (u64_at(bytes, 40), u64_at(bytes, 48));
    let end = at + size;
    while bytes[at..at + 4] != kind.to_le_bytes() {
        at += usize::from(u16::from_le_bytes([bytes[at + 6], bytes[at + 7]]));
        assert!(at < end, "no record of type {kind}");
    }
    at
}

/// Where the section of a feature begins.
fn feature(bytes: &[u8], feature: usize) -> usize {
    let flags = u64_at(bytes, 72);
    let before = (flags & ((1 << feature) - 1)).count_ones() as usize;
    u64_at(bytes, u64_at(bytes, 40) + u64_at(bytes, 48) + 16 * before)
}

/// Each of these numbers would end the process, or reserve all its memory, if it were believed.
#[test]
fn numbers_that_a_recording_states_are_not_believed() {
    const MMAP2: u32 = 10;
    const SAMPLE: u32 = 9;
    const EVENT_DESC: usize = 12;
    let recording = kept("perf_stated", "frame_pointers.data");
    let whole = std::fs::read(&recording.data).expect("the recording");
    let (events, mapping, sample) = (feature(&whole, EVENT_DESC), record_of(&whole, MMAP2), record_of(&whole, SAMPLE));
    let first_record = u64_at(&whole, 40);
    // Address, thread, time and id lie before the addresses of a sample.
    let addresses = sample + 8 + 4 * 8;
    assert!(u64_at(&whole, addresses) < 20);
    let refused = |changes: &[(usize, &[u8])]| {
        let mut bytes = whole.clone();
        for (at, new) in changes {
            bytes[*at..at + new.len()].copy_from_slice(new);
        }
        std::fs::write(&recording.data, bytes).expect("a changed recording");
        read_stacks(&recording.data, &recording.root, None).expect_err("is refused").to_string()
    };
    for (change, message) in [
        (&[(16, &[0; 8][..])][..], "the list of events"),
        (&[(16, &[0xff; 8])], "the list of events"),
        (&[(24, &[0xff; 8])], "the list of events"),
        (&[(64, &[1])], "a list of event types"),
        (&[(88, &[1])], "features of simpleperf"),
        (&[(events, &[0xff; 4])], "the list of events"),
        (&[(events + 4, &[0xff; 4])], "the list of events"),
        (&[(first_record, &[71, 0, 0, 0])], "traces of a processor"),
        (&[(first_record + 6, &[0, 0])], "a broken record"),
        (&[(mapping + 5, &[0x40]), (mapping + 8 + 32, &[21])], "a broken record of type 10"),
        (&[(addresses, &[0, 0, 0, 0, 0, 0, 0, 0x20])], "a broken record of type 9"),
    ] {
        let error = refused(change);
        assert!(error.contains(message), "{change:?}: {error}, not {message}");
    }
}

#[test]
fn a_program_that_is_cut_or_changed_makes_no_panic() {
    let recording = kept("perf_changed_program", "debug_information.data");
    let whole = std::fs::read(&recording.program).expect("the program");
    for at in positions(whole.len(), 150) {
        let mut copy = whole.clone();
        copy[at] ^= 0x5a;
        std::fs::write(&recording.program, &copy).expect("a changed program");
        read(&recording);
        std::fs::write(&recording.program, &whole[..at]).expect("a shorter program");
        read(&recording);
    }
}

#[test]
fn a_table_of_unwind_information_that_points_elsewhere_is_not_used() {
    let recording = kept("perf_changed_table", "debug_information.data");
    let expected = read(&recording);
    let mut program = std::fs::read(&recording.program).expect("the program");
    // `.eh_frame_hdr`: its version and encodings, where `.eh_frame` begins, the number of entries, and the entries.
    let table = program.windows(4).position(|bytes| bytes == [1, 0x1b, 3, 0x3b]).expect("a table");
    let entries = u32::from_le_bytes(program[table + 8..table + 12].try_into().expect("4 bytes")) as usize;
    for entry in 0..entries {
        // An entry is the start of a function, and where its information lies, both from the table on.
        let place = table + 12 + 8 * entry + 4;
        program[place..place + 4].fill(0);
    }
    std::fs::write(&recording.program, program).expect("a changed program");
    assert_eq!(read(&recording), expected);
}
