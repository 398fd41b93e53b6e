//! Replies of the commonest kinds that lie in the input as a whole.

use crate::reply::ReplyKind;

/// Longer numbers are unusual. The end of a body of that length fits `usize` everywhere.
const MAXIMUM_DIGITS: usize = 9;

/// A reply of which nothing else is reported.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whole {
    pub(super) kind: ReplyKind,
    /// Its bytes, the end of its last line included.
    pub(super) length: usize,
    /// Whether it is the integer 0.
    pub(super) is_zero: bool,
}

/// The reply at the start of `input`. None when it is incomplete, faulty, of another kind or in any way unusual: it has
/// to be read byte by byte then, which would give the same result for all others.
#[inline]
pub(super) fn whole(input: &[u8]) -> Option<Whole> {
    let (&marker, rest) = input.split_first()?;
    match marker {
        b'$' if rest.starts_with(b"-1\r\n") => Some(plain(ReplyKind::Nil, 5)),
        b'$' => bulk(rest).map(|length| plain(ReplyKind::Bulk, 1 + length)),
        b'+' if rest.starts_with(b"OK\r\n") => Some(plain(ReplyKind::Status, 5)),
        b'+' => status(rest).map(|length| plain(ReplyKind::Status, 1 + length)),
        b':' => integer(rest),
        _ => None,
    }
}

const fn plain(kind: ReplyKind, length: usize) -> Whole {
    Whole { kind, length, is_zero: false }
}

fn bulk(input: &[u8]) -> Option<usize> {
    let (body_length, digits) = number(input)?;
    let end = digits + 2 + body_length;
    let is_sound = input.get(end..)?.starts_with(b"\r\n");
    is_sound.then_some(end + 2)
}

fn status(input: &[u8]) -> Option<usize> {
    let end = input.iter().position(|byte| matches!(byte, b'\r' | b'\n'))?;
    input[end..].starts_with(b"\r\n").then_some(end + 2)
}

fn integer(input: &[u8]) -> Option<Whole> {
    let sign = usize::from(input.first() == Some(&b'-'));
    let (value, digits) = number(&input[sign..])?;
    Some(Whole { kind: ReplyKind::Integer, length: 1 + sign + digits + 2, is_zero: value == 0 })
}

/// The number at the start of `input`, and how many digits it has, if the end of the line follows.
fn number(input: &[u8]) -> Option<(usize, usize)> {
    let mut number = 0;
    for (index, &byte) in input.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return (index > 0 && input[index..].starts_with(b"\r\n")).then_some((number, index));
        }
        if index == MAXIMUM_DIGITS {
            break;
        }
        number = number * 10 + usize::from(digit);
    }
    None
}
