//! Requests: one whose arguments are known, and command lines that are compiled once into bytes with holes.

use std::array;
use std::ops::Range;

use thiserror::Error;

/// Most decimal digits that a key id can have.
const MAXIMUM_DIGITS: usize = 20;

/// One command line as RESP bytes with holes.
#[derive(Debug, Clone)]
pub struct Template {
    /// The text of all literals and headers, in no order that matters.
    bytes: Vec<u8>,
    steps: Vec<Step>,
    command: String,
    /// Where in `bytes` the second word lies, if it is constant.
    first_argument: Option<Range<usize>>,
    key_count: usize,
    data_count: usize,
}

/// What is appended to the output, in order.
#[derive(Debug, Clone)]
enum Step {
    /// These bytes of the template, as they are.
    Literal(Range<usize>),
    /// A length and text before a key id, then the id. The text after the id belongs to the next literal.
    Key(Box<KeyHole>),
    /// A length and value bytes.
    Data,
}

/// For each number of digits of the id: the bytes `LENGTH\r\nTEXT` that come before it, after short constant text.
#[derive(Debug, Clone)]
struct KeyHole {
    before: [Range<usize>; MAXIMUM_DIGITS],
    /// Bytes of the argument before the id.
    before_length: usize,
    /// Bytes of the argument after the id.
    after_length: usize,
}

impl Template {
    /// The command's name in upper case, without its arguments.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.command
    }

    /// The command's first argument, if there is one and nothing in it is drawn.
    #[must_use]
    pub fn first_argument(&self) -> Option<&[u8]> {
        self.first_argument.clone().map(|range| &self.bytes[range])
    }

    /// Keys that one request draws.
    #[must_use]
    pub fn key_count(&self) -> usize {
        self.key_count
    }

    /// Values that one request draws.
    #[must_use]
    pub fn data_count(&self) -> usize {
        self.data_count
    }
}

const KEY_PLACEHOLDER: &[u8] = b"__key__";
const DATA_PLACEHOLDER: &[u8] = b"__data__";
/// Longer constant text before a key is kept once, not once for each number of digits.
const MOST_FUSED_BYTES: usize = 256;

/// Why a command line is no template.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TemplateError {
    /// Its quotes are wrong.
    #[error(transparent)]
    Line(#[from] LineError),
    /// It holds no words.
    #[error("the command line is empty")]
    Empty,
    /// The command's name holds a placeholder.
    #[error("the command's name cannot hold a placeholder: {word}")]
    PlaceholderInName {
        /// The first word.
        word: String,
    },
    /// `__data__` is only a part of an argument.
    #[error("__data__ must be a whole argument, not a part of one: {word}")]
    PartialData {
        /// The argument.
        word: String,
    },
}

impl Template {
    /// Compiles `line`. Each argument that holds `__key__` draws a key of its own, written as `key_prefix` and a
    /// decimal id; only the first one in an argument counts. `__data__` draws a value.
    ///
    /// # Errors
    /// When the line cannot be split or a placeholder stands where it cannot.
    pub fn compile(line: &[u8], key_prefix: &[u8]) -> Result<Self, TemplateError> {
        let words = split_words(line)?;
        let name = words.first().ok_or(TemplateError::Empty)?;
        if find(name, KEY_PLACEHOLDER).is_some() || find(name, DATA_PLACEHOLDER).is_some() {
            return Err(TemplateError::PlaceholderInName { word: text(name) });
        }
        let mut compiler = Compiler::new(text(name).to_uppercase());
        write_header(b'*', words.len(), &mut compiler.literal);
        for (index, word) in words.iter().enumerate() {
            let constant = compiler.add_word(word, key_prefix)?;
            if index == 1 {
                compiler.template.first_argument = constant;
            }
        }
        Ok(compiler.finish())
    }
}

struct Compiler {
    template: Template,
    /// Constant bytes since the last hole.
    literal: Vec<u8>,
}

impl Compiler {
    fn new(command: String) -> Self {
        let (bytes, steps) = (Vec::new(), Vec::new());
        let template = Template { bytes, steps, command, first_argument: None, key_count: 0, data_count: 0 };
        Self { template, literal: Vec::new() }
    }

    /// Returns where in the template's bytes the word will lie, unless something in it is drawn.
    fn add_word(&mut self, word: &[u8], key_prefix: &[u8]) -> Result<Option<Range<usize>>, TemplateError> {
        let mut constant = None;
        if word == DATA_PLACEHOLDER {
            self.literal.push(b'$');
            self.flush_literal();
            self.template.steps.push(Step::Data);
            self.template.data_count += 1;
        } else if find(word, DATA_PLACEHOLDER).is_some() {
            return Err(TemplateError::PartialData { word: text(word) });
        } else if let Some(at) = find(word, KEY_PLACEHOLDER) {
            let before = [&word[..at], key_prefix].concat();
            let after = &word[at + KEY_PLACEHOLDER.len()..];
            self.literal.push(b'$');
            if self.literal.len() > MOST_FUSED_BYTES {
                self.flush_literal();
            }
            self.add_key(&before, after.len());
            self.literal.extend_from_slice(after);
        } else {
            write_header(b'$', word.len(), &mut self.literal);
            let start = self.template.bytes.len() + self.literal.len();
            constant = Some(start..start + word.len());
            self.literal.extend_from_slice(word);
        }
        self.literal.extend_from_slice(b"\r\n");
        Ok(constant)
    }

