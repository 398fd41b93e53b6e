//! Splits a command line into words by the quoting rules of redis-cli.
//!
//! Blanks separate words. Double quotes take the escapes `\xHH`, `\n`, `\r`, `\t`, `\b` and `\a`, and a backslash
//! before any other byte gives that byte. Single quotes take only `\'`. A quote may begin inside a word, but a blank or
//! the end must follow the closing one.

use thiserror::Error;

/// Why a command line cannot be split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum LineError {
    /// The line ends inside quotes.
    #[error("the quote that opens at byte {at} is never closed")]
    UnclosedQuote {
        /// Offset of the opening quote, from 0.
        at: usize,
    },
    /// Text follows a closing quote.
    #[error("a space must follow the closing quote at byte {at}")]
    TextAfterQuote {
        /// Offset of the closing quote, from 0.
        at: usize,
    },
}

/// Splits `line` into words, quotes and escapes resolved.
///
/// # Errors
/// When quotes do not close, or text follows a closing one.
pub fn split_words(line: &[u8]) -> Result<Vec<Vec<u8>>, LineError> {
    let mut words = Vec::new();
    let mut at = 0;
    loop {
        while line.get(at).is_some_and(|&byte| is_blank(byte)) {
            at += 1;
        }
        if at >= line.len() {
            return Ok(words);
        }
        let mut word = Vec::new();
        at = read_word(line, at, &mut word)?;
        words.push(word);
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c | 0)
}

/// Reads one word that starts at `at`; returns the offset after it.
fn read_word(line: &[u8], mut at: usize, word: &mut Vec<u8>) -> Result<usize, LineError> {
    while let Some(&byte) = line.get(at) {
        if is_blank(byte) {
            break;
        }
        if byte != b'"' && byte != b'\'' {
            word.push(byte);
            at += 1;
            continue;
        }
        let close = read_quoted(line, at, byte, word)?;
        return match line.get(close + 1) {
            Some(&next) if !is_blank(next) => Err(LineError::TextAfterQuote { at: close }),
            _ => Ok(close + 1),
        };
    }
    Ok(at)
}

/// Reads what is between the `quote` at `open` and its partner; returns the partner's offset.
fn read_quoted(line: &[u8], open: usize, quote: u8, word: &mut Vec<u8>) -> Result<usize, LineError> {
    let mut at = open + 1;
    loop {
        match line.get(at..).unwrap_or_default() {
            [] => return Err(LineError::UnclosedQuote { at: open }),
            [byte, ..] if *byte == quote => return Ok(at),
            [b'\\', b'x', high, low, ..] if quote == b'"' && hex(*high).is_some() && hex(*low).is_some() => {
                word.push(hex(*high).unwrap_or(0) << 4 | hex(*low).unwrap_or(0));
                at += 4;
            }
            [b'\\', escaped, ..] if quote == b'"' => {
                word.push(unescape(*escaped));
                at += 2;
            }
            [b'\\', b'\'', ..] => {
                word.push(b'\'');
                at += 2;
            }
            [byte, ..] => {
                word.push(*byte);
                at += 1;
            }
        }
    }
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

fn unescape(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 0x08,
        b'a' => 0x07,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::{LineError, split_words};

    fn words(line: &str) -> Vec<Vec<u8>> {
        split_words(line.as_bytes()).expect("a line that splits")
    }

    #[test]
    fn blanks_separate_words() {
        assert_eq!(words("  SET\t k  v \n"), [b"SET".to_vec(), b"k".to_vec(), b"v".to_vec()]);
        assert!(words(" \t ").is_empty());
    }

    #[test]
    fn double_quotes_resolve_escapes() {
        assert_eq!(words(r#""a b\x00\xfF\n\r\t\b\a\"\\\q""#), [b"a b\x00\xff\n\r\t\x08\x07\"\\q".to_vec()]);
        assert_eq!(words(r#""\xg1" "\x1""#), [b"xg1".to_vec(), b"x1".to_vec()], "an escape that is not hexadecimal");
    }

    #[test]
    fn single_quotes_resolve_only_their_own() {
        assert_eq!(words(r"'it\'s \n' ''"), [br"it's \n".to_vec(), b"".to_vec()]);
    }

    #[test]
    fn a_quote_may_begin_inside_a_word() {
        assert_eq!(words(r#"key:"a b" x\y"#), [b"key:a b".to_vec(), br"x\y".to_vec()]);
    }

    #[test]
    fn faults_name_their_place() {
        assert_eq!(split_words(b"GET \"a"), Err(LineError::UnclosedQuote { at: 4 }));
        assert_eq!(split_words(b"GET 'a\\'"), Err(LineError::UnclosedQuote { at: 4 }));
        assert_eq!(split_words(br#"GET "a\"#), Err(LineError::UnclosedQuote { at: 4 }));
        assert_eq!(split_words(b"GET 'a'b"), Err(LineError::TextAfterQuote { at: 6 }));
    }
}
