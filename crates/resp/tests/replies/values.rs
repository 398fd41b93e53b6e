//! Replies taken apart.

use proptest::collection::vec;
use proptest::prelude::*;
use zerolap_resp::{MAXIMUM_DEPTH, MalformedReply, ReplyReader, Value, parse_value};

use crate::valid::reply_or_push;

fn parse(bytes: &str) -> Value {
    let (value, length) = parse_value(bytes.as_bytes()).expect("a reply").expect("a complete reply");
    assert_eq!(length, bytes.len());
    value
}

fn bulk(text: &str) -> Value {
    Value::Bulk(text.into())
}

#[test]
fn slots_of_a_cluster() {
    let node = "*4\r\n$9\r\n127.0.0.1\r\n:7000\r\n$2\r\nid\r\n*0\r\n";
    let node_value = Value::Array(vec![bulk("127.0.0.1"), Value::Integer(7000), bulk("id"), Value::Array(Vec::new())]);
    let range = Value::Array(vec![Value::Integer(0), Value::Integer(16383), node_value]);
    assert_eq!(parse(&format!("*1\r\n*3\r\n:0\r\n:16383\r\n{node}")), Value::Array(vec![range]));
}

#[test]
fn a_greeting() {
    let map = vec![(bulk("proto"), Value::Integer(3)), (bulk("modules"), Value::Array(Vec::new()))];
    assert_eq!(parse("%2\r\n$5\r\nproto\r\n:3\r\n$7\r\nmodules\r\n*0\r\n"), Value::Map(map));
}

#[test]
fn what_only_one_protocol_has() {
    assert_eq!(parse("=8\r\ntxt:role\r\n"), bulk("role"));
    assert_eq!(parse("=1\r\nx\r\n"), bulk("x"));
    assert_eq!(
        parse("|1\r\n+a\r\n+b\r\n|0\r\n~2\r\n#t\r\n,1.5\r\n"),
        Value::Array(vec![Value::Integer(1), bulk("1.5")])
    );
    assert_eq!(parse("!5\r\nERR x\r\n"), Value::Error(b"ERR x".to_vec()));
    assert_eq!(parse("*2\r\n$-1\r\n*-1\r\n"), Value::Array(vec![Value::Nil, Value::Nil]));
}

#[test]
fn neither_depth_nor_counts_nor_attributes_exhaust_anything() {
    let nested = |depth: usize| "*1\r\n".repeat(depth) + ":1\r\n";
    assert!(matches!(parse(&nested(MAXIMUM_DEPTH)), Value::Array(_)));
    assert_eq!(parse_value(nested(1 << 20).as_bytes()), Err(MalformedReply::TooDeep));
    assert_eq!(parse(&("|0\r\n".repeat(1 << 20) + ":1\r\n")), Value::Integer(1));
    assert_eq!(parse_value(b"*9223372036854775807\r\n:1\r\n"), Ok(None));
    assert_eq!(parse_value(b"$9223372036854775807\r\nx"), Ok(None));
}

proptest! {
    #[test]
    fn a_reply_is_taken_apart_once_it_is_complete(reply in reply_or_push(), rest: Vec<u8>, place: usize) {
        let (bytes, length) = (&reply.bytes, reply.bytes.len());
        prop_assert_eq!(parse_value(&[bytes.as_slice(), &rest].concat()), Ok(Some((reply.value, length))));
        prop_assert_eq!(parse_value(&bytes[..place % length]), Ok(None));
    }

    #[test]
    fn the_reader_and_the_parser_agree_on_spoilt_replies(
        replies in vec(reply_or_push(), 1..3),
        spoilt in vec((any::<usize>(), prop::sample::select(b"\r\n-+:$*_#,(!=%~>|019\0".to_vec())), 1..4),
    ) {
        let mut bytes: Vec<u8> = replies.iter().flat_map(|reply| reply.bytes.clone()).collect();
        for (at, byte) in spoilt {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        let mut rest = bytes.as_slice();
        let is_complete = ReplyReader::new().next(&mut rest).map(|reply| reply.is_some());
        let parsed = parse_value(&bytes).map(|parsed| parsed.map(|(_, length)| length));
        prop_assert_eq!(parsed, is_complete.map(|is_complete| is_complete.then(|| bytes.len() - rest.len())));
    }
}
