//! Replies: their kinds, what can be wrong with their bytes, and those that have to be looked into.

use thiserror::Error;

use crate::leaves::Leaves;
use crate::reader::{Decimal, ReplyReader};

/// What kind of reply it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReplyKind {
    /// `+`
    Status,
    /// `-`, or `!` of RESP3
    Error,
    /// `:`
    Integer,
    /// `$`
    Bulk,
    /// `$-1`, `*-1`, or `_` of RESP3
    Nil,
    /// `*`
    Array,
    /// `%`
    Map,
    /// `~`
    Set,
    /// `,`
    Double,
    /// `#`
    Boolean,
    /// `(`
    BigNumber,
    /// `=`
    Verbatim,
    /// `>`; answers no request
    Push,
}

impl ReplyKind {
    /// All kinds, in the order of their discriminants.
    pub const ALL: [Self; 13] = [
        Self::Status,
        Self::Error,
        Self::Integer,
        Self::Bulk,
        Self::Nil,
        Self::Array,
        Self::Map,
        Self::Set,
        Self::Double,
        Self::Boolean,
        Self::BigNumber,
        Self::Verbatim,
        Self::Push,
    ];

    /// The word for it in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Error => "error",
            Self::Integer => "integer",
            Self::Bulk => "bulk",
            Self::Nil => "nil",
            Self::Array => "array",
            Self::Map => "map",
            Self::Set => "set",
            Self::Double => "double",
            Self::Boolean => "boolean",
            Self::BigNumber => "big_number",
            Self::Verbatim => "verbatim",
            Self::Push => "push",
        }
    }

    /// Whether it holds other replies.
    #[must_use]
    pub const fn is_aggregate(self) -> bool {
        matches!(self, Self::Array | Self::Map | Self::Set | Self::Push)
    }
}

/// One top-level reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply<'reader> {
    /// What kind of reply it is.
    pub kind: ReplyKind,
    /// The first word of an error, for example `WRONGTYPE`, cut after 64 bytes; of an aggregate that of the first error in
    /// it, if there is any.
    pub code: &'reader [u8],
    /// The text of an error, code included, for example `MOVED 3999 127.0.0.1:6381`, cut after 192 bytes; of an aggregate
    /// that of the first error in it, if there is any.
    pub text: &'reader [u8],
    /// Elements of an aggregate (pairs of a map); 0 for other kinds.
    pub elements: u64,
    /// The first element of an aggregate (the first key of a map) if that is a bulk string of at most 20 bytes, or an
    /// integer, then in decimal; otherwise empty. The cursor of `SCAN` is one.
    pub first: &'reader [u8],
    /// The sorts of all values in it.
    pub leaves: Leaves,
    /// Of an aggregate, those of all values but its first element's, which may be a cursor.
    pub leaves_after_first: Leaves,
    /// Errors within an aggregate, at any depth: commands of a transaction that failed.
    pub error_elements: u64,
}

impl Reply<'_> {
    /// Whether it answers a request. Push frames come unasked.
    #[must_use]
    pub const fn is_answer(&self) -> bool {
        !matches!(self.kind, ReplyKind::Push)
    }

    /// Whether it is the integer 0, as `SISMEMBER` answers where there is no such member.
    #[must_use]
    pub const fn is_zero(&self) -> bool {
        matches!(self.kind, ReplyKind::Integer) && self.leaves.are_among(Leaves::ZERO)
    }

    /// Whether it is an aggregate without elements.
    #[must_use]
    pub const fn is_empty_aggregate(&self) -> bool {
        self.kind.is_aggregate() && self.elements == 0
    }
}

/// Why bytes are not replies. The reader cannot find its place again after one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MalformedReply {
    /// A reply starts with a byte that marks no kind.
    #[error("no reply starts with the byte 0x{0:02x}")]
    UnknownMarker(u8),
    /// A byte in a header line that cannot stand there.
    #[error("byte 0x{0:02x} cannot stand in the header line of a reply")]
    UnexpectedByte(u8),
    /// A header line is too short or too long for its kind.
    #[error("the header line of a reply is not complete")]
    IncompleteLine,
    /// A number that does not fit 64 bits.
    #[error("a number in a reply is out of range")]
    NumberOutOfRange,
    /// A length below zero that means no nil here.
    #[error("a length in a reply is negative")]
    NegativeLength,
    /// The two bytes after a bulk body are not CR LF.
    #[error("a bulk body is not followed by CR LF")]
    UnterminatedBody,
    /// A push frame inside another reply.
    #[error("a push frame lies inside another reply")]
    NestedPush,
    /// More nested aggregates than [`crate::MAXIMUM_DEPTH`].
    #[error("aggregates are nested more than {} deep", crate::MAXIMUM_DEPTH)]
    TooDeep,
}

