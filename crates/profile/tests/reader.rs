//! Callgrind's format, as callgrind writes it and as it should not be.

use proptest::prelude::*;
use zerolap_profile::callgrind::{Dump, ReadError, Syntax, read};

const SMALL: &str = include_str!("data/small.callgrind");
const POSITIONS: &str = include_str!("data/positions.callgrind");

fn dump(text: &str) -> Dump {
    read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

fn error(text: &str) -> ReadError {
    read(text.as_bytes()).expect_err("is not in the format")
}

fn symbol(dump: &Dump, function: u32) -> &str {
    dump.name(dump.functions[function as usize].symbol)
}

#[test]
fn costs_lie_where_callgrind_means_them() {
    let dump = dump(POSITIONS);
    let own: Vec<_> = (dump.own.iter())
        .map(|own| (symbol(&dump, own.function), dump.name(own.file), own.line, own.cost.instructions))
        .collect();
    assert_eq!(
        own,
        [
            ("main", "a.c", 10, 5),
            ("main", "a.c", 10, 2),
            ("main", "a.h", 3, 1),
            ("main", "a.h", 4, 1),
            ("main", "a.c", 12, 4),
            ("walk", "a.c", 30, 20),
            ("walk", "a.c", 29, 1),
            ("walk'2", "a.c", 30, 10),
        ]
    );
    let calls: Vec<_> = (dump.calls.iter())
        .map(|call| {
            (symbol(&dump, call.caller), symbol(&dump, call.callee), dump.name(call.file), call.line, call.calls)
        })
        .collect();
    assert_eq!(calls, [("main", "walk", "a.c", 11, 1), ("walk", "walk'2", "a.c", 32, 2)]);
    assert_eq!(dump.calls[0].inclusive.instructions, 30);
    assert!(dump.own.iter().all(|own| own.cost.syscalls == 0), "sysCount is absent");
}

#[test]
fn a_called_function_is_the_one_defined_elsewhere() {
    let dump = dump(SMALL);
    let memcpy: Vec<_> = dump.functions.iter().filter(|function| dump.name(function.symbol) == "memcpy").collect();
    assert_eq!(memcpy.len(), 1);
    assert_eq!(dump.name(memcpy[0].object), "/usr/lib/libc.so.6");
    assert_eq!(dump.own.iter().map(|own| own.cost.syscalls).sum::<u64>(), 14);
}

#[test]
fn wrong_lines_are_named_with_their_number() {
    let head = "events: Ir\n";
    for (body, line, syntax) in [
        ("fn=(1)\n", 2, Syntax::UndefinedName(1)),
        ("1 2\n", 2, Syntax::NoFunction),
        ("fn=f\n1 x\n", 3, Syntax::Number("x".into())),
        ("fn=f\n1 2 3\n", 3, Syntax::TooManyCosts { found: 2, events: 1 }),
        ("fn=f\n-1 2\n", 3, Syntax::Position("-1".into())),
        ("fn=f\n4294967296 2\n", 3, Syntax::Position("4294967296 2".into())),
        ("fn=f\ncalls=1 2\n", 3, Syntax::NoCalledFunction),
        ("fn=f\ncfn=g\ncalls=1 2\nfn=h\n", 5, Syntax::CallWithoutCost),
        ("fn=f\nhello\n", 3, Syntax::Unknown("hello".into())),
        ("fn=f\nxx=1\n", 3, Syntax::Unknown("xx=1".into())),
        ("positions: instr line\nfn=f\n1\n", 4, Syntax::TooFewPositions { found: 1, expected: 2 }),
        ("events: Dr Dw\n", 2, Syntax::NoInstructions("Dr Dw".into())),
    ] {
        match error(&format!("{head}{body}")) {
            ReadError::Line { line: found_line, syntax: found } => assert_eq!((found_line, found), (line, syntax)),
            other => panic!("{body:?}: {other}"),
        }
    }
    assert!(matches!(error("fn=f\n1 2\n"), ReadError::Line { line: 2, syntax: Syntax::CostBeforeEvents }));
}

#[test]
fn a_dump_that_is_not_whole_is_refused() {
    assert!(matches!(error(""), ReadError::NoEvents));
    let whole_lines: Vec<&str> = SMALL.lines().collect();
    let without_end = whole_lines[..whole_lines.len() - 1].join("\n");
    assert!(matches!(error(&without_end), ReadError::CutShort { .. }));
    assert!(matches!(error("events: Ir\nfn=f\ncfn=g\ncalls=1 2\n"), ReadError::CutShort { .. }));
    let other_total = SMALL.replace("totals: 2030", "totals: 2031");
    assert!(matches!(error(&other_total), ReadError::Total { sum: 2030, stated: 2031 }));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "((ob|fl|fi|fn|cfn|cob|calls|jump|events|positions|totals)[=:])?[-+*()0-9a-z \n]{0,9}") {
        drop(read(text.as_bytes()));
    }

    #[test]
    fn no_change_of_a_dump_makes_it_panic(at in 0..SMALL.len(), bytes in prop::collection::vec(any::<u8>(), 0..4)) {
        let mut changed = SMALL.as_bytes().to_vec();
        let end = (at + bytes.len()).min(changed.len());
        changed.splice(at..end, bytes);
        drop(read(&*changed));
    }
}
