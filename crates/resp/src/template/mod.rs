//! Command lines, compiled once into bytes with holes.

mod compile;
mod emit;
mod words;

use std::ops::Range;

pub use compile::TemplateError;
pub use emit::{Values, ValuesOfKeys};
pub use words::{LineError, split_words};

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
