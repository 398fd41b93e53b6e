//! Samples by function.

use std::collections::{BTreeMap, BTreeSet};

use super::{Frame, Stacks, TableError};

/// What one function takes in one thread, wherever it lies: what is inlined, or in another object, counts too.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FunctionSamples {
    /// Index of the thread in the table.
    pub thread: usize,
    /// As in [`Frame::function`].
    pub function: String,
    /// As in [`Frame::file`].
    pub file: Option<String>,
    /// Number of samples in the function itself, without its callees.
    pub own: u64,
    /// Number of samples in the function or anything that it calls; a stack that has it twice counts once.
    pub inclusive: u64,
}

/// The samples of all functions, in the order of thread, function and file.
///
/// # Errors
/// When the table is inconsistent: of another schema, with an index that points nowhere, or samples that do not add up.
pub fn by_function(stacks: &Stacks) -> Result<Vec<FunctionSamples>, TableError> {
    stacks.check()?;
    let mut sums: BTreeMap<(usize, Key<'_>), (u64, u64)> = BTreeMap::new();
    for stack in &stacks.stacks {
        let on_stack: BTreeSet<Key<'_>> = stack.frames.iter().map(|frame| key(&stacks.frames[*frame])).collect();
        // Neither sum exceeds the table's number of samples.
        for function in on_stack {
            sums.entry((stack.thread, function)).or_default().1 += stack.samples;
        }
        if let Some(leaf) = stack.frames.last() {
            sums.entry((stack.thread, key(&stacks.frames[*leaf]))).or_default().0 += stack.samples;
        }
    }
    let samples = sums.into_iter().map(|((thread, (function, file)), (own, inclusive))| {
        let (function, file) = (function.to_owned(), file.map(str::to_owned));
        FunctionSamples { thread, function, file, own, inclusive }
    });
    Ok(samples.collect())
}

type Key<'a> = (&'a str, Option<&'a str>);

fn key(frame: &Frame) -> Key<'_> {
    (&frame.function, frame.file.as_deref())
}
