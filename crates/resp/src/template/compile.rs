//! From words to steps.

use std::array;
use std::ops::Range;

use thiserror::Error;

use super::{KeyHole, LineError, MAXIMUM_DIGITS, Step, Template, split_words};
use crate::request::write_header;

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
