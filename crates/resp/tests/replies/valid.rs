//! Random valid replies.

use proptest::collection::vec;
use proptest::prelude::*;
use zerolap_resp::ReplyKind;

use crate::seen::Seen;

/// One valid reply: its bytes, and what the reader must say of it (an attribute is part of the reply that it precedes).
#[derive(Debug, Clone)]
pub struct Valid {
    pub bytes: Vec<u8>,
    pub seen: Seen,
    /// What an aggregate tells of it when it is the first element.
    as_first: Vec<u8>,
}

fn scalar() -> impl Strategy<Value = Valid> {
    let plain =
        |bytes: String, kind| Valid { bytes: bytes.into_bytes(), seen: Seen::plain(kind), as_first: Vec::new() };
    let bulk = |marker: char, kind| {
        vec(any::<u8>(), 0..40).prop_map(move |body| {
            let bytes = [format!("{marker}{}\r\n", body.len()).as_bytes(), &body, b"\r\n"].concat();
            let as_first = if kind == ReplyKind::Bulk && body.len() <= 20 { body } else { Vec::new() };
            Valid { bytes, seen: Seen::plain(kind), as_first }
        })
    };
    prop_oneof![
        "[^\r\n]{0,20}".prop_map(move |text| plain(format!("+{text}\r\n"), ReplyKind::Status)),
        any::<i64>().prop_map(move |value| {
            let as_first = value.to_string().into_bytes();
            Valid { as_first, ..plain(format!(":{value}\r\n"), ReplyKind::Integer) }
        }),
        any::<f64>().prop_map(move |value| plain(format!(",{value}\r\n"), ReplyKind::Double)),
        any::<bool>()
            .prop_map(move |value| plain(format!("#{}\r\n", if value { 't' } else { 'f' }), ReplyKind::Boolean)),
        "[+-]?[0-9]{1,40}".prop_map(move |text| plain(format!("({text}\r\n"), ReplyKind::BigNumber)),
        prop::sample::select(vec!["$-1\r\n", "*-1\r\n", "_\r\n"])
            .prop_map(move |text| plain(text.into(), ReplyKind::Nil)),
        bulk('$', ReplyKind::Bulk),
        bulk('=', ReplyKind::Verbatim),
        ("[A-Z]{1,80}", "( [^\r\n]{0,20}| [a-z ]{0,300})?", any::<bool>()).prop_map(|(code, rest, long)| {
            let text = format!("{code}{rest}");
            let bytes = if long { format!("!{}\r\n{text}\r\n", text.len()) } else { format!("-{text}\r\n") };
            Valid { bytes: bytes.into_bytes(), seen: Seen::error(text.as_bytes()), as_first: Vec::new() }
        }),
    ]
}

fn aggregate(marker: char, kind: ReplyKind, count: usize, values: &[Valid]) -> Valid {
    let mut bytes = format!("{marker}{count}\r\n").into_bytes();
    for value in values {
        bytes.extend_from_slice(&value.bytes);
    }
    let first = values.first().map_or(b"".as_slice(), |value| &value.as_first);
    Valid { bytes, seen: Seen::aggregate(kind, count as u64, first), as_first: Vec::new() }
}

/// What may stand anywhere.
pub fn value() -> impl Strategy<Value = Valid> {
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
                Valid { bytes: [attribute.bytes, described.bytes].concat(), ..described }
            }),
        ]
    })
}

/// What may come at the top level.
pub fn reply_or_push() -> impl Strategy<Value = Valid> {
    prop_oneof![
        9 => value(),
        1 => vec(value(), 0..4).prop_map(|values| aggregate('>', ReplyKind::Push, values.len(), &values)),
    ]
}
