//! The reader against known replies, any split, and garbage.

use proptest::collection::vec;
use proptest::prelude::*;
use zerolap_resp::{MAXIMUM_DEPTH, MalformedReply, ReplyKind, ReplyReader};

/// What the reader says of one reply, owned.
type Seen = (ReplyKind, Vec<u8>, u64);

fn read(pieces: &[&[u8]]) -> Result<Vec<Seen>, MalformedReply> {
    let mut reader = ReplyReader::new();
    let mut seen = Vec::new();
    for piece in pieces {
        let mut input = *piece;
        while let Some(reply) = reader.next(&mut input)? {
            seen.push((reply.kind, reply.code.to_vec(), reply.elements));
        }
        assert!(input.is_empty(), "the reader takes all it is given");
    }
    Ok(seen)
}

fn read_one(bytes: &str) -> Seen {
    let seen = read(&[bytes.as_bytes()]).expect("a reply");
    assert_eq!(seen.len(), 1, "{bytes:?}");
    seen[0].clone()
}

#[test]
fn each_kind_is_told() {
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
        assert_eq!(read_one(bytes), (kind, Vec::new(), 0), "{bytes:?}");
    }
}

#[test]
fn errors_carry_their_code() {
    let code = |bytes| {
        let (kind, code, _) = read_one(bytes);
        assert_eq!(kind, ReplyKind::Error);
        String::from_utf8(code).expect("a word")
    };
    assert_eq!(code("-WRONGTYPE Operation against a key\r\n"), "WRONGTYPE");
    assert_eq!(code("-OOM\r\n"), "OOM");
    assert_eq!(code("!21\r\nSYNTAX invalid syntax\r\n"), "SYNTAX");
    assert_eq!(code("-\r\n"), "");
    assert_eq!(code(&format!("-{} x\r\n", "E".repeat(100))), "E".repeat(64));
}

#[test]
fn aggregates_carry_their_elements() {
    assert_eq!(read_one("*0\r\n"), (ReplyKind::Array, Vec::new(), 0));
    assert_eq!(read_one("*2\r\n*2\r\n:1\r\n-ERR x\r\n$-1\r\n"), (ReplyKind::Array, Vec::new(), 2));
    assert_eq!(read_one("%1\r\n+a\r\n~2\r\n:1\r\n:2\r\n"), (ReplyKind::Map, Vec::new(), 1));
    assert_eq!(read_one("~1\r\n_\r\n"), (ReplyKind::Set, Vec::new(), 1));
}

#[test]
fn a_code_does_not_leak_into_the_next_reply() {
    let seen = read(&[b"-ERR x\r\n*1\r\n-OOM y\r\n-MOVED 1 h:1\r\n"]).expect("replies");
    let codes: Vec<&[u8]> = seen.iter().map(|(_, code, _)| code.as_slice()).collect();
    assert_eq!(codes, [b"ERR".as_slice(), b"", b"MOVED"]);
}

