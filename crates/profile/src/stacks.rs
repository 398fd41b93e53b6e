//! The stack table: which stacks a server's threads were seen in, and how often.

mod annotation;
mod export;
mod lines;
mod profile;
mod views;

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::io;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use annotation::{AnnotatedLine, AnnotatedSide, Annotation, MOST_SHOWN, annotation};
pub use export::{ExportError, Exported, ExportedSide, Format, export};
pub(crate) use lines::LineSums;
pub use lines::{FunctionLines, LONGEST_TEXT, LineSamples, MOST_FUNCTIONS, MOST_LINES};
pub use profile::{Calls, FunctionCosts, FunctionsByCase, PRUNED, Part, Profile, Side, functions_by_case, profile};
pub use views::{FunctionSamples, Nodes, Tree, by_function, fold, tree};

/// The `schema` of stack tables of this version.
pub const SCHEMA: &str = "zerolap.stacks/1";

/// The event of tables whose samples are nanoseconds off the processor.
pub const OFF_PROCESSOR: &str = "off-cpu";

/// Samples by thread and stack. Threads are in the order of their names, frames in that of function, file, object and
/// whether inlined, stacks in that of thread and frames: equal samples make equal tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stacks {
    /// [`SCHEMA`].
    pub schema: String,
    /// What a sample was taken after, such as `cycles` or `cpu-clock`, or [`OFF_PROCESSOR`]; empty in the merger of no
    /// table.
    pub event: String,
    /// Number of samples: the sum over all stacks.
    pub samples: u64,
    /// Number of samples that were taken and then lost before they could be written.
    pub lost: u64,
    /// Threads by name, referred to by their index; threads of the same name are one.
    pub threads: Vec<Thread>,
    /// Frames, referred to by their index.
    pub frames: Vec<Frame>,
    /// The distinct stacks.
    pub stacks: Vec<Stack>,
    /// Samples by line of the functions with the most of their own, at most [`MOST_FUNCTIONS`] with [`MOST_LINES`]; none in
    /// tables of versions that did not record lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<Vec<FunctionLines>>,
}

/// All threads of one name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Thread {
    /// The name that the kernel has; with ` (child)` behind it in a process that the server forked.
    pub name: String,
}

/// A function on a stack.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// Symbol in its normal form ([`crate::symbol::normal_form`]); a name in brackets where it is unknown.
    pub function: String,
    /// File in the form of the call graphs; none without line information.
    pub file: Option<String>,
    /// Base name of the program or shared library, or a name in brackets such as `[kernel]`.
    pub object: String,
    /// Whether the compiler put the function's code into that of the frame before.
    pub inlined: bool,
}

/// One stack of one thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    /// Index of the thread.
    pub thread: usize,
    /// Indexes of the frames, from the root to the leaf.
    pub frames: Vec<usize>,
    /// Number of samples.
    pub samples: u64,
}

