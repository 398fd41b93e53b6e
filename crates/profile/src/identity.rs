//! The instructions that a server executed, without addresses: whether two programs executed the same.
//!
//! [`executed`] reads a trial's dumps (with addresses of instructions) and the program, and writes what was executed as
//! a graph: functions and data are its nodes, an instruction refers to them by number. Where a linker put them is gone,
//! and so are their names, but for evidence. Two such graphs can be compared anywhere, without the programs: by
//! [`compare`].
//!
//! What is kept of an operand that is an address:
//!
//! * of a jump within a function the position of its target among the executed instructions, or that it is not executed;
//! * of a call or jump elsewhere, and of a function's address, the function; of a library's function the name;
//! * of a variable or table the node that has its initial content; pointers in it are references likewise;
//! * of constant data without a symbol its content: what is read of a literal, a string to its end, a table to where the
//!   next thing begins that the program refers to; of the table of a `switch` the positions that it leads to.
//!
//! A version, commit or build id that is read only before the windows, as it is logged at the start, is left out.
//!
//! Beside what was executed there are nodes for what it may depend on without being executed here: where variables lie
//! relative to each other (cache lines), how the linker aligned the program, and the bodies of functions for wider vectors
//! than valgrind has.
//!
//! Instructions that do nothing are left out: assemblers write them to align what follows, as the placement asks for.
//! Only position-independent programs of x86-64 are read so: there an address is never written as a plain number. Other
//! programs are identical only if all bytes that are loaded are equal.

mod code;
mod comparison;
mod data;
mod digest;
mod image;

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::callgrind::Dump;
use crate::elf::{self, BinaryError};
use crate::functions;
use crate::pin_library::PIN_LIBRARY;
use crate::source_root::SourceRoot;

pub(crate) use image::digest as image_digest;

pub use code::{FunctionCode, FunctionName};
pub use comparison::{Difference, Identity, compare};
pub use digest::canonical_digest;

/// Version of the JSON form.
pub const SCHEMA: &str = "zerolap.executed/2";

/// Kinds of windows: requests in pipelines, requests that come alone, requests between which timers fire.
const KINDS: usize = 3;
/// Of [`Times`], the pipelined windows that the metrics of a request come from.
pub const PIPELINED: usize = 0;
/// Of [`Times`], the windows of requests that come alone.
pub const ALONE: usize = 1;
/// Of [`Times`], the window of timers.
pub const TIMERS: usize = 2;

/// A number for each kind of window.
pub type Times = [u64; KINDS];

/// What a server executed: before the windows that are counted (its start, the first of the loading, its timers), and
/// in them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Executed {
    /// [`SCHEMA`].
    pub schema: String,
    /// Requests that were answered in the windows.
    pub requests: Times,
    /// Digest of all that is loaded of the program, but for notes such as its build id.
    pub image: String,
    /// Instructions executed in the windows that are the program's own.
    pub instructions: Times,
    /// Why the program's instructions are not listed; none where they are.
    pub unknown: Option<String>,
    /// The other objects that code was executed of.
    pub libraries: Vec<Library>,
    /// Instructions and contents of data without addresses; [`Line`] refers to them.
    pub texts: Vec<String>,
    /// Functions, then data.
    pub nodes: Vec<Node>,
}

/// A library, or the loader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Library {
    /// Base name of its file.
    pub name: String,
    /// SHA-256 of its file; empty where it cannot be read. Of code that callgrind knows no file of (`???`: parts of
    /// libraries that lie outside of their `.text`) how many instructions there were.
    pub digest: String,
    /// Instructions executed in the windows.
    pub instructions: Times,
}

/// A function of which something was executed, or data that was referred to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// The symbol's normal form; empty where there is none.
    pub name: String,
    /// Whether it is a function.
    pub code: bool,
    /// A function's executed instructions in the order of addresses; of data one line, which stands for its content.
    pub lines: Vec<Line>,
}

