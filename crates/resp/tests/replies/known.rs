//! Known replies, each kind and each fault.

use zerolap_resp::{Leaves, MAXIMUM_DEPTH, MalformedReply, ReplyKind, ReplyReader};

use crate::seen::{Seen, leaves_of_each, read};

fn read_one(bytes: &str) -> Seen {
    let seen = read(&[bytes.as_bytes()]).expect("a reply");
    assert_eq!(seen.len(), 1, "{bytes:?}");
    seen[0].clone()
}

#[test]
fn each_kind_is_reported() {
    let plain = [
        ("+OK\r\n", ReplyKind::Status),
        ("+\r\n", ReplyKind::Status),
        (":-12\r\n", ReplyKind::Integer),
        ("$3\r\na\r\n\r\n", ReplyKind::Bulk),
        ("$0\r\n\r\n", ReplyKind::Bulk),
        ("$-1\r\n", ReplyKind::Nil),
        ("*-1\r\n", ReplyKind::Nil),
        ("_\r\n", ReplyKind::Nil),
        (",-1.5e+10\r\n", ReplyKind::Double),
        (",inf\r\n", ReplyKind::Double),
        ("#t\r\n", ReplyKind::Boolean),
        ("(-3492890328409238509324850943850943825024385\r\n", ReplyKind::BigNumber),
        ("=15\r\ntxt:Some string\r\n", ReplyKind::Verbatim),
    ];
    for (bytes, kind) in plain {
        assert_eq!(read_one(bytes), Seen::plain(kind), "{bytes:?}");
    }
}

#[test]
fn an_integer_of_zero_is_reported_as_such() {
    let integers = ":0\r\n:1\r\n:-0\r\n:10\r\n:000000000000\r\n|1\r\n+a\r\n:0\r\n:7\r\n:+0\r\n";
    let zeros = [true, false, true, false, true, false, true];
    for length in [1, integers.len()] {
        let pieces: Vec<&[u8]> = integers.as_bytes().chunks(length).collect();
        let seen = read(&pieces).expect("replies");
        assert!(seen.iter().all(|seen| seen.kind == ReplyKind::Integer));
        assert_eq!(seen.iter().map(|seen| seen.is_zero).collect::<Vec<_>>(), zeros);
    }
    for other in ["*1\r\n:0\r\n", "*0\r\n", "$0\r\n\r\n", "+0\r\n", ",0\r\n", "#f\r\n", "$-1\r\n"] {
        assert!(!read_one(other).is_zero, "{other:?}");
        let after_zero = read(&[b":0\r\n", other.as_bytes()]).expect("replies");
        assert!(!after_zero[1].is_zero, "{other:?}");
    }
}

#[test]
fn statuses_that_stand_for_something_else_are_told_apart_in_any_split() {
    for (status, leaves) in
        [("none", Leaves::NO_TYPE), ("QUEUED", Leaves::QUEUED), ("nonex", Leaves::VALUE), ("QUEUEDx", Leaves::VALUE)]
    {
        let bytes = format!("+{status}\r\n");
        let single_bytes: Vec<&[u8]> = bytes.as_bytes().chunks(1).collect();
        for pieces in [&[bytes.as_bytes()][..], &single_bytes] {
            assert_eq!(leaves_of_each(pieces), [[leaves, Leaves::NONE]], "{status}");
        }
    }
}

#[test]
fn errors_within_a_reply_are_counted_and_the_first_is_kept() {
    // Those of attributes are no elements.
    let replies = "*3\r\n+OK\r\n-WRONGTYPE not that\r\n*1\r\n!7\r\nERR two\r\n*2\r\n|1\r\n+a\r\n-ERR not this\r\n:1\r\n-ERR one\r\n\
        *2\r\n$-1\r\n:1\r\n-ERR alone\r\n";
    for length in [1, replies.len()] {
        let pieces: Vec<&[u8]> = replies.as_bytes().chunks(length).collect();
        let seen = read(&pieces).expect("replies");
        let errors = seen.iter().map(|seen| (seen.error_elements, String::from_utf8_lossy(&seen.text).into_owned()));
        let expected = [(2, "WRONGTYPE not that"), (1, "ERR one"), (0, ""), (0, "ERR alone")];
        assert_eq!(errors.collect::<Vec<_>>(), expected.map(|(count, text)| (count, text.to_owned())));
    }
}

