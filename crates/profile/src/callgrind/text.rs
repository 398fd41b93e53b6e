//! The parts of a line: numbers, positions, names.

use super::Syntax;

/// A decimal or `0x` hexadecimal number.
pub(super) fn number(text: &str) -> Result<u64, Syntax> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None if text.starts_with('+') => return Err(Syntax::Number(text.to_owned())),
        None => text.parse(),
    };
    parsed.map_err(|_| Syntax::Number(text.to_owned()))
}

/// A position: absolute, or relative to the last one (`+n`, `-n`, `*` for the same).
pub(super) fn position(text: &str, last: u64) -> Result<u64, Syntax> {
    let out_of_range = || Syntax::Position(text.to_owned());
    match text.as_bytes().first() {
        Some(b'*') if text.len() == 1 => Ok(last),
        Some(b'+') => last.checked_add(number(&text[1..])?).ok_or_else(out_of_range),
        Some(b'-') => last.checked_sub(number(&text[1..])?).ok_or_else(out_of_range),
        _ => number(text),
    }
}

/// A name as written after `=`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Name<'a> {
    /// `(id) name`: from now on `(id)` stands for it.
    Defined(u64, &'a str),
    /// `(id)`.
    Known(u64),
    /// A name without number.
    Plain(&'a str),
}

pub(super) fn name(text: &str) -> Name<'_> {
    let text = text.trim();
    let numbered = text.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    match numbered.map(|(id, rest)| (number(id), rest.trim_start())) {
        Some((Ok(id), "")) => Name::Known(id),
        Some((Ok(id), name)) => Name::Defined(id, name),
        _ => Name::Plain(text),
    }
}

#[cfg(test)]
mod tests {
    use super::{Name, name, number, position};

    #[test]
    fn positions_are_absolute_or_relative() {
        assert_eq!(position("12", 7), Ok(12));
        assert_eq!(position("0x1f", 7), Ok(31));
        assert_eq!(position("+5", 7), Ok(12));
        assert_eq!(position("-5", 7), Ok(2));
        assert_eq!(position("*", 7), Ok(7));
        for wrong in ["-8", "+18446744073709551615", "", "**", "+", "--1", "++1", "1x"] {
            assert!(position(wrong, 7).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_have_no_sign() {
        assert!(number("+1").is_err());
        assert!(number("-1").is_err());
        assert!(number("18446744073709551616").is_err());
    }

    #[test]
    fn names_are_plain_defined_or_known() {
        assert_eq!(name("(3) ./a b.c"), Name::Defined(3, "./a b.c"));
        assert_eq!(name("(3)"), Name::Known(3));
        assert_eq!(name("main"), Name::Plain("main"));
        assert_eq!(name("(below main)"), Name::Plain("(below main)"));
    }
}