/// An instruction, or the content of data: index into [`Executed::texts`], how often it was executed in the windows (0 in
/// all: only before them), and the nodes that it refers to, one for each `@` in the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line(pub u32, pub Times, pub Vec<u32>);

/// Why a kept form of executed instructions could not be read.
#[derive(Debug, Error)]
pub enum ExecutedError {
    /// Not JSON of this form.
    #[error("not executed instructions as zerolap writes them: {0}")]
    Json(#[from] serde_json::Error),
    /// Another version, or one that contradicts itself.
    #[error("not executed instructions as zerolap writes them: {0}")]
    Inconsistent(&'static str),
}

impl Executed {
    /// The JSON form.
    ///
    /// # Errors
    /// None is known.
    pub fn to_json(&self) -> Result<Vec<u8>, ExecutedError> {
        Ok(serde_json::to_vec(self)?)
    }

    /// Reads the JSON form.
    ///
    /// # Errors
    /// When it is of another form or version, or refers to what is not there.
    pub fn from_json(bytes: &[u8]) -> Result<Self, ExecutedError> {
        let read: Self = serde_json::from_slice(bytes)?;
        if read.schema != SCHEMA {
            return Err(ExecutedError::Inconsistent("another schema"));
        }
        let known = |line: &Line| {
            (line.0 as usize) < read.texts.len() && line.2.iter().all(|target| (*target as usize) < read.nodes.len())
        };
        if !read.nodes.iter().flat_map(|node| &node.lines).all(known) {
            return Err(ExecutedError::Inconsistent("a reference to what is not there"));
        }
        Ok(read)
    }

    /// The functions of which an instruction was executed in a window.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        let executed = |node: &&Node| node.code && node.lines.iter().any(|line| line.1 != Times::default());
        self.nodes.iter().filter(executed).map(|node| node.name.as_str())
    }

    /// How often a request of the pipelined windows executes instructions whose text begins with one of `beginnings`: by
    /// function and index of the beginning, none of them 0. Functions of one name count as one.
    #[must_use]
    pub fn beginning_with(&self, beginnings: &[&str]) -> BTreeMap<(&str, usize), f64> {
        let of_text: Vec<Option<usize>> = (self.texts.iter())
            .map(|text| beginnings.iter().position(|beginning| text.starts_with(beginning)))
            .collect();
        let requests = self.requests[PIPELINED].max(1) as f64;
        let mut counts = BTreeMap::new();
        for node in self.nodes.iter().filter(|node| node.code) {
            for Line(text, times, _) in &node.lines {
                let beginning = of_text.get(*text as usize).copied().flatten();
                if let Some(beginning) = beginning.filter(|_| times[PIPELINED] > 0) {
                    *counts.entry((node.name.as_str(), beginning)).or_default() += times[PIPELINED] as f64 / requests;
                }
            }
        }
        counts
    }
}

/// The dumps of a trial, and whose they are.
#[derive(Debug, Clone, Copy)]
pub struct Trial<'a> {
    /// Of what was executed before the windows; it need not be all.
    pub before: &'a Dump,
    /// Of the windows that were counted, by kind.
    pub windows: [&'a [&'a Dump]; KINDS],
    /// Requests that were answered in the windows.
    pub requests: Times,
    /// The program as the dumps name it.
    pub object: &'a str,
}

/// What callgrind writes for an object that it does not know.
const UNKNOWN: &str = "???";

/// How often an instruction was executed in the windows, by its address in the file; 0: only before them.
type Counts = BTreeMap<u64, Times>;

