//! Any command line: if it is a template, it must write a request whose arguments are the words of the line.
//!
//! The first byte is the number of bytes that follow as the key prefix and the data; the rest is the line.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zerolap_resp::{Template, Value, Values, parse_value, split_words};

const KEY: &[u8] = b"__key__";
const DATA: &[u8] = b"__data__";

/// Hands out ids of all lengths, and one value.
struct Fixed<'data> {
    key: u64,
    data: &'data [u8],
}

impl Values for Fixed<'_> {
    fn next_key(&mut self) -> u64 {
        self.key = self.key.wrapping_mul(11).wrapping_add(7);
        self.key
    }

    fn next_data(&mut self) -> &[u8] {
        self.data
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&length, rest)) = bytes.split_first() else { return };
    let (prefix, line) = rest.split_at(usize::from(length).min(rest.len()));
    let Ok(template) = Template::compile(line, prefix) else { return };

    let mut output = b"earlier".to_vec();
    let start = output.len();
    let key = template.write(&mut Fixed { key: 0, data: prefix }, &mut output);
    let (value, length) = parse_value(&output[start..]).expect("a request").expect("a whole request");
    assert_eq!(start + length, output.len(), "one request");

    let words = split_words(line).expect("words");
    let (arguments, first_key) = expected(&words, prefix);
    assert_eq!(value, Value::Array(arguments.iter().cloned().map(Value::Bulk).collect()));
    assert_eq!(key.map(|range| &output[range]), first_key.map(|index| arguments[index].as_slice()));
    let is_constant = |word: &&Vec<u8>| find(word, KEY).is_none() && *word != DATA;
    assert_eq!(template.first_argument(), words.get(1).filter(is_constant).map(Vec::as_slice));
});

/// The arguments that must be written, and which one holds the first key.
fn expected(words: &[Vec<u8>], prefix: &[u8]) -> (Vec<Vec<u8>>, Option<usize>) {
    let mut values = Fixed { key: 0, data: prefix };
    let argument = |word: &Vec<u8>| match find(word, KEY) {
        _ if word == DATA => prefix.to_vec(),
        None => word.clone(),
        Some(at) => {
            let id = values.next_key().to_string();
            [&word[..at], prefix, id.as_bytes(), &word[at + KEY.len()..]].concat()
        }
    };
    (words.iter().map(argument).collect(), words.iter().position(|word| find(word, KEY).is_some()))
}

fn find(word: &[u8], placeholder: &[u8]) -> Option<usize> {
    word.windows(placeholder.len()).position(|window| window == placeholder)
}
