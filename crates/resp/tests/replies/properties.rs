//! What holds for all replies, in any split, and for garbage.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::seen::{Seen, read};
use crate::valid::reply_or_push;

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
