//! The one writer to standard output and standard error: error replies, names and keys never steer the terminal.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

/// Replaces characters that are not shown, but for line ends and tabs.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars().map(|character| if is_shown(character) { character } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// Writes text for people to standard output.
///
/// # Errors
/// When it cannot be written.
pub fn show(text: &[u8]) -> io::Result<()> {
    write_all(&mut io::stdout(), printable(&String::from_utf8_lossy(text)).as_bytes())
}

/// Writes text for people to standard error.
///
/// # Errors
/// When it cannot be written.
pub fn note(text: &str) -> io::Result<()> {
    write_all(&mut io::stderr(), printable(text).as_bytes())
}

/// Writes JSON to standard output; characters that are not shown are escaped, and mean the same.
///
/// # Errors
/// When it cannot be written.
pub fn write_json(json: &[u8]) -> io::Result<()> {
    let mut escaped = String::with_capacity(json.len());
    for character in String::from_utf8_lossy(json).chars() {
        if is_shown(character) {
            escaped.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a text cannot fail.
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    write_all(&mut io::stdout(), escaped.as_bytes())
}

/// The channel to the program that drives this one, which escapes by itself.
#[must_use]
pub fn channel() -> impl Write {
    io::stdout()
}

/// Whether standard error is a terminal.
pub(crate) fn has_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Writes this program's own sequences to standard error, and nothing of others.
pub(crate) fn steer(text: &str) {
    // Standard error may be closed.
    let _ = io::stderr().write_all(text.as_bytes());
}

fn write_all(output: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    output.write_all(bytes).and_then(|()| output.flush())
}

/// Whether a character is shown, or ends a line or is a tab, and does nothing else: controls of both kinds, those that
/// change the direction of text, and those without a width do.
fn is_shown(character: char) -> bool {
    let is_hidden = matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
    matches!(character, '\n' | '\t') || !character.is_control() && !is_hidden
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn what_steers_a_terminal_is_replaced_and_all_other_text_stays() {
        let hostile = "a\u{1b}[2J\u{9b}31m\u{202e}\r\u{7}\u{200b}b\n\tü…→";
        let shown = printable(hostile);
        assert_eq!(shown, "a\u{fffd}[2J\u{fffd}31m\u{fffd}\u{fffd}\u{fffd}\u{fffd}b\n\tü…→");
    }
}
