//! Any bytes, whole and cut: the reader must report the same of both, and the parser must agree with it.
//!
//! The first byte is the length of the pieces.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zerolap_resp::{Leaves, MalformedReply, ReplyKind, ReplyReader, parse_value};

/// Of one reply: where it ends, and all that is reported of it.
type Seen = (usize, ReplyKind, [Vec<u8>; 3], [u64; 2], [Leaves; 2]);

fuzz_target!(|data: &[u8]| {
    let Some((&length, bytes)) = data.split_first() else { return };
    let whole = trace([bytes]);
    assert_eq!(whole, trace(bytes.chunks(1)));
    assert_eq!(whole, trace(bytes.chunks(usize::from(length).max(1))));

    let (seen, end) = whole;
    let parsed = parse_value(bytes).map(|parsed| parsed.map(|(_, length)| length));
    let expected = match seen.first() {
        Some(first) => Ok(Some(first.0)),
        None => end.map(|()| None),
    };
    assert_eq!(parsed, expected);
});

fn trace<'bytes>(pieces: impl IntoIterator<Item = &'bytes [u8]>) -> (Vec<Seen>, Result<(), MalformedReply>) {
    let mut reader = ReplyReader::new();
    let mut seen = Vec::new();
    let mut end = 0;
    for piece in pieces {
        end += piece.len();
        let mut input = piece;
        loop {
            match reader.next(&mut input) {
                Ok(Some(reply)) => {
                    let texts = [reply.code, reply.text, reply.first].map(<[u8]>::to_vec);
                    let leaves = [reply.leaves, reply.leaves_after_first];
                    let numbers = [reply.elements, reply.error_elements];
                    seen.push((end - input.len(), reply.kind, texts, numbers, leaves));
                }
                Ok(None) => break,
                Err(fault) => return (seen, Err(fault)),
            }
        }
        assert!(input.is_empty(), "the reader takes all it is given");
    }
    (seen, Ok(()))
}