#[test]
fn errors_carry_their_code_and_text() {
    let code_and_text = |bytes: &str| {
        let seen = read_one(bytes);
        assert_eq!(seen.kind, ReplyKind::Error);
        [seen.code, seen.text].map(|bytes| String::from_utf8(bytes).expect("text"))
    };
    let moved = "MOVED 3999 127.0.0.1:6381";
    assert_eq!(code_and_text(&format!("-{moved}\r\n")), ["MOVED", moved]);
    assert_eq!(code_and_text("-OOM\r\n"), ["OOM", "OOM"]);
    assert_eq!(code_and_text("!21\r\nSYNTAX invalid syntax\r\n"), ["SYNTAX", "SYNTAX invalid syntax"]);
    assert_eq!(code_and_text("!6\r\nE x\r\ny\r\n"), ["E", "E x\r\ny"]);
    assert_eq!(code_and_text("-\r\n"), ["", ""]);
    assert_eq!(code_and_text("- x\r\n"), ["", " x"]);
    let long = format!("{} {}", "E".repeat(100), "x".repeat(100));
    assert_eq!(code_and_text(&format!("-{long}\r\n")), [&long[..64], &long[..192]]);
    assert_eq!(code_and_text(&format!("!{}\r\n{long}\r\n", long.len())), [&long[..64], &long[..192]]);
}

#[test]
fn aggregates_carry_their_elements() {
    assert_eq!(read_one("*0\r\n"), Seen::aggregate(ReplyKind::Array, 0, b""));
    let nested = Seen { error_elements: 1, ..Seen::error(b"ERR x") };
    let nested = Seen { kind: ReplyKind::Array, elements: 2, ..nested };
    assert_eq!(read_one("*2\r\n*2\r\n:1\r\n-ERR x\r\n$-1\r\n"), nested);
    assert_eq!(read_one("%1\r\n+a\r\n~2\r\n:1\r\n:2\r\n"), Seen::aggregate(ReplyKind::Map, 1, b""));
    assert_eq!(read_one("~1\r\n_\r\n"), Seen::aggregate(ReplyKind::Set, 1, b""));
}

#[test]
fn aggregates_carry_their_first_element_if_it_is_short() {
    let first = |bytes: &str| String::from_utf8(read_one(bytes).first).expect("text");
    assert_eq!(first("*2\r\n$20\r\n18446744073709551615\r\n*1\r\n$1\r\nk\r\n"), "18446744073709551615");
    assert_eq!(first("*1\r\n$21\r\n184467440737095516150\r\n"), "");
    assert_eq!(first("*2\r\n:-9223372036854775808\r\n:1\r\n"), "-9223372036854775808");
    assert_eq!(first("*1\r\n:+07\r\n"), "7");
    assert_eq!(first("%1\r\n$1\r\na\r\n$1\r\nb\r\n"), "a");
    assert_eq!(first(">2\r\n$1\r\na\r\n$1\r\nb\r\n"), "a");
    for other in ["$0\r\n\r\n", "$-1\r\n", "+1\r\n", "-1\r\n", "!1\r\n1\r\n", "*1\r\n:1\r\n", "=1\r\n1\r\n"] {
        assert_eq!(first(&format!("*2\r\n{other}$1\r\nx\r\n")), "", "{other:?}");
    }
}

#[test]
fn an_attribute_holds_no_first_element() {
    let attribute = "|2\r\n$1\r\na\r\n:1\r\n$1\r\nb\r\n*1\r\n:2\r\n";
    let array = Seen::aggregate(ReplyKind::Array, 2, b"0");
    assert_eq!(read_one(&format!("{attribute}*2\r\n{attribute}$1\r\n0\r\n{attribute}:3\r\n")), array);
    assert_eq!(read_one(&format!("{attribute}*0\r\n")), Seen::aggregate(ReplyKind::Array, 0, b""));
    assert_eq!(read_one(&format!("{attribute}:3\r\n")), Seen::plain(ReplyKind::Integer));
}

