//! A signed decimal number, read byte by byte.

use super::MalformedReply;

/// The digits so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Decimal {
    /// Magnitude of the number.
    magnitude: u64,
    negative: bool,
    signed: bool,
    has_digits: bool,
}

impl Decimal {
    pub(super) fn push(&mut self, byte: u8) -> Result<(), MalformedReply> {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            let magnitude = self.magnitude.checked_mul(10).and_then(|tens| tens.checked_add(u64::from(digit)));
            self.magnitude = magnitude.ok_or(MalformedReply::NumberOutOfRange)?;
            self.has_digits = true;
            return Ok(());
        }
        if !matches!(byte, b'+' | b'-') || self.signed || self.has_digits {
            return Err(MalformedReply::UnexpectedByte(byte));
        }
        self.signed = true;
        self.negative = byte == b'-';
        Ok(())
    }

    /// The number, once its line has ended.
    pub(super) fn finish(self) -> Result<i64, MalformedReply> {
        if !self.has_digits {
            return Err(MalformedReply::IncompleteLine);
        }
        let value =
            if self.negative { 0_i64.checked_sub_unsigned(self.magnitude) } else { i64::try_from(self.magnitude).ok() };
        value.ok_or(MalformedReply::NumberOutOfRange)
    }
}

#[cfg(test)]
mod tests {
    use super::{Decimal, MalformedReply};

    fn parse(text: &str) -> Result<i64, MalformedReply> {
        let mut decimal = Decimal::default();
        for byte in text.bytes() {
            decimal.push(byte)?;
        }
        decimal.finish()
    }

    #[test]
    fn the_whole_range_is_read() {
        for value in [0, 1, -1, 42, i64::MAX, i64::MIN] {
            assert_eq!(parse(&value.to_string()), Ok(value));
        }
        assert_eq!(parse("+7"), Ok(7));
        assert_eq!(parse("007"), Ok(7));
    }

    #[test]
    fn other_text_is_refused() {
        assert_eq!(parse("9223372036854775808"), Err(MalformedReply::NumberOutOfRange));
        assert_eq!(parse("-9223372036854775809"), Err(MalformedReply::NumberOutOfRange));
        assert_eq!(parse("99999999999999999999999"), Err(MalformedReply::NumberOutOfRange));
        assert_eq!(parse(""), Err(MalformedReply::IncompleteLine));
        assert_eq!(parse("-"), Err(MalformedReply::IncompleteLine));
        assert_eq!(parse("--1"), Err(MalformedReply::UnexpectedByte(b'-')));
        assert_eq!(parse("1-"), Err(MalformedReply::UnexpectedByte(b'-')));
        assert_eq!(parse("?"), Err(MalformedReply::UnexpectedByte(b'?')));
    }
}
