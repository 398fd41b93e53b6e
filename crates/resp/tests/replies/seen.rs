//! The reader's account of whole streams.

use zerolap_resp::{Leaves, MalformedReply, Reply, ReplyKind, ReplyReader};

/// What the reader reports of one reply, owned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub kind: ReplyKind,
    pub code: Vec<u8>,
    pub text: Vec<u8>,
    pub elements: u64,
    pub first: Vec<u8>,
    pub is_zero: bool,
    pub error_elements: u64,
}

impl Seen {
    /// A reply of which nothing else is reported.
    pub fn plain(kind: ReplyKind) -> Self {
        Self {
            kind,
            code: Vec::new(),
            text: Vec::new(),
            elements: 0,
            first: Vec::new(),
            is_zero: false,
            error_elements: 0,
        }
    }

    pub fn error(text: &[u8]) -> Self {
        let code = text.split(|&byte| byte == b' ').next().unwrap_or_default();
        let cut = |bytes: &[u8], length: usize| bytes[..bytes.len().min(length)].to_vec();
        Self { code: cut(code, 64), text: cut(text, 192), ..Self::plain(ReplyKind::Error) }
    }

    pub fn aggregate(kind: ReplyKind, elements: u64, first: &[u8]) -> Self {
        Self { elements, first: first.to_vec(), ..Self::plain(kind) }
    }
}

impl From<Reply<'_>> for Seen {
    fn from(reply: Reply<'_>) -> Self {
        let is_zero = reply.is_zero();
        let Reply { kind, code, text, elements, first, error_elements, .. } = reply;
        Self {
            kind,
            code: code.to_vec(),
            text: text.to_vec(),
            elements,
            first: first.to_vec(),
            is_zero,
            error_elements,
        }
    }
}

/// The replies before the first fault, each with the place in the stream where it ends, and the fault.
pub fn trace<'bytes>(
    pieces: impl IntoIterator<Item = &'bytes [u8]>,
) -> (Vec<(usize, Seen)>, Result<(), MalformedReply>) {
    let mut reader = ReplyReader::new();
    let mut seen = Vec::new();
    let mut end = 0;
    for piece in pieces {
        end += piece.len();
        let mut input = piece;
        loop {
            match reader.next(&mut input) {
                Ok(Some(reply)) => seen.push((end - input.len(), reply.into())),
                Ok(None) => break,
                Err(fault) => return (seen, Err(fault)),
            }
        }
        assert!(input.is_empty(), "the reader takes all it is given");
    }
    (seen, Ok(()))
}

/// The sorts of values in each reply, and those after the first element of each.
pub fn leaves_of_each(pieces: &[&[u8]]) -> Vec<[Leaves; 2]> {
    let mut reader = ReplyReader::new();
    let mut leaves = Vec::new();
    for mut input in pieces.iter().copied() {
        while let Some(reply) = reader.next(&mut input).expect("replies") {
            leaves.push([reply.leaves, reply.leaves_after_first]);
        }
    }
    leaves
}

pub fn read(pieces: &[&[u8]]) -> Result<Vec<Seen>, MalformedReply> {
    let (seen, end) = trace(pieces.iter().copied());
    end.map(|()| seen.into_iter().map(|(_, seen)| seen).collect())
}