#[test]
fn an_error_does_not_leak_into_the_next_reply() {
    let seen = read(&[b"-ERR x\r\n*1\r\n-OOM y\r\n-MOVED 1 h:1\r\n"]).expect("replies");
    let array = Seen { kind: ReplyKind::Array, elements: 1, error_elements: 1, ..Seen::error(b"OOM y") };
    assert_eq!(seen, [Seen::error(b"ERR x"), array, Seen::error(b"MOVED 1 h:1")]);
}

#[test]
fn attributes_precede_a_reply_and_pushes_stand_alone() {
    let seen = read(&[b"|1\r\n+ttl\r\n:10\r\n|0\r\n$1\r\nx\r\n>2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n:7\r\n"]);
    let kinds: Vec<ReplyKind> = seen.expect("replies").iter().map(|seen| seen.kind).collect();
    assert_eq!(kinds, [ReplyKind::Bulk, ReplyKind::Push, ReplyKind::Integer]);
    assert_eq!(read_one("*2\r\n|1\r\n+a\r\n+b\r\n:1\r\n:2\r\n"), Seen::aggregate(ReplyKind::Array, 2, b"1"));
    assert_eq!(read(&[b"|1\r\n+a\r\n+b\r\n"]), Ok(Vec::new()), "an attribute alone is no reply");
}

#[test]
fn malformed_bytes_are_refused() {
    let refused = |bytes: &str| read(&[bytes.as_bytes()]).expect_err("no reply");
    assert_eq!(refused("GET k\r\n"), MalformedReply::UnknownMarker(b'G'));
    assert_eq!(refused(":1a\r\n"), MalformedReply::UnexpectedByte(b'a'));
    assert_eq!(refused("+a\nb\r\n"), MalformedReply::UnexpectedByte(b'\n'));
    assert_eq!(refused("+a\rb"), MalformedReply::UnexpectedByte(b'b'));
    assert_eq!(refused("#x\r\n"), MalformedReply::UnexpectedByte(b'x'));
    assert_eq!(refused("#tt\r\n"), MalformedReply::UnexpectedByte(b't'));
    assert_eq!(refused("_x\r\n"), MalformedReply::UnexpectedByte(b'x'));
    assert_eq!(refused("(1-\r\n"), MalformedReply::UnexpectedByte(b'-'));
    assert_eq!(refused(",\r\n"), MalformedReply::IncompleteLine);
    assert_eq!(refused("$\r\n"), MalformedReply::IncompleteLine);
    assert_eq!(refused("$99999999999999999999\r\n"), MalformedReply::NumberOutOfRange);
    assert_eq!(refused("%9223372036854775807\r\n*-2\r\n"), MalformedReply::NegativeLength);
    assert_eq!(refused("$-2\r\n"), MalformedReply::NegativeLength);
    assert_eq!(refused("%-1\r\n"), MalformedReply::NegativeLength);
    assert_eq!(refused("$1\r\nab\r\n"), MalformedReply::UnterminatedBody);
    assert_eq!(refused("*1\r\n>1\r\n"), MalformedReply::NestedPush);
}

#[test]
fn nesting_has_a_limit() {
    let nested = |depth: usize| format!("{}:1\r\n", "*1\r\n".repeat(depth));
    assert_eq!(read_one(&nested(MAXIMUM_DEPTH)).kind, ReplyKind::Array);
    assert_eq!(read(&[nested(MAXIMUM_DEPTH + 1).as_bytes()]), Err(MalformedReply::TooDeep));
}

#[test]
fn a_huge_body_is_passed_over_piece_by_piece() {
    let mut reader = ReplyReader::new();
    let piece = vec![b'\r'; 1 << 20];
    let mut header: &[u8] = b"$536870912\r\n";
    assert_eq!(reader.next(&mut header), Ok(None));
    for _ in 0..512 {
        assert_eq!(reader.next(&mut piece.as_slice()), Ok(None));
    }
    let mut end: &[u8] = b"\r\n:1\r\n";
    assert_eq!(reader.next(&mut end).expect("a reply").map(|reply| reply.kind), Some(ReplyKind::Bulk));
    assert_eq!(end, b":1\r\n");
}
