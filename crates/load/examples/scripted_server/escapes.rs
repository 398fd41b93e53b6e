//! Bytes written as text.

/// Replaces `\r`, `\n`, `\t`, `\\` and `\xHH`.
///
/// # Errors
/// A sentence, when something else follows a backslash.
pub(crate) fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let (&letter, after) = rest.split_first().ok_or("a lone backslash at the end")?;
        rest = after;
        bytes.push(match letter {
            b'r' => b'\r',
            b'n' => b'\n',
            b't' => b'\t',
            b'\\' => b'\\',
            b'x' => {
                let digits = rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
                let value = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                rest = rest.get(2..).unwrap_or_default();
                value.ok_or(r"expected two hexadecimal digits after \x")?
            }
            _ => return Err(format!("no such escape: \\{}", char::from(letter))),
        });
    }
    Ok(bytes)
}
