//! Executed instructions of the kept program: listed without addresses, and compared.

use std::path::{Path, PathBuf};

use zerolap_profile::callgrind::{Dump, read};
use zerolap_profile::identity::{
    ALONE, Executed, Identity, Library, Line, Node, PIPELINED, Trial, canonical_digest, compare, executed,
};

const DUMP: &str = include_str!("data/executed.callgrind");

fn program() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/recording/program")
}

fn dump(text: &str) -> Dump {
    read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

/// What was executed by the dump, before the windows and in them.
fn listed(before: &str, window: &str) -> Executed {
    let (before, window) = (dump(before), dump(window));
    let trial = Trial {
        before: &before,
        windows: [&[&window], &[], &[&window]],
        requests: [10, 0, 10],
        object: "/zerolap/program",
    };
    executed(&trial, &program()).expect("an ELF file")
}

/// The dump without the instructions from this address on.
fn without_last(instructions: usize) -> String {
    let lines: Vec<&str> = DUMP.lines().filter(|line| !line.starts_with("totals:")).collect();
    lines[..lines.len() - instructions].iter().flat_map(|line| [line, "\n"]).collect()
}

#[test]
fn functions_and_instructions_are_listed_by_name() {
    let executed = listed(DUMP, DUMP);
    assert_eq!(executed.unknown, None);
    let main = executed.nodes.iter().find(|node| node.name == "main").expect("the program's main");
    assert!(main.code && !main.lines.is_empty());
    assert!(executed.texts.iter().any(|text| text == "ret"));
    assert!(executed.texts.iter().all(|text| !text.starts_with("nop")), "instructions that do nothing are left out");
}

#[test]
fn the_kept_form_is_read_back() {
    let executed = listed(DUMP, DUMP);
    let json = executed.to_json().expect("a form of JSON");
    assert_eq!(Executed::from_json(&json).expect("the same"), executed);
    assert!(Executed::from_json(b"{}").is_err());
}

#[test]
fn a_program_is_identical_to_itself_and_the_numbers_are_those_of_the_windows() {
    let executed = listed(DUMP, DUMP);
    let Identity::Identical { instructions, functions } = compare(&executed, &executed) else { panic!("identical") };
    assert!(instructions > 50 && functions > 2);
    let part = listed(DUMP, &without_last(40));
    let Identity::Identical { instructions: fewer, .. } = compare(&part, &part) else { panic!("identical") };
    assert!(fewer < instructions);
}

#[test]
fn more_that_is_executed_or_oftener_is_a_difference() {
    let whole = listed(DUMP, DUMP);
    assert!(matches!(compare(&whole, &listed(DUMP, &without_last(1))), Identity::Different { .. }));
    let (before, window) = (without_last(1), without_last(1));
    assert!(matches!(compare(&whole, &listed(&before, &window)), Identity::Different { .. }));
    let mut oftener = whole.clone();
    let counted = whole.nodes.iter().position(|node| !node.lines.is_empty()).expect("an executed function");
    oftener.nodes[counted].lines[0].1[PIPELINED] += 5;
    let Identity::Different { differences } = compare(&whole, &oftener) else { panic!("different") };
    assert_eq!(differences[0].name, whole.nodes[counted].name);
}

#[test]
fn what_few_requests_execute_is_executed_in_a_window_or_before_it_by_chance() {
    let rare = |times: u64| {
        let mut executed = listed(DUMP, DUMP);
        executed.requests = [1000, 0, 1000];
        let node = executed.nodes.iter_mut().find(|node| !node.lines.is_empty()).expect("an executed function");
        node.lines[0].1 = [times, 0, 0];
        executed
    };
    assert!(matches!(compare(&rare(0), &rare(5)), Identity::Identical { .. }));
    assert!(matches!(compare(&rare(0), &rare(50)), Identity::Different { .. }));
    assert_eq!(canonical_digest(&rare(0)), canonical_digest(&rare(5)));
    assert_ne!(canonical_digest(&rare(0)), canonical_digest(&rare(50)));
}

#[test]
fn libraries_may_take_other_paths_by_the_addresses_of_strings_and_the_program_may_not() {
    let of = |own: u64, library: u64| {
        let libraries =
            vec![Library { name: "libc.so.6".to_owned(), digest: "ab".to_owned(), instructions: [library, 0, 0] }];
        Executed { instructions: [own, own, 0], libraries, ..listed(DUMP, DUMP) }
    };
    let base = of(900_000, 100_000);
    assert!(matches!(compare(&base, &of(900_000, 100_900)), Identity::Identical { .. }));
    assert!(matches!(compare(&base, &of(900_000, 101_200)), Identity::Different { .. }));
    let Identity::Different { differences } = compare(&base, &of(900_400, 100_000)) else { panic!("different") };
    assert_eq!(differences[0].name, "the counts of the program's own instructions");
    let mut alone = base.clone();
    alone.instructions[ALONE] += 900;
    let Identity::Different { differences } = compare(&base, &alone) else { panic!("different") };
    assert!(differences[0].name.contains("come alone"));
}

#[test]
fn other_amounts_of_requests_cannot_be_compared() {
    let (whole, mut other) = (listed(DUMP, DUMP), listed(DUMP, DUMP));
    other.requests[PIPELINED] += 1;
    assert!(matches!(compare(&whole, &other), Identity::Unknown { .. }));
}

#[test]
fn a_dump_without_addresses_lists_nothing() {
    let text = "positions: line\nevents: Ir\nob=/zerolap/program\nfl=main.c\nfn=main\n1 3\n";
    let executed = listed(text, text);
    assert!(executed.unknown.is_some_and(|reason| reason.contains("addresses")));
}

#[test]
fn the_digest_is_of_what_is_executed_in_whatever_order_it_is_listed() {
    let whole = listed(DUMP, DUMP);
    let digest = canonical_digest(&whole).expect("a digest");
    assert_eq!(canonical_digest(&listed(DUMP, DUMP)), Some(digest.clone()));
    let mut oftener = whole.clone();
    for node in &mut oftener.nodes {
        node.name = "another".to_owned();
        node.lines.iter_mut().for_each(|line| line.1[PIPELINED] *= 3);
    }
    assert_eq!(canonical_digest(&oftener), Some(digest.clone()));
    let mut reversed = whole.clone();
    let last = u32::try_from(reversed.nodes.len() - 1).expect("few nodes");
    reversed.nodes.reverse();
    for target in reversed.nodes.iter_mut().flat_map(|node| &mut node.lines).flat_map(|line| &mut line.2) {
        *target = last - *target;
    }
    assert_eq!(canonical_digest(&reversed), Some(digest.clone()));
    assert_ne!(canonical_digest(&listed(DUMP, &without_last(1))), Some(digest));
}

#[test]
fn instructions_are_counted_by_what_they_begin_with() {
    let text = |text: &str| text.to_owned();
    let function = |name: &str, lines: &[(u32, u64)]| Node {
        name: name.to_owned(),
        code: true,
        lines: lines.iter().map(|(text, times)| Line(*text, [*times, 9, 9], Vec::new())).collect(),
    };
    let data = Node { name: "table".to_owned(), code: false, lines: vec![Line(0, [100, 0, 0], Vec::new())] };
    let executed = Executed {
        requests: [10, 1, 1],
        texts: vec![text("lock xadd [@],rax"), text("mov rax,rbx"), text("rep stosq")],
        nodes: vec![
            function("zmalloc", &[(0, 20), (1, 30), (0, 5)]),
            function("reply", &[(1, 10), (2, 40)]),
            function("before", &[(0, 0)]),
            data,
        ],
        ..Executed::default()
    };
    let counts: Vec<_> = executed.beginning_with(&["lock ", "rep stos"]).into_iter().collect();
    assert_eq!(counts, [(("reply", 1), 4.0), (("zmalloc", 0), 2.5)]);
    assert!(executed.beginning_with(&[]).is_empty());
}

#[test]
fn the_digest_of_what_is_not_listed_is_of_the_image_and_the_libraries() {
    let library =
        |digest: &str| Library { name: "libc.so.6".to_owned(), digest: digest.to_owned(), instructions: [9, 0, 0] };
    let unlisted = Executed {
        image: "1f".to_owned(),
        unknown: Some("no addresses".to_owned()),
        libraries: vec![library("ab")],
        ..Executed::default()
    };
    let other_image = Executed { image: "2f".to_owned(), ..unlisted.clone() };
    let other_library = Executed { libraries: vec![library("cd")], ..unlisted.clone() };
    let unreadable = Executed { libraries: vec![library("")], ..unlisted.clone() };
    assert_eq!(canonical_digest(&unlisted), canonical_digest(&unlisted.clone()));
    assert_ne!(canonical_digest(&unlisted), canonical_digest(&other_image));
    assert_ne!(canonical_digest(&unlisted), canonical_digest(&other_library));
    assert_eq!(canonical_digest(&unreadable), None);
}
