//! From steps to bytes.

use std::ops::Range;

use super::{Step, Template};

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
