//! The stacks as one call tree.

use std::collections::HashMap;
use std::io;

use serde::Serialize;

use super::{Frame, Stacks, TableError};

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
