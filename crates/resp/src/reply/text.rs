//! Header lines that are text, not a count.

use super::MalformedReply;

/// What a line must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextRule {
    /// Anything.
    Free,
    /// An error's line; its first word is the code.
    Error,
    /// Nothing at all.
    Empty,
    /// `t` or `f`.
    Boolean,
    /// Digits, a sign, a point, an exponent, `inf` or `nan`.
    Double,
    /// Digits, perhaps after a sign.
    BigNumber,
}

impl TextRule {
    /// Whether `text` may stand in a line after `seen` earlier bytes.
    pub(super) fn check(self, text: &[u8], seen: u64) -> Result<(), MalformedReply> {
        let allowed = |index: usize, byte: u8| match self {
            Self::Free | Self::Error => byte != b'\n',
            Self::Empty => false,
            Self::Boolean => seen == 0 && index == 0 && matches!(byte, b't' | b'f'),
            Self::Double => byte.is_ascii_digit() || b"+-.eEinfaINFA".contains(&byte),
            Self::BigNumber => byte.is_ascii_digit() || (seen == 0 && index == 0 && matches!(byte, b'+' | b'-')),
        };
        match text.iter().enumerate().find(|&(index, &byte)| !allowed(index, byte)) {
            Some((_, &byte)) => Err(MalformedReply::UnexpectedByte(byte)),
            None => Ok(()),
        }
    }

    /// Whether a line of `seen` bytes is complete.
    pub(super) fn finish(self, seen: u64) -> Result<(), MalformedReply> {
        let needs_text = matches!(self, Self::Boolean | Self::Double | Self::BigNumber);
        if needs_text && seen == 0 { Err(MalformedReply::IncompleteLine) } else { Ok(()) }
    }
}
