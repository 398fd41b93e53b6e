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
}