/// What the program executed in a trial.
///
/// # Errors
/// When the program cannot be read, is no ELF file, or a broken one.
pub fn executed(trial: &Trial<'_>, program: &Path) -> Result<Executed, BinaryError> {
    let mut objects: BTreeMap<&str, Counts> = BTreeMap::new();
    let mut has_addresses = true;
    let windows =
        (trial.windows.iter().enumerate()).flat_map(|(kind, dumps)| dumps.iter().map(move |dump| (*dump, Some(kind))));
    for (dump, kind) in std::iter::once((trial.before, None)).chain(windows) {
        for own in dump.own.iter().filter(|own| own.cost.instructions > 0) {
            let object = dump.name(dump.functions[own.function as usize].object);
            has_addresses = has_addresses && own.address != 0;
            let counts = objects.entry(object).or_default();
            let times = counts.entry(own.address).or_default();
            if let Some(kind) = kind {
                times[kind] = times[kind].saturating_add(own.cost.instructions);
            }
        }
    }
    let mut own = objects.remove(trial.object).unwrap_or_default();
    let mut unplaced = objects.remove(UNKNOWN).unwrap_or_default();
    let bytes = elf::read(program)?;
    let file = object::File::parse(&*bytes)?;
    let image = image::Image::of(&file)?;
    if let Ok(image) = &image {
        place(image, &mut own, &mut unplaced);
    }
    let mut executed = Executed {
        schema: SCHEMA.to_owned(),
        requests: trial.requests,
        image: image::digest(&file)?,
        instructions: sum(&own),
        libraries: libraries(&objects),
        ..Executed::default()
    };
    if !unplaced.is_empty() {
        let digest = format!("{} instructions", unplaced.len());
        executed.libraries.push(Library { name: UNKNOWN.to_owned(), digest, instructions: sum(&unplaced) });
    }
    let listed = match () {
        () if own.is_empty() => Err("the program is not among the objects that were counted".to_owned()),
        () if !has_addresses => Err("the instructions were counted without their addresses".to_owned()),
        () => image.and_then(|image| code::list(&image, &own)),
    };
    match listed {
        Ok((texts, nodes)) => (executed.texts, executed.nodes) = (texts, nodes),
        Err(reason) => executed.unknown = Some(reason),
    }
    Ok(executed)
}

/// The code of a program's functions, by the normal form of their symbols and their files, without addresses. Functions of
/// equal code do the same, but for what the functions do that they call. The inner error is why there is none.
///
/// # Errors
/// When the program cannot be read, is no ELF file, or a broken one.
pub fn function_code(
    program: &Path,
    source_root: &str,
) -> Result<Result<BTreeMap<FunctionName, FunctionCode>, String>, BinaryError> {
    let bytes = elf::read(program)?;
    let file = object::File::parse(&*bytes)?;
    let places = functions::CodePlaces::of_object(&file, &SourceRoot::new(source_root))?;
    Ok(image::Image::of(&file)?.and_then(|image| code::of_functions(&image, &places)))
}

/// Moves to the program what callgrind did not take for a part of it.
fn place(image: &image::Image<'_>, own: &mut Counts, unplaced: &mut Counts) {
    unplaced.retain(|in_memory, times| match image.address_in_file(*in_memory) {
        Some(address) => {
            let known = own.entry(address).or_default();
            *known = sum_of(known, times);
            false
        }
        None => true,
    });
}

fn sum(counts: &Counts) -> Times {
    counts.values().fold(Times::default(), |sum, times| sum_of(&sum, times))
}

fn sum_of(one: &Times, other: &Times) -> Times {
    std::array::from_fn(|kind| one[kind].saturating_add(other[kind]))
}

fn libraries(objects: &BTreeMap<&str, Counts>) -> Vec<Library> {
    let base_name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let mut libraries: Vec<Library> = (objects.iter())
        .map(|(path, counts)| Library {
            name: base_name(path),
            digest: elf::read(Path::new(path))
                .map(|bytes| elf::hexadecimal(&Sha256::digest(bytes)))
                .unwrap_or_default(),
            instructions: sum(counts),
        })
        .filter(|library| !library.name.starts_with(PIN_LIBRARY))
        .collect();
    libraries.sort_by(|one, other| one.name.cmp(&other.name));
    libraries
}