/// One reply and all that it holds. Attributes are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// `+`
    Status(Vec<u8>),
    /// `-`, or `!` of RESP3; the whole text
    Error(Vec<u8>),
    /// `:`, or `#` of RESP3 as 0 or 1
    Integer(i64),
    /// `$`, or of RESP3 the text of `,` and `(` and of `=` without its format
    Bulk(Vec<u8>),
    /// `$-1`, `*-1`, or `_` of RESP3
    Nil,
    /// `*`, or `~` and `>` of RESP3
    Array(Vec<Value>),
    /// `%`, in the order of the server
    Map(Vec<(Value, Value)>),
}

/// Takes the reply at the start of `bytes` apart; returns it and how many bytes it has, or none when the bytes end
/// first. It accepts and refuses the same bytes as [`ReplyReader`], and keeps no more than has been received.
///
/// # Errors
/// When the bytes are no reply.
pub fn parse_value(bytes: &[u8]) -> Result<Option<(Value, usize)>, MalformedReply> {
    // The reader finds each fault and the end, so that all lengths and the depth are known to be sound afterwards.
    let mut rest = bytes;
    if ReplyReader::new().next(&mut rest)?.is_none() {
        return Ok(None);
    }
    let length = bytes.len() - rest.len();
    let value = Parser { rest: &bytes[..length] }.value()?;
    Ok(Some((value, length)))
}

/// Takes apart what the reader has accepted.
struct Parser<'bytes> {
    rest: &'bytes [u8],
}

impl<'bytes> Parser<'bytes> {
    fn value(&mut self) -> Result<Value, MalformedReply> {
        let (mut marker, mut line) = self.header()?;
        while marker == b'|' {
            self.values(count(line)?.saturating_mul(2))?;
            (marker, line) = self.header()?;
        }
        Ok(match marker {
            b'+' => Value::Status(line.to_vec()),
            b'-' => Value::Error(line.to_vec()),
            b':' => Value::Integer(number(line)?),
            b'#' => Value::Integer((line == b"t").into()),
            b',' | b'(' => Value::Bulk(line.to_vec()),
            b'_' => Value::Nil,
            b'$' | b'*' if number(line)? == -1 => Value::Nil,
            b'$' => Value::Bulk(self.body(line)?.to_vec()),
            b'!' => Value::Error(self.body(line)?.to_vec()),
            b'=' => Value::Bulk(without_format(self.body(line)?).to_vec()),
            b'*' | b'~' | b'>' => Value::Array(self.values(count(line)?)?),
            b'%' => Value::Map(self.pairs(count(line)?)?),
            other => return Err(MalformedReply::UnknownMarker(other)),
        })
    }

    /// The marker of the next value and the rest of its line.
    fn header(&mut self) -> Result<(u8, &'bytes [u8]), MalformedReply> {
        let (&marker, rest) = self.rest.split_first().ok_or(MalformedReply::IncompleteLine)?;
        let end = rest.iter().position(|&byte| byte == b'\r').ok_or(MalformedReply::IncompleteLine)?;
        self.rest = rest.get(end + 2..).ok_or(MalformedReply::IncompleteLine)?;
        Ok((marker, &rest[..end]))
    }

    fn body(&mut self, line: &[u8]) -> Result<&'bytes [u8], MalformedReply> {
        let (body, rest) = self.rest.split_at_checked(count(line)?).ok_or(MalformedReply::UnterminatedBody)?;
        self.rest = rest.get(2..).ok_or(MalformedReply::UnterminatedBody)?;
        Ok(body)
    }

    fn values(&mut self, count: usize) -> Result<Vec<Value>, MalformedReply> {
        let mut values = Vec::new();
        for _ in 0..count {
            values.push(self.value()?);
        }
        Ok(values)
    }

    fn pairs(&mut self, count: usize) -> Result<Vec<(Value, Value)>, MalformedReply> {
        let mut pairs = Vec::new();
        for _ in 0..count {
            pairs.push((self.value()?, self.value()?));
        }
        Ok(pairs)
    }
}

fn number(line: &[u8]) -> Result<i64, MalformedReply> {
    let mut number = Decimal::default();
    for &byte in line {
        number.push(byte)?;
    }
    number.finish()
}

fn count(line: &[u8]) -> Result<usize, MalformedReply> {
    usize::try_from(number(line)?).map_err(|_| MalformedReply::NegativeLength)
}

/// The text of a verbatim string: what follows `txt:` or `mkd:`.
fn without_format(body: &[u8]) -> &[u8] {
    if let [_, _, _, b':', text @ ..] = body { text } else { body }
}
