//! Templates against the encoding of the same arguments by the plain encoder.

use proptest::prelude::*;
use zerolap_resp::{LineError, Template, TemplateError, Values, write_request};

/// Hands out consecutive keys and one value.
struct Fixed {
    key: u64,
    data: Vec<u8>,
}

impl Values for Fixed {
    fn next_key(&mut self) -> u64 {
        let key = self.key;
        self.key = self.key.wrapping_add(1);
        key
    }

    fn next_data(&mut self) -> &[u8] {
        &self.data
    }
}

fn request(arguments: &[&str]) -> Vec<u8> {
    let arguments: Vec<&[u8]> = arguments.iter().map(|argument| argument.as_bytes()).collect();
    let mut output = Vec::new();
    write_request(&arguments, &mut output);
    output
}

fn emit(line: &str, prefix: &str, key: u64, data: &str) -> Vec<u8> {
    let template = Template::compile(line.as_bytes(), prefix.as_bytes()).expect("a template");
    let mut output = Vec::new();
    template.write(&mut Fixed { key, data: data.into() }, &mut output);
    output
}

#[test]
fn a_constant_line_is_one_request() {
    assert_eq!(emit("ping 'a b'", "p-", 0, ""), request(&["ping", "a b"]));
}

#[test]
fn each_argument_with_a_key_draws_its_own() {
    let emitted = emit("MSET __key__ __data__ {T:__key__}_x __data__", "memtier-", 9, "value");
    assert_eq!(emitted, request(&["MSET", "memtier-9", "value", "{T:memtier-10}_x", "value"]));
}

#[test]
fn only_the_first_key_in_an_argument_counts() {
    assert_eq!(emit("GET __key__:__key__", "", 7, ""), request(&["GET", "7:__key__"]));
}

#[test]
fn the_template_knows_its_name_and_holes() {
    let template = Template::compile(b"hset __key__ f __data__ g __data__", b"").expect("a template");
    assert_eq!((template.command(), template.key_count(), template.data_count()), ("HSET", 1, 2));
}

#[test]
fn the_first_argument_with_a_key_is_returned() {
    let key = |line: &str| {
        let template = Template::compile(line.as_bytes(), b"p-").expect("a template");
        let mut output = b"earlier".to_vec();
        let range = template.write(&mut Fixed { key: 99, data: b"value".to_vec() }, &mut output);
        range.map(|range| String::from_utf8(output[range].to_vec()).expect("text"))
    };
    assert_eq!(key("GET __key__").as_deref(), Some("p-99"));
    assert_eq!(key("EVAL __data__ 2 {a__key__}b:__key__ x__key__").as_deref(), Some("{ap-99}b:__key__"));
    assert_eq!(key("SET fixed __data__"), None);
}

#[test]
fn a_constant_first_argument_is_returned() {
    let first = |line: &str| {
        let template = Template::compile(line.as_bytes(), b"p-").expect("a template");
        template.first_argument().map(<[u8]>::to_vec)
    };
    assert_eq!(first("LPUSH 'a list' __data__ __key__"), Some(b"a list".to_vec()));
    assert_eq!(first("GET ''"), Some(Vec::new()));
    for line in ["PING", "GET __key__ x", "GET x__key__", "SET __data__ k"] {
        assert_eq!(first(line), None, "{line:?}");
    }
}

#[test]
fn misplaced_placeholders_are_refused() {
    let error = |line: &str| Template::compile(line.as_bytes(), b"").expect_err("no template");
    assert_eq!(error("  "), TemplateError::Empty);
    assert_eq!(error("GET 'a"), TemplateError::Line(LineError::UnclosedQuote { at: 4 }));
    assert_eq!(error("SET k x__data__"), TemplateError::PartialData { word: "x__data__".into() });
    assert_eq!(error("SET k __key____data__"), TemplateError::PartialData { word: "__key____data__".into() });
    assert_eq!(error("__key__ k"), TemplateError::PlaceholderInName { word: "__key__".into() });
}

proptest! {
    #[test]
    fn any_key_and_affix_give_the_plain_encoding(
        before in "[a-z{]{0,120}", after in "[a-z}]{0,120}", prefix in "[a-z-]{0,20}", key: u64, data in "[a-z]{0,300}",
    ) {
        let line = format!("SET {before}__key__{after} __data__");
        let template = Template::compile(line.as_bytes(), prefix.as_bytes()).expect("a template");
        let mut emitted = Vec::new();
        let range = template.write(&mut Fixed { key, data: data.clone().into() }, &mut emitted).expect("a key");
        let argument = format!("{before}{prefix}{key}{after}");
        prop_assert_eq!(&emitted[range], argument.as_bytes());
        prop_assert_eq!(emitted, request(&["SET", &argument, &data]));
    }

    #[test]
    fn no_line_panics(line: Vec<u8>, prefix: Vec<u8>) {
        if let Ok(template) = Template::compile(&line, &prefix) {
            template.write(&mut Fixed { key: 1, data: Vec::new() }, &mut Vec::new());
        }
    }
}