#[test]
fn attributes_precede_a_reply_and_pushes_stand_alone() {
    let seen = read(&[b"|1\r\n+ttl\r\n:10\r\n|0\r\n$1\r\nx\r\n>2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n:7\r\n"]);
    let kinds: Vec<ReplyKind> = seen.expect("replies").iter().map(|seen| seen.0).collect();
    assert_eq!(kinds, [ReplyKind::Bulk, ReplyKind::Push, ReplyKind::Integer]);
    assert_eq!(read_one("*2\r\n|1\r\n+a\r\n+b\r\n:1\r\n:2\r\n"), (ReplyKind::Array, Vec::new(), 2));
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
    assert_eq!(read_one(&nested(MAXIMUM_DEPTH)).0, ReplyKind::Array);
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

/// One valid reply: its bytes, and what the reader must say of it (an attribute is part of the reply that it precedes).
#[derive(Debug, Clone)]
struct Valid {
    bytes: Vec<u8>,
    seen: Seen,
}

fn scalar() -> impl Strategy<Value = Valid> {
    let plain = |bytes: String, kind| Valid { bytes: bytes.into_bytes(), seen: (kind, Vec::new(), 0) };
    let bulk = |marker: char, kind| {
        vec(any::<u8>(), 0..40).prop_map(move |body| {
            let bytes = [format!("{marker}{}\r\n", body.len()).as_bytes(), &body, b"\r\n"].concat();
            Valid { bytes, seen: (kind, Vec::new(), 0) }
        })
    };
    prop_oneof![
        "[^\r\n]{0,20}".prop_map(move |text| plain(format!("+{text}\r\n"), ReplyKind::Status)),
        any::<i64>().prop_map(move |value| plain(format!(":{value}\r\n"), ReplyKind::Integer)),
        any::<f64>().prop_map(move |value| plain(format!(",{value}\r\n"), ReplyKind::Double)),
        any::<bool>()
            .prop_map(move |value| plain(format!("#{}\r\n", if value { 't' } else { 'f' }), ReplyKind::Boolean)),
        "[+-]?[0-9]{1,40}".prop_map(move |text| plain(format!("({text}\r\n"), ReplyKind::BigNumber)),
        prop::sample::select(vec!["$-1\r\n", "*-1\r\n", "_\r\n"])
            .prop_map(move |text| plain(text.into(), ReplyKind::Nil)),
        bulk('$', ReplyKind::Bulk),
        bulk('=', ReplyKind::Verbatim),
        ("[A-Z]{1,12}", "( [^\r\n]{0,20})?", any::<bool>()).prop_map(|(code, rest, long)| {
            let text = format!("{code}{rest}");
            let bytes = if long { format!("!{}\r\n{text}\r\n", text.len()) } else { format!("-{text}\r\n") };
            Valid { bytes: bytes.into_bytes(), seen: (ReplyKind::Error, code.into_bytes(), 0) }
        }),
    ]
}

fn aggregate(marker: char, kind: ReplyKind, count: usize, values: &[Valid]) -> Valid {
    let mut bytes = format!("{marker}{count}\r\n").into_bytes();
    for value in values {
        bytes.extend_from_slice(&value.bytes);
    }
    Valid { bytes, seen: (kind, Vec::new(), count as u64) }
}

fn value() -> impl Strategy<Value = Valid> {
    scalar().prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(|values| aggregate('*', ReplyKind::Array, values.len(), &values)),
            vec(inner.clone(), 0..5).prop_map(|values| aggregate('~', ReplyKind::Set, values.len(), &values)),
            vec((inner.clone(), inner.clone()), 0..3).prop_map(|pairs| {
                let values: Vec<Valid> = pairs.iter().flat_map(|(key, value)| [key.clone(), value.clone()]).collect();
                aggregate('%', ReplyKind::Map, pairs.len(), &values)
            }),
            (inner.clone(), inner.clone(), inner).prop_map(|(key, value, described)| {
                let attribute = aggregate('|', ReplyKind::Map, 1, &[key, value]);
                Valid { bytes: [attribute.bytes, described.bytes].concat(), seen: described.seen }
            }),
        ]
    })
}

fn reply_or_push() -> impl Strategy<Value = Valid> {
    prop_oneof![
        9 => value(),
        1 => vec(value(), 0..4).prop_map(|values| aggregate('>', ReplyKind::Push, values.len(), &values)),
    ]
}

/// Cuts `bytes` at the given places, each taken modulo the length.
fn cut<'bytes>(bytes: &'bytes [u8], places: &[usize]) -> Vec<&'bytes [u8]> {
    let mut places: Vec<usize> = places.iter().map(|place| place % (bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

proptest! {
    #[test]
    fn any_split_gives_the_same_replies(
        replies in vec(reply_or_push(), 0..12),
        places in vec(any::<usize>(), 0..12),
    ) {
        let bytes: Vec<u8> = replies.iter().flat_map(|reply| reply.bytes.clone()).collect();
        let expected: Vec<Seen> = replies.iter().map(|reply| reply.seen.clone()).collect();
        prop_assert_eq!(read(&[&bytes]), Ok(expected.clone()));
        prop_assert_eq!(read(&cut(&bytes, &places)), Ok(expected.clone()));
        let single_bytes: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(read(&single_bytes), Ok(expected));
    }

    #[test]
    fn garbage_never_panics(bytes: Vec<u8>) {
        let _ = read(&[&bytes]);
    }

    #[test]
    fn a_spoilt_reply_never_panics_and_fails_alike_in_any_split(
        replies in vec(reply_or_push(), 1..6),
        at: usize,
        byte in prop::sample::select(b"\r\n-+:$*_#,(!=%~>|019\0".to_vec()),
        places in vec(any::<usize>(), 0..6),
    ) {
        let mut bytes: Vec<u8> = replies.iter().flat_map(|reply| reply.bytes.clone()).collect();
        let at = at % bytes.len();
        bytes[at] = byte;
        prop_assert_eq!(read(&[&bytes]), read(&cut(&bytes, &places)));
    }
}
