//! Samples by line of source code: those of the functions with the most of their own.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::{Stacks, TableError};

/// So many functions have lines in a table.
pub const MOST_FUNCTIONS: usize = 60;
/// So many lines all functions of a table have together.
pub const MOST_LINES: usize = 2_000;
/// So long is the text of a line, in characters.
pub const LONGEST_TEXT: usize = 200;

/// The samples of a function of its own, without its callees, by line; of all threads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionLines {
    /// As in [`super::Frame::function`].
    pub function: String,
    /// As in [`super::Frame::file`].
    pub file: Option<String>,
    /// As in [`super::Frame::object`].
    pub object: String,
    /// Number of samples in the function itself, those too whose line is not known or left out.
    pub samples: u64,
    /// The lines, in the order of file and number.
    pub lines: Vec<LineSamples>,
}

/// The samples of a line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LineSamples {
    /// The line's file in the form of the call graphs: that of a macro or of an included file may be another one than the
    /// function's.
    pub file: String,
    /// Number of the line, from 1 on.
    pub line: u32,
    /// Number of samples.
    pub samples: u64,
    /// The line as the source has it, cut at [`LONGEST_TEXT`] characters; none where the source was not at hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Function, file and object.
type Key = (String, Option<String>, String);
/// File, number and text.
type LineKey = (String, u32, Option<String>);

/// Samples by line on the way to a table; takes them in any order.
#[derive(Default)]
pub(crate) struct LineSums(BTreeMap<Key, OfFunction>);

#[derive(Default)]
struct OfFunction {
    samples: u64,
    lines: BTreeMap<LineKey, u64>,
}

impl LineSums {
    /// Adds samples of a function, of a line of a file where that is known. A table's number of samples bounds the sums.
    pub(crate) fn add(&mut self, function: Key, line: Option<(String, u32)>, samples: u64) {
        let sums = self.0.entry(function).or_default();
        sums.samples = sums.samples.saturating_add(samples);
        if let Some((file, line)) = line {
            let sum = sums.lines.entry((file, line, None)).or_default();
            *sum = sum.saturating_add(samples);
        }
    }

    /// Adds the lines of a table.
    pub(crate) fn merge(&mut self, functions: &[FunctionLines]) {
        for of_function in functions {
            let FunctionLines { function, file, object, samples, lines } = of_function.clone();
            let sums = self.0.entry((function, file, object)).or_default();
            sums.samples = sums.samples.saturating_add(samples);
            for LineSamples { file, line, samples, text } in lines {
                let sum = sums.lines.entry((file, line, text)).or_default();
                *sum = sum.saturating_add(samples);
            }
        }
    }

    /// The functions with the most samples that have lines, in the order of their names; what is too much is left out,
    /// the lines with the fewest samples first.
    pub(crate) fn finish(self) -> Vec<FunctionLines> {
        let mut functions: Vec<(Key, OfFunction)> =
            self.0.into_iter().filter(|(_, sums)| !sums.lines.is_empty()).collect();
        functions.sort_by_key(|(_, sums)| Reverse(sums.samples));
        functions.truncate(MOST_FUNCTIONS);
        let mut left = MOST_LINES;
        let mut kept = Vec::new();
        for ((function, file, object), sums) in functions {
            let line = |((file, line, text), samples)| LineSamples { file, line, samples, text };
            let mut lines: Vec<LineSamples> = sums.lines.into_iter().map(line).collect();
            lines.sort_by_key(|line| Reverse(line.samples));
            lines.truncate(left);
            lines.sort_unstable();
            left -= lines.len();
            if !lines.is_empty() {
                kept.push(FunctionLines { function, file, object, samples: sums.samples, lines });
            }
        }
        kept.sort_by(|one, other| {
            (&one.function, &one.file, &one.object).cmp(&(&other.function, &other.file, &other.object))
        });
        kept
    }
}

impl Stacks {
    /// The file and the number of each line that has samples.
    #[must_use]
    pub fn source_lines(&self) -> BTreeSet<(&str, u32)> {
        let lines = self.lines.iter().flatten().flat_map(|function| &function.lines);
        lines.map(|line| (&*line.file, line.line)).collect()
    }

    /// Adds the texts of lines by file and number, cut at [`LONGEST_TEXT`] characters.
    pub fn add_texts(&mut self, texts: &HashMap<(String, u32), String>) {
        for line in self.lines.iter_mut().flatten().flat_map(|function| &mut function.lines) {
            if let Some(text) = texts.get(&(line.file.clone(), line.line)) {
                line.text = Some(text.chars().take(LONGEST_TEXT).collect());
            }
        }
    }
}

/// Checks the lines of a table with so many samples.
pub(super) fn check(functions: &[FunctionLines], samples: u64) -> Result<(), TableError> {
    let lines = || functions.iter().flat_map(|function| &function.lines);
    if functions.len() > MOST_FUNCTIONS || lines().count() > MOST_LINES {
        return Err(TableError::Lines("more than a table may have"));
    }
    let is_too_long = |line: &LineSamples| line.text.as_ref().is_some_and(|text| text.chars().count() > LONGEST_TEXT);
    if lines().any(is_too_long) {
        return Err(TableError::Lines("with a text that is too long"));
    }
    let sum = |all: u64, samples: u64| all.checked_add(samples);
    let fits = |function: &FunctionLines| {
        let of_lines = function.lines.iter().map(|line| line.samples).try_fold(0, sum);
        of_lines.is_some_and(|of_lines| of_lines <= function.samples)
    };
    let of_functions = functions.iter().map(|function| function.samples).try_fold(0, sum);
    if functions.iter().all(fits) && of_functions.is_some_and(|of_functions| of_functions <= samples) {
        Ok(())
    } else {
        Err(TableError::Lines("with more samples than there are"))
    }
}
