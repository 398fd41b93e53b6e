//! What is made of stack tables.

use zerolap_profile::stacks::{FunctionSamples, Nodes, Stacks, TableError, by_function, fold, merge, tree};

const TABLE: &str = r#"{"schema": "zerolap.stacks/1", "event": "cpu-clock", "samples": 10, "lost": 1,
 "threads": [{"name": "bio"}, {"name": "main"}],
 "frames": [{"function": "call", "file": "server.c", "object": "server", "inlined": false},
            {"function": "get", "file": "t_string.c", "object": "server", "inlined": false},
            {"function": "write", "file": null, "object": "libc.so.6", "inlined": false}],
 "stacks": [{"thread": 0, "frames": [0], "samples": 1},
            {"thread": 1, "frames": [0, 1], "samples": 2},
            {"thread": 1, "frames": [0, 1, 0], "samples": 3},
            {"thread": 1, "frames": [0, 2], "samples": 4}]}"#;

fn table() -> Stacks {
    Stacks::from_json(TABLE.as_bytes()).expect("a table")
}

#[test]
fn json_comes_back_as_it_was() {
    let bytes = table().to_json().expect("JSON");
    assert_eq!(Stacks::from_json(&bytes).expect("a table"), table());
}

#[test]
fn the_tree_has_what_stacks_share_once() {
    let stacks = table();
    let tree = tree(&stacks).expect("a table");
    assert_eq!((tree.event, tree.samples, tree.lost), ("cpu-clock", 10, 1));
    assert_eq!(tree.threads, ["bio", "main"]);
    assert_eq!(tree.frames, stacks.frames);
    let nodes = Nodes {
        thread: vec![0, 1, 1, 1, 1],
        parent: vec![-1, -1, 1, 2, 1],
        frame: vec![0, 0, 1, 0, 2],
        samples: vec![1, 0, 2, 3, 4],
    };
    assert_eq!(tree.nodes, nodes);
}

#[test]
fn a_function_that_calls_itself_counts_once() {
    let functions = by_function(&table()).expect("a table");
    let function = |thread, name: &str, file: Option<&str>, own, inclusive| FunctionSamples {
        thread,
        function: name.to_owned(),
        file: file.map(str::to_owned),
        own,
        inclusive,
    };
    let expected = [
        function(0, "call", Some("server.c"), 1, 1),
        function(1, "call", Some("server.c"), 3, 9),
        function(1, "get", Some("t_string.c"), 2, 5),
        function(1, "write", None, 4, 4),
    ];
    assert_eq!(functions, expected);
}

