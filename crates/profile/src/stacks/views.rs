//! What is shown of a table: samples by function, the text form of flame graph programs, one call tree.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::io;

use serde::Serialize;

use super::{Frame, Stacks, TableError};

/// What one function takes in one thread, wherever it lies: what is inlined, or in another object, counts too.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FunctionSamples {
    /// Index of the thread in the table.
    pub thread: usize,
    /// As in [`Frame::function`].
    pub function: String,
    /// As in [`Frame::file`]; of what has no name, such as `[unknown]`, the object, so that those of two are apart.
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
    let object = || frame.function.starts_with('[').then_some(frame.object.as_str());
    (&frame.function, frame.file.as_deref().or_else(object))
}

/// A line for each stack: the thread and the functions from the root to the leaf with `;` between them, then a space
/// and the number of samples. Lines are sorted; stacks that differ in what a line does not show are one.
///
/// # Errors
/// When the table is inconsistent: of another schema, with an index that points nowhere, or samples that do not add up.
pub fn fold(stacks: &Stacks) -> Result<String, TableError> {
    stacks.check()?;
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for stack in &stacks.stacks {
        let mut line = part(&stacks.threads[stack.thread].name);
        for frame in &stack.frames {
            line.push(';');
            line.push_str(&part(&stacks.frames[*frame].function));
        }
        // The sum of all stacks was found to fit.
        *lines.entry(line).or_default() += stack.samples;
    }
    Ok(lines.into_iter().fold(String::new(), |mut text, (line, samples)| {
        // Writing to a String does not fail.
        let _ = writeln!(text, "{line} {samples}");
        text
    }))
}

/// The name without the characters that end a part or a line.
pub(super) fn part(name: &str) -> String {
    plain(name).replace(';', "_")
}

/// The name without what ends a line, steers a terminal or changes the direction of writing, and without what XML
/// forbids: a program under test names its threads and functions itself.
pub(super) fn plain(name: &str) -> String {
    let is_hidden = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
            || matches!(letter, '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
    };
    name.chars().map(|letter| if is_hidden(letter) { '_' } else { letter }).collect()
}

/// The table's samples by calls: stacks that begin alike share the nodes of that beginning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tree<'a> {
    /// As in [`Stacks::event`].
    pub event: &'a str,
    /// As in [`Stacks::samples`].
    pub samples: u64,
    /// As in [`Stacks::lost`].
    pub lost: u64,
    /// Names of the threads, referred to by their index.
    pub threads: Vec<&'a str>,
    /// As in [`Stacks::frames`].
    pub frames: &'a [Frame],
    /// The calls.
    pub nodes: Nodes,
}

/// Nodes by column, all of one length; a node's parent comes before it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Nodes {
    /// Index of the thread.
    pub thread: Vec<usize>,
    /// Index of the node of the caller; -1 at roots.
    pub parent: Vec<i64>,
    /// Index of the frame.
    pub frame: Vec<usize>,
    /// Number of samples in the node itself, without those in the nodes below.
    pub samples: Vec<u64>,
}

const ROOT: i64 = -1;

impl Tree<'_> {
    /// The tree as JSON, UTF-8.
    ///
    /// # Errors
    /// When memory for it cannot be had; the types themselves can all be written.
    pub fn to_json(&self) -> io::Result<Vec<u8>> {
        Ok(serde_json::to_vec(self)?)
    }
}

/// The tree of a table. Nodes are in the order of the stacks.
///
/// # Errors
/// When the table is inconsistent: of another schema, with an index that points nowhere, a stack that is empty, or
/// samples that do not add up.
pub fn tree(stacks: &Stacks) -> Result<Tree<'_>, TableError> {
    stacks.check()?;
    let mut nodes = Nodes::default();
    let mut known: HashMap<(usize, i64, usize), usize> = HashMap::new();
    for stack in &stacks.stacks {
        let mut parent = ROOT;
        for frame in &stack.frames {
            let node = *known.entry((stack.thread, parent, *frame)).or_insert_with(|| {
                nodes.thread.push(stack.thread);
                nodes.parent.push(parent);
                nodes.frame.push(*frame);
                nodes.samples.push(0);
                nodes.samples.len() - 1
            });
            // A table in memory has fewer frames than an i64 counts.
            parent = node.cast_signed() as i64;
        }
        // The sum of all stacks was found to fit, and no stack is empty.
        if let Some(samples) = usize::try_from(parent).ok().and_then(|leaf| nodes.samples.get_mut(leaf)) {
            *samples += stack.samples;
        }
    }
    let Stacks { event, samples, lost, threads, frames, .. } = stacks;
    let threads = threads.iter().map(|thread| &*thread.name).collect();
    Ok(Tree { event, samples: *samples, lost: *lost, threads, frames, nodes })
}
