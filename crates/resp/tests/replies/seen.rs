//! The reader's account of whole streams.

use zerolap_resp::{MalformedReply, Reply, ReplyKind, ReplyReader};

/// What the reader says of one reply, owned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub kind: ReplyKind,
    pub code: Vec<u8>,
    pub text: Vec<u8>,
    pub elements: u64,
    pub first: Vec<u8>,
}

impl Seen {
    /// A reply of which nothing else is told.
    pub fn plain(kind: ReplyKind) -> Self {
        Self { kind, code: Vec::new(), text: Vec::new(), elements: 0, first: Vec::new() }
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
        let Reply { kind, code, text, elements, first } = reply;
        Self { kind, code: code.to_vec(), text: text.to_vec(), elements, first: first.to_vec() }
    }
}

pub fn read(pieces: &[&[u8]]) -> Result<Vec<Seen>, MalformedReply> {
    let mut reader = ReplyReader::new();
    let mut seen = Vec::new();
    for piece in pieces {
        let mut input = *piece;
        while let Some(reply) = reader.next(&mut input)? {
            seen.push(reply.into());
        }
        assert!(input.is_empty(), "the reader takes all it is given");
    }
    Ok(seen)
}
