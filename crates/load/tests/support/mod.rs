//! What the tests share: the program, its command line, a scripted server, a real one.

#![allow(dead_code, unused_imports, reason = "each test file uses a part of it")]

pub mod program;
pub mod real;
pub mod scripted;
pub mod settings;

use std::collections::BTreeMap;

use serde_json::Value;

use program::run;
use scripted::Scripted;

/// Runs the program against `server` with these arguments more, to a good end; returns the whole document.
pub fn load(server: &Scripted, arguments: &[&str]) -> Value {
    let port = server.port();
    let finished = run(&[&["-s", "127.0.0.1", "-p", &port, "--json-out-file", "-"], arguments].concat());
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    finished.json()
}

/// Counts equal items.
pub fn multiset<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    for item in items {
        *counts.entry(item).or_default() += 1;
    }
    counts
}