    /// What is left of the literal belongs to the hole, so that both are copied at once.
    fn add_key(&mut self, before: &[u8], after_length: usize) {
        let before_length = before.len();
        let literal = std::mem::take(&mut self.literal);
        let bytes = &mut self.template.bytes;
        let before = array::from_fn::<_, MAXIMUM_DIGITS, _>(|index| {
            let start = bytes.len();
            let length = before_length + index + 1 + after_length;
            bytes.extend_from_slice(&literal);
            bytes.extend_from_slice(itoa::Buffer::new().format(length).as_bytes());
            bytes.extend_from_slice(b"\r\n");
            bytes.extend_from_slice(before);
            start..bytes.len()
        });
        self.template.steps.push(Step::Key(Box::new(KeyHole { before, before_length, after_length })));
        self.template.key_count += 1;
    }

    fn flush_literal(&mut self) {
        let start = self.template.bytes.len();
        self.template.bytes.append(&mut self.literal);
        self.template.steps.push(Step::Literal(start..self.template.bytes.len()));
    }

    fn finish(mut self) -> Template {
        self.flush_literal();
        self.template
    }
}

fn find(word: &[u8], placeholder: &[u8]) -> Option<usize> {
    word.windows(placeholder.len()).position(|window| window == placeholder)
}

fn text(word: &[u8]) -> String {
    String::from_utf8_lossy(word).into_owned()
}

/// Where the holes of a template get their content from.
pub trait Values {
    /// The id of the next key.
    fn next_key(&mut self) -> u64;
    /// The bytes of the next value.
    fn next_data(&mut self) -> &[u8];
}

/// The same, where values depend on keys.
pub trait ValuesOfKeys {
    /// The id of the next key.
    fn next_key(&mut self) -> u64;
    /// The bytes of the next value. `key` is the argument that holds the last key before it in its request, prefix and
    /// affixes included; it is empty if there is none.
    fn next_data(&mut self, key: &[u8]) -> &[u8];
}

impl Template {
    /// Appends one request to `output`. It allocates only when `output` must grow.
    ///
    /// Returns where in `output` the first argument with a key lies, prefix and affixes included.
    pub fn write(&self, values: &mut impl Values, output: &mut Vec<u8>) -> Option<Range<usize>> {
        let mut key = None;
        let mut number = itoa::Buffer::new();
        for step in &self.steps {
            match step {
                Step::Literal(range) => output.extend_from_slice(&self.bytes[range.clone()]),
                Step::Key(hole) => {
                    let digits = number.format(values.next_key()).as_bytes();
                    let before = hole.before[digits.len() - 1].clone();
                    output.extend_from_slice(&self.bytes[before]);
                    let start = output.len() - hole.before_length;
                    output.extend_from_slice(digits);
                    key.get_or_insert(start..output.len() + hole.after_length);
                }
                Step::Data => {
                    let data = values.next_data();
                    output.extend_from_slice(number.format(data.len()).as_bytes());
                    output.extend_from_slice(b"\r\n");
                    output.extend_from_slice(data);
                }
            }
        }
        key
    }

    /// As [`Self::write`], with values that depend on keys. Apart from it, because to remember the last key takes time.
    pub fn write_with_keys(&self, values: &mut impl ValuesOfKeys, output: &mut Vec<u8>) -> Option<Range<usize>> {
        let (mut first, mut last) = (None, 0..0);
        let mut number = itoa::Buffer::new();
        for step in &self.steps {
            match step {
                Step::Literal(range) => output.extend_from_slice(&self.bytes[range.clone()]),
                Step::Key(hole) => {
                    let digits = number.format(values.next_key()).as_bytes();
                    let before = hole.before[digits.len() - 1].clone();
                    output.extend_from_slice(&self.bytes[before]);
                    let start = output.len() - hole.before_length;
                    output.extend_from_slice(digits);
                    last = start..output.len() + hole.after_length;
                    first.get_or_insert_with(|| last.clone());
                }
                Step::Data => {
                    // What follows a key in its argument is a literal, so it has been written by now.
                    let data = values.next_data(output.get(last.clone()).unwrap_or_default());
                    output.extend_from_slice(number.format(data.len()).as_bytes());
                    output.extend_from_slice(b"\r\n");
                    output.extend_from_slice(data);
                }
            }
        }
        first
    }
}

/// Appends the RESP encoding of one request to `output`.
pub fn write_request(arguments: &[&[u8]], output: &mut Vec<u8>) {
    write_header(b'*', arguments.len(), output);
    for argument in arguments {
        write_header(b'$', argument.len(), output);
        output.extend_from_slice(argument);
        output.extend_from_slice(b"\r\n");
    }
}

/// Appends a marker, a count in decimal and the end of line.
fn write_header(marker: u8, count: usize, output: &mut Vec<u8>) {
    output.push(marker);
    output.extend_from_slice(itoa::Buffer::new().format(count).as_bytes());
    output.extend_from_slice(b"\r\n");
}

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

/// Splits `line` into words by the quoting rules of redis-cli.
///
/// Blanks separate words. Double quotes take the escapes `\xHH`, `\n`, `\r`, `\t`, `\b` and `\a`, and a backslash
/// before any other byte gives that byte. Single quotes take only `\'`. A quote may begin inside a word, but a blank or
/// the end must follow the closing one.
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
    use super::{LineError, split_words, write_request};

    #[test]
    fn arguments_are_bulk_strings() {
        let mut output = Vec::new();
        write_request(&[b"AUTH", b"", b"\r\n"], &mut output);
        assert_eq!(output, b"*3\r\n$4\r\nAUTH\r\n$0\r\n\r\n$2\r\n\r\n\r\n");
    }

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
