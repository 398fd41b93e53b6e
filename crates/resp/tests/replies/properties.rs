//! What holds for all replies, in any split, and for garbage.

use proptest::collection::vec;
use proptest::prelude::*;
use zerolap_resp::{Leaves, Value};

use crate::seen::{Seen, leaves_of_each, read, trace};
use crate::valid::reply_or_push;

/// Cuts `bytes` at the given places, each taken modulo the length.
fn cut<'bytes>(bytes: &'bytes [u8], places: &[usize]) -> Vec<&'bytes [u8]> {
    let mut places: Vec<usize> = places.iter().map(|place| place % (bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

/// What spoils a stream at one place.
#[derive(Debug, Clone)]
struct Fault {
    place: usize,
    removed: usize,
    inserted: Vec<u8>,
}

impl Fault {
    fn apply(self, bytes: &mut Vec<u8>) {
        let start = self.place % (bytes.len() + 1);
        let end = bytes.len().min(start + self.removed);
        bytes.splice(start..end, self.inserted);
    }
}

fn fault() -> impl Strategy<Value = Fault> {
    let byte = prop::sample::select(b"\r\n-+:$*_#,(!=%~>|019\0".to_vec());
    (any::<usize>(), 0..3_usize, vec(byte, 0..3)).prop_map(|(place, removed, inserted)| Fault {
        place,
        removed,
        inserted,
    })
}

/// The sorts of values in a reply that is known whole; within others a status is a value like any other.
fn leaves(value: &Value, is_whole: bool) -> Leaves {
    let of_all = |values: &[Value]| values.iter().fold(Leaves::NONE, |sum, value| sum | leaves(value, false));
    match value {
        Value::Status(text) if is_whole => Leaves::status(text),
        Value::Status(_) | Value::Error(_) => Leaves::VALUE,
        Value::Integer(value) => Leaves::integer(*value),
        Value::Bulk(text) => Leaves::text(text.len() as u64),
        Value::Nil => Leaves::NIL,
        Value::Array(values) => of_all(values),
        Value::Map(pairs) => {
            pairs.iter().fold(Leaves::NONE, |sum, (key, value)| sum | leaves(key, false) | leaves(value, false))
        }
    }
}

fn leaves_after_first(value: &Value) -> Leaves {
    match value {
        Value::Array(values) => leaves(&Value::Array(values.get(1..).unwrap_or_default().to_vec()), false),
        Value::Map(pairs) => match pairs.split_first() {
            Some(((_, value), rest)) => leaves(value, false) | leaves(&Value::Map(rest.to_vec()), false),
            None => Leaves::NONE,
        },
        _ => Leaves::NONE,
    }
}

proptest! {
    #[test]
    fn the_sorts_of_all_values_are_reported_in_any_split(
        replies in vec(reply_or_push(), 0..12),
        places in vec(any::<usize>(), 0..12),
    ) {
        let bytes: Vec<u8> = replies.iter().flat_map(|reply| reply.bytes.clone()).collect();
        let expected: Vec<[Leaves; 2]> =
            replies.iter().map(|reply| [leaves(&reply.value, true), leaves_after_first(&reply.value)]).collect();
        prop_assert_eq!(&leaves_of_each(&[&bytes]), &expected);
        prop_assert_eq!(&leaves_of_each(&cut(&bytes, &places)), &expected);
        let single_bytes: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(&leaves_of_each(&single_bytes), &expected);
    }

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
    fn a_spoilt_stream_gives_the_same_in_any_split(
        replies in vec(reply_or_push(), 1..12),
        faults in vec(fault(), 0..4),
        places in vec(any::<usize>(), 0..6),
    ) {
        let mut bytes: Vec<u8> = replies.iter().flat_map(|reply| reply.bytes.clone()).collect();
        for fault in faults {
            fault.apply(&mut bytes);
        }
        let whole = trace([bytes.as_slice()]);
        prop_assert_eq!(&whole, &trace(cut(&bytes, &places)));
        prop_assert_eq!(&whole, &trace(bytes.chunks(1)));
    }

    #[test]
    fn short_text_of_the_right_bytes_gives_the_same_in_any_split(
        texts in vec(r"[$+:*%|\-]([0-9]{1,3}|-1|-?[0-9]{9,10}|\+1|0{8,12})?(\r\n|\r|\n)([ab\r\n]{0,3}\r\n)?", 1..6),
    ) {
        let bytes = texts.concat().into_bytes();
        prop_assert_eq!(trace([bytes.as_slice()]), trace(bytes.chunks(1)));
    }
}