#[test]
fn what_has_no_name_is_told_apart_by_its_object() {
    let nameless = TABLE.replace(r#""get", "file": "t_string.c""#, r#""[unknown]", "file": null"#);
    let nameless = nameless.replace(r#""write""#, r#""[unknown]""#);
    let functions = by_function(&Stacks::from_json(nameless.as_bytes()).expect("a table")).expect("a table");
    let places: Vec<_> =
        functions.iter().filter(|one| one.function == "[unknown]").map(|one| (&one.file, one.own)).collect();
    assert_eq!(places, [(&Some("libc.so.6".to_owned()), 4), (&Some("server".to_owned()), 2)]);
}

#[test]
fn lines_of_a_flame_graph() {
    let text = fold(&table()).expect("a table");
    assert_eq!(text, "bio;call 1\nmain;call;get 2\nmain;call;get;call 3\nmain;call;write 4\n");
}

#[test]
fn a_table_merged_with_itself_has_twice_the_samples() {
    let both = merge(&[table(), table()]).expect("a table");
    assert_eq!((both.samples, both.lost), (20, 2));
    assert_eq!((&both.threads, &both.frames), (&table().threads, &table().frames));
    for (sum, one) in both.stacks.iter().zip(table().stacks) {
        assert_eq!((sum.thread, &sum.frames, sum.samples), (one.thread, &one.frames, 2 * one.samples));
    }
    assert_eq!(merge(&[]).expect("a table").samples, 0);
}

#[test]
fn inconsistent_tables_are_refused() {
    let refused = |from: &str, to: &str| {
        let changed = TABLE.replace(from, to);
        assert_ne!(changed, TABLE);
        Stacks::from_json(changed.as_bytes()).expect_err("an inconsistent table").to_string()
    };
    assert!(refused("stacks/1", "stacks/2").contains("schema"));
    assert!(refused("\"frames\": [0, 2]", "\"frames\": [0, 3]").contains("frame 3, of 3"));
    assert!(refused("\"frames\": [0, 2]", "\"frames\": []").contains("without frames"));
    assert!(refused("\"samples\": 10", "\"samples\": 11").contains("11 samples"));
    assert!(refused("\"lost\"", "\"last\"").contains("not a stack table"));
    let other = Stacks { event: "cycles".to_owned(), ..table() };
    assert!(matches!(merge(&[table(), other]), Err(TableError::Events { .. })));
    let many = Stacks { lost: u64::MAX, ..table() };
    assert!(matches!(merge(&[many, table()]), Err(TableError::Overflow)));
}

/// The table with a line of `get`, with so many samples of the function, of the line, and this text.
fn with_lines(own: u64, samples: u64, text: &str) -> String {
    let lines = format!(
        r#"[{{"function": "get", "file": "t_string.c", "object": "server", "samples": {own}, "lines": [
            {{"file": "t_string.c", "line": 12, "samples": {samples}, "text": "{text}"}}]}}]"#
    );
    TABLE.trim_end().strip_suffix('}').expect("an object").to_owned() + r#", "lines": "# + &lines + "}"
}

#[test]
fn tables_with_and_without_lines_are_read() {
    assert_eq!(table().lines, None);
    let stacks = Stacks::from_json(with_lines(2, 1, "return 1;").as_bytes()).expect("a table");
    let bytes = stacks.to_json().expect("JSON");
    assert_eq!(Stacks::from_json(&bytes).expect("a table"), stacks);
    assert!(!String::from_utf8(table().to_json().expect("JSON")).expect("text").contains("lines"));
}

#[test]
fn lines_add_up() {
    let stacks = Stacks::from_json(with_lines(2, 1, "return 1;").as_bytes()).expect("a table");
    assert_eq!(merge(&[table(), stacks.clone()]).expect("merged").lines, stacks.lines);
    let both = merge(&[stacks.clone(), stacks]).expect("merged").lines.expect("lines");
    assert_eq!((both.len(), both[0].samples, both[0].lines.len(), both[0].lines[0].samples), (1, 4, 1, 2));
}

#[test]
fn lines_are_bounded() {
    let refused = |json: String| Stacks::from_json(json.as_bytes()).expect_err("is refused").to_string();
    assert!(refused(with_lines(2, 3, "")).contains("more samples"));
    assert!(refused(with_lines(11, 1, "")).contains("more samples"));
    assert!(refused(with_lines(2, u64::MAX, "")).contains("more samples"));
    assert!(refused(with_lines(2, 1, &"x".repeat(201))).contains("too long"));
    let mut many = Stacks::from_json(with_lines(2, 0, "").as_bytes()).expect("a table");
    let line = many.lines.as_ref().expect("lines")[0].lines[0].clone();
    many.lines.as_mut().expect("lines")[0].lines = vec![line; 2001];
    assert!(refused(String::from_utf8(many.to_json().expect("JSON")).expect("text")).contains("more than a table"));
}

#[test]
fn texts_are_added_to_their_lines_and_cut() {
    let mut stacks = Stacks::from_json(with_lines(2, 1, "").as_bytes()).expect("a table");
    assert_eq!(stacks.source_lines().into_iter().collect::<Vec<_>>(), [("t_string.c", 12)]);
    let text = |line: u32, text: &str| (("t_string.c".to_owned(), line), text.repeat(150));
    stacks.add_texts(&[text(12, "äb"), text(13, "c")].into_iter().collect());
    assert_eq!(stacks.lines.as_ref().expect("lines")[0].lines[0].text, Some("äb".repeat(100)));
    Stacks::from_json(&stacks.to_json().expect("JSON")).expect("a table");
}
