//! What the tests share: the program, its command line, a scripted server, a real one.

#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod program;
pub mod real;
pub mod scripted;
pub mod settings;

use std::collections::BTreeMap;

/// Counts equal items.
pub fn multiset<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    for item in items {
        *counts.entry(item).or_default() += 1;
    }
    counts
}
