//! Replies that one has to look into.

use super::decimal::Decimal;
use super::{MalformedReply, ReplyReader};

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
