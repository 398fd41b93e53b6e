//! Random valid replies.

use proptest::collection::vec;
use proptest::prelude::*;
use zerolap_resp::{ReplyKind, Value};

use crate::seen::Seen;

/// One valid reply: its bytes, and what must be reported of it (an attribute is part of the reply that it precedes).
#[derive(Debug, Clone)]
pub struct Valid {
    pub bytes: Vec<u8>,
    pub seen: Seen,
    pub value: Value,
    /// What an aggregate reports of it when it is the first element.
    as_first: Vec<u8>,
}

fn plain(bytes: String, kind: ReplyKind, value: Value) -> Valid {
    Valid { bytes: bytes.into_bytes(), seen: Seen::plain(kind), value, as_first: Vec::new() }
}

fn as_bulk(marker: char, kind: ReplyKind, text: String) -> Valid {
    plain(format!("{marker}{text}\r\n"), kind, Value::Bulk(text.into_bytes()))
}

fn with_body(marker: char, body: &[u8]) -> Vec<u8> {
    [format!("{marker}{}\r\n", body.len()).as_bytes(), body, b"\r\n"].concat()
}

fn integer(number: i64) -> Valid {
    let bytes = format!(":{number}\r\n").into_bytes();
    let seen = Seen { is_zero: number == 0, ..Seen::plain(ReplyKind::Integer) };
    Valid { bytes, seen, value: Value::Integer(number), as_first: number.to_string().into_bytes() }
}

fn boolean(truth: bool) -> Valid {
    let letter = if truth { 't' } else { 'f' };
    plain(format!("#{letter}\r\n"), ReplyKind::Boolean, Value::Integer(truth.into()))
}

fn bulk(body: Vec<u8>) -> Valid {
    let as_first = if body.len() <= 20 { body.clone() } else { Vec::new() };
    Valid { bytes: with_body('$', &body), seen: Seen::plain(ReplyKind::Bulk), value: Value::Bulk(body), as_first }
}

fn verbatim(text: Vec<u8>) -> Valid {
    let bytes = with_body('=', &[b"txt:", text.as_slice()].concat());
    Valid { bytes, seen: Seen::plain(ReplyKind::Verbatim), value: Value::Bulk(text), as_first: Vec::new() }
}

fn error(text: Vec<u8>, is_long: bool) -> Valid {
    let bytes = if is_long { with_body('!', &text) } else { [b"-", text.as_slice(), b"\r\n"].concat() };
    Valid { bytes, seen: Seen::error(&text), value: Value::Error(text), as_first: Vec::new() }
}

fn scalar() -> impl Strategy<Value = Valid> {
    let status = |text: String| plain(format!("+{text}\r\n"), ReplyKind::Status, Value::Status(text.into_bytes()));
    prop_oneof![
        "[^\r\n]{0,20}".prop_map(status),
        prop_oneof![Just(0), any::<i64>()].prop_map(integer),
        any::<f64>().prop_map(|number| as_bulk(',', ReplyKind::Double, number.to_string())),
        any::<bool>().prop_map(boolean),
        "[+-]?[0-9]{1,40}".prop_map(|text| as_bulk('(', ReplyKind::BigNumber, text)),
        prop::sample::select(vec!["$-1\r\n", "*-1\r\n", "_\r\n"]).prop_map(|text| plain(
            text.into(),
            ReplyKind::Nil,
            Value::Nil
        )),
        vec(any::<u8>(), 0..40).prop_map(bulk),
        // An empty one is no empty bulk string, as which the parser returns it.
        vec(any::<u8>(), 1..40).prop_map(verbatim),
        ("[A-Z]{1,80}( [^\r\n]{0,20}| [a-z ]{0,300})?", any::<bool>())
            .prop_map(|(text, is_long)| error(text.into_bytes(), is_long)),
    ]
}

fn aggregate(marker: char, kind: ReplyKind, elements: &[Valid]) -> Valid {
    let pairs = || elements.chunks_exact(2).map(|pair| (pair[0].value.clone(), pair[1].value.clone()));
    let (count, value) = match marker {
        '%' | '|' => (elements.len() / 2, Value::Map(pairs().collect())),
        _ => (elements.len(), Value::Array(elements.iter().map(|element| element.value.clone()).collect())),
    };
    let mut bytes = format!("{marker}{count}\r\n").into_bytes();
    for element in elements {
        bytes.extend_from_slice(&element.bytes);
    }
    let first = elements.first().map_or(b"".as_slice(), |element| &element.as_first);
    let mut seen = Seen::aggregate(kind, count as u64, first);
    for element in elements.iter().map(|element| &element.seen) {
        let errors = if element.kind == ReplyKind::Error { 1 } else { element.error_elements };
        if errors > 0 && seen.error_elements == 0 {
            (seen.code, seen.text) = (element.code.clone(), element.text.clone());
        }
        seen.error_elements += errors;
    }
    Valid { bytes, seen, value, as_first: Vec::new() }
}

/// What may stand anywhere.
pub fn value() -> impl Strategy<Value = Valid> {
    scalar().prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(|values| aggregate('*', ReplyKind::Array, &values)),
            vec(inner.clone(), 0..5).prop_map(|values| aggregate('~', ReplyKind::Set, &values)),
            vec((inner.clone(), inner.clone()), 0..3).prop_map(|pairs| {
                let values: Vec<Valid> = pairs.iter().flat_map(|(key, value)| [key.clone(), value.clone()]).collect();
                aggregate('%', ReplyKind::Map, &values)
            }),
            (inner.clone(), inner.clone(), inner).prop_map(|(key, value, described)| {
                let attribute = aggregate('|', ReplyKind::Map, &[key, value]);
                Valid { bytes: [attribute.bytes, described.bytes].concat(), ..described }
            }),
        ]
    })
}

/// What may come at the top level.
pub fn reply_or_push() -> impl Strategy<Value = Valid> {
    prop_oneof![
        9 => value(),
        1 => vec(value(), 0..4).prop_map(|values| aggregate('>', ReplyKind::Push, &values)),
    ]
}