/// Why bytes are not a stack table, or tables cannot be merged.
#[derive(Debug, Error)]
pub enum TableError {
    /// Not JSON, or not of this shape.
    #[error("not a stack table: {0}")]
    Json(#[from] serde_json::Error),
    /// Written by another version.
    #[error("stack table of schema {found:?}, expected {SCHEMA:?}")]
    Schema {
        /// The schema that it names.
        found: String,
    },
    /// An index points past the end of its table.
    #[error("stack table refers to {table} {index}, of {length}")]
    Index {
        /// `thread` or `frame`.
        table: &'static str,
        /// The index.
        index: usize,
        /// Entries in the table.
        length: usize,
    },
    /// A sample must be in some function.
    #[error("stack table has a stack without frames")]
    NoFrames,
    /// The stacks' samples do not add up to the number of samples.
    #[error("stack table states {stated} samples, but its stacks have another number")]
    Samples {
        /// What it states.
        stated: u64,
    },
    /// Lines are bounded, and have samples of the table.
    #[error("stack table has lines {0}")]
    Lines(&'static str),
    /// Samples of different events have no common unit.
    #[error("stack tables of different events: {first:?} and {other:?}")]
    Events {
        /// The event of the first table.
        first: String,
        /// That of another.
        other: String,
    },
    /// More samples than can be counted.
    #[error("stack tables have too many samples to be counted together")]
    Overflow,
}

impl Stacks {
    /// The table written by [`Stacks::to_json`].
    ///
    /// # Errors
    /// When the bytes are no JSON of this shape and schema, an index points nowhere, a stack is empty, the samples do not add
    /// up, or there are too many lines.
    pub fn from_json(bytes: &[u8]) -> Result<Self, TableError> {
        let stacks: Self = serde_json::from_slice(bytes)?;
        stacks.check()?;
        Ok(stacks)
    }

    /// The table as JSON, UTF-8.
    ///
    /// # Errors
    /// When memory for it cannot be had; the types themselves can all be written.
    pub fn to_json(&self) -> io::Result<Vec<u8>> {
        Ok(serde_json::to_vec(self)?)
    }

    pub(crate) fn check(&self) -> Result<(), TableError> {
        if self.schema != SCHEMA {
            return Err(TableError::Schema { found: self.schema.clone() });
        }
        let within = |table, index: usize, length| {
            if index < length { Ok(()) } else { Err(TableError::Index { table, index, length }) }
        };
        let mut sum = Some(0_u64);
        for stack in &self.stacks {
            within("thread", stack.thread, self.threads.len())?;
            if stack.frames.is_empty() {
                return Err(TableError::NoFrames);
            }
            stack.frames.iter().try_for_each(|frame| within("frame", *frame, self.frames.len()))?;
            sum = sum.and_then(|sum| sum.checked_add(stack.samples));
        }
        if sum != Some(self.samples) {
            return Err(TableError::Samples { stated: self.samples });
        }
        self.lines.as_ref().map_or(Ok(()), |functions| lines::check(functions, self.samples))
    }
}

/// One table with the samples of all: of several trials, or of several threads' files. Threads are matched by name,
/// frames by all that is known of them. The merger of no table is an empty table.
///
/// # Errors
/// When a table is inconsistent, the events differ, or the samples are too many to be counted.
pub fn merge(tables: &[Stacks]) -> Result<Stacks, TableError> {
    let mut builder = Builder::default();
    let mut lost = 0_u64;
    let event = tables.first().map(|table| table.event.clone()).unwrap_or_default();
    for table in tables {
        table.check()?;
        if table.event != event {
            return Err(TableError::Events { first: event, other: table.event.clone() });
        }
        lost = lost.checked_add(table.lost).ok_or(TableError::Overflow)?;
        let threads: Vec<usize> = table.threads.iter().map(|thread| builder.thread(thread)).collect();
        let frames: Vec<usize> = table.frames.iter().map(|frame| builder.frame(frame)).collect();
        if let Some(functions) = &table.lines {
            builder.lines().merge(functions);
        }
        for stack in &table.stacks {
            let of_stack = stack.frames.iter().map(|frame| frames[*frame]).collect();
            if !builder.add(threads[stack.thread], of_stack, stack.samples) {
                return Err(TableError::Overflow);
            }
        }
    }
    builder.finish(event, lost).ok_or(TableError::Overflow)
}

/// Samples on the way to a table; takes them in any order.
#[derive(Default)]
pub(crate) struct Builder {
    threads: Interner<Thread>,
    frames: Interner<Frame>,
    samples: HashMap<(usize, Vec<usize>), u64>,
    lines: Option<LineSums>,
}

impl Builder {
    /// The samples by line, which the table has from now on.
    pub(crate) fn lines(&mut self) -> &mut LineSums {
        self.lines.get_or_insert_default()
    }

    pub(crate) fn thread(&mut self, thread: &Thread) -> usize {
        self.threads.index(thread)
    }

    pub(crate) fn frame(&mut self, frame: &Frame) -> usize {
        self.frames.index(frame)
    }

    /// Adds samples of a stack, from the root to the leaf; false when they are too many to be counted.
    #[must_use]
    pub(crate) fn add(&mut self, thread: usize, frames: Vec<usize>, samples: u64) -> bool {
        let sum = self.samples.entry((thread, frames)).or_default();
        sum.checked_add(samples).map(|total| *sum = total).is_some()
    }

    /// None when the samples of all stacks are too many to be counted.
    pub(crate) fn finish(self, event: String, lost: u64) -> Option<Stacks> {
        let (threads, new_thread) = self.threads.sorted();
        let (frames, new_frame) = self.frames.sorted();
        let samples: BTreeMap<(usize, Vec<usize>), u64> = (self.samples.into_iter())
            .map(|((thread, frames), samples)| {
                ((new_thread[thread], frames.into_iter().map(|frame| new_frame[frame]).collect()), samples)
            })
            .collect();
        let total = samples.values().try_fold(0_u64, |sum, samples| sum.checked_add(*samples))?;
        let stacks = samples.into_iter().map(|((thread, frames), samples)| Stack { thread, frames, samples }).collect();
        let lines = self.lines.map(LineSums::finish);
        Some(Stacks { schema: SCHEMA.to_owned(), event, samples: total, lost, threads, frames, stacks, lines })
    }
}

struct Interner<T>(HashMap<T, usize>);

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T: Clone + Eq + Hash + Ord> Interner<T> {
    fn index(&mut self, entry: &T) -> usize {
        if let Some(known) = self.0.get(entry) {
            return *known;
        }
        let index = self.0.len();
        self.0.insert(entry.clone(), index);
        index
    }

    /// The entries in order, and the new index of each old one.
    fn sorted(self) -> (Vec<T>, Vec<usize>) {
        let mut entries: Vec<(T, usize)> = self.0.into_iter().collect();
        entries.sort_unstable();
        let mut new_index = vec![0; entries.len()];
        for (new, (_, old)) in entries.iter().enumerate() {
            new_index[*old] = new;
        }
        (entries.into_iter().map(|(entry, _)| entry).collect(), new_index)
    }
}
