//! Places in code as functions.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use gimli::SectionId;
use object::Object;

use super::debug_info::{self, DebugInfo};
use super::error::StacksError;
use super::images::{Image, ImageId, Images};
use super::original::{Moves, Original};
use super::samples::{Code, Collected};
use super::symbols::{KernelSymbols, Symbols};
use crate::elf::{self, BinaryError};
use crate::functions;
use crate::source_root::SourceRoot;
use crate::stacks::{Builder, Frame, Stacks, Thread};

const KERNEL: &str = "[kernel]";
const UNKNOWN: &str = "[unknown]";

/// The table of all samples, under the names of functions.
pub(super) fn table(
    collected: Collected,
    source_root: &str,
    original: Option<&Original>,
) -> Result<Stacks, StacksError> {
    let Collected { event, threads, samples, lost, mut images, kernel_start } = collected;
    let mut builder = Builder::default();
    let distinct: BTreeSet<Code> = samples.keys().flat_map(|(_, stack)| stack.iter().copied()).collect();
    let source = Source { root: SourceRoot::new(source_root), original };
    let places = places(&distinct, &mut images, kernel_start, &source, &mut builder);
    let threads: Vec<usize> = threads.into_iter().map(|name| builder.thread(&Thread { name })).collect();
    let too_many = || StacksError::TooMany { what: "samples", limit: usize::MAX };
    builder.lines();
    for ((thread, stack), samples) in samples {
        if let Some(Place { own, line, .. }) = stack.first().and_then(|leaf| places.get(leaf)) {
            let line = line.as_ref().map(|line| (line.file.clone(), line.number));
            builder.lines().add(own.clone(), line, samples);
        }
        let mut of_stack: Vec<usize> = Vec::new();
        for frame in stack.iter().rev().filter_map(|code| places.get(code)).flat_map(|place| &place.frames) {
            // Two places in a row without a name are one: nothing distinguishes them.
            if !(frame.is_nameless && of_stack.last() == Some(&frame.index)) {
                of_stack.push(frame.index);
            }
        }
        if !builder.add(threads[thread], of_stack, samples) {
            return Err(too_many());
        }
    }
    builder.finish(event, lost).ok_or_else(too_many)
}

/// What the code was made of.
struct Source<'a> {
    root: SourceRoot,
    original: Option<&'a Original>,
}

/// A frame of the table.
#[derive(Clone, Copy)]
struct Named {
    index: usize,
    is_nameless: bool,
}

/// What is known of a place.
struct Place {
    /// From the function that has the code to the innermost of those inlined there.
    frames: Vec<Named>,
    /// Function, file and object of the innermost.
    own: (String, Option<String>, String),
    /// The line of the innermost.
    line: Option<Line>,
}

/// What is known of each place.
fn places(
    distinct: &BTreeSet<Code>,
    images: &mut Images,
    kernel_start: Option<u64>,
    source: &Source<'_>,
    builder: &mut Builder,
) -> HashMap<Code, Place> {
    let mut place = |functions: Vec<Function>, object: &str| {
        let unknown = if object == KERNEL { KERNEL } else { UNKNOWN };
        let is_nameless = functions.is_empty();
        let functions = if is_nameless { vec![Function::without_file(unknown)] } else { functions };
        let (mut frames, mut own, mut line) = (Vec::new(), Default::default(), None);
        for function in functions {
            own = (function.name.clone(), function.file.clone(), object.to_owned());
            line = function.line;
            let Function { name, file, inlined, .. } = function;
            let index = builder.frame(&Frame { function: name, file, object: object.to_owned(), inlined });
            frames.push(Named { index, is_nameless });
        }
        Place { frames, own, line }
    };
    let mut kernel: Option<KernelSymbols> = None;
    let mut by_image: BTreeMap<ImageId, Vec<u64>> = BTreeMap::new();
    let mut places = HashMap::new();
    for code in distinct {
        match *code {
            Code::Kernel(address) => {
                let symbols =
                    kernel.get_or_insert_with(|| kernel_start.map(KernelSymbols::running).unwrap_or_default());
                let function = symbols.name(address).map(Function::without_file);
                places.insert(*code, place(function.into_iter().collect(), KERNEL));
            }
            Code::Image(image, Some(address)) => by_image.entry(image).or_default().push(address),
            Code::Image(image, None) => drop(places.insert(*code, place(Vec::new(), images.name(image)))),
            Code::Unknown => drop(places.insert(*code, place(Vec::new(), UNKNOWN))),
        }
    }
    for (image, addresses) in by_image {
        let object = images.name(image).to_owned();
        let mut functions = images.get(image).map(|image| functions_at(image, &addresses, source)).unwrap_or_default();
        for address in addresses {
            let of_place = functions.remove(&address).unwrap_or_default();
            places.insert(Code::Image(image, Some(address)), place(of_place, &object));
        }
    }
    places
}

/// A function at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Function {
    /// In the normal form.
    pub(super) name: String,
    /// In the form of the call graphs.
    pub(super) file: Option<String>,
    pub(super) inlined: bool,
    /// The place's line in it: of the innermost function that of the instruction, of others that of the call.
    pub(super) line: Option<Line>,
}

/// A line of source code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// In the form of the call graphs.
    pub(super) file: String,
    pub(super) number: u32,
}

impl Function {
    pub(super) fn without_file(name: &str) -> Self {
        Self { name: name.to_owned(), file: None, inlined: false, line: None }
    }
}

/// The functions at each address, from the one that has the code to the innermost inlined one; none where nothing is
/// known.
fn functions_at(image: &Image, addresses: &[u64], source: &Source<'_>) -> HashMap<u64, Vec<Function>> {
    let Ok(own) = object::File::parse(&*image.bytes) else { return HashMap::new() };
    if has_debug_info(&own) {
        return in_file(&own, addresses, &source.root);
    }
    if let Some(original) = source.original.and_then(Original::file)
        && let Some(moves) = Moves::between(&own, &original)
    {
        return in_original(&own, &original, &moves, addresses, &source.root);
    }
    let separate = debug_info::read_separate(&own);
    let separate = separate.as_deref().and_then(|bytes| object::File::parse(bytes).ok());
    in_file(separate.as_ref().unwrap_or(&own), addresses, &source.root)
}

fn in_file(file: &object::File<'_>, addresses: &[u64], root: &SourceRoot) -> HashMap<u64, Vec<Function>> {
    let symbols = Symbols::of(file);
    // Broken debug information is as good as none: the symbols remain.
    by_debug_info(file, addresses, root, &symbols).unwrap_or_else(|_| by_symbols(addresses, &symbols))
}

/// What lies in no function that was moved has a name of the program itself.
fn in_original(
    own: &object::File<'_>,
    original: &object::File<'_>,
    moves: &Moves,
    addresses: &[u64],
    root: &SourceRoot,
) -> HashMap<u64, Vec<Function>> {
    let mut functions = by_symbols(addresses, &Symbols::of(own));
    let places: Vec<u64> = addresses.iter().filter_map(|address| moves.place(*address)).collect();
    let at_places = in_file(original, &places, root);
    for address in addresses {
        if let Some(of_place) = moves.place(*address).and_then(|place| at_places.get(&place)) {
            functions.insert(*address, of_place.clone());
        }
    }
    functions
}

fn has_debug_info(file: &object::File<'_>) -> bool {
    file.section_by_name(SectionId::DebugInfo.name()).is_some()
}

fn by_symbols(addresses: &[u64], symbols: &Symbols) -> HashMap<u64, Vec<Function>> {
    let found = |address: &u64| Some((*address, vec![Function::without_file(symbols.name(*address)?)]));
    addresses.iter().filter_map(found).collect()
}

fn by_debug_info(
    file: &object::File<'_>,
    addresses: &[u64],
    root: &SourceRoot,
    symbols: &Symbols,
) -> Result<HashMap<u64, Vec<Function>>, BinaryError> {
    const WANTED: [SectionId; 11] = [
        SectionId::DebugAbbrev,
        SectionId::DebugAddr,
        SectionId::DebugAranges,
        SectionId::DebugInfo,
        SectionId::DebugLine,
        SectionId::DebugLineStr,
        SectionId::DebugRanges,
        SectionId::DebugRngLists,
        SectionId::DebugStr,
        SectionId::DebugStrOffsets,
        SectionId::DebugTypes,
    ];
    let sections = elf::sections(file, &WANTED)?;
    let Some(info) = DebugInfo::of(elf::dwarf(file, &sections))? else { return Ok(by_symbols(addresses, symbols)) };
    let homes = Homes::of(file, root)?;
    let functions = addresses.iter().map(|address| {
        let mut found = info.at(*address, root);
        if let Some((name @ None, outermost)) = found.first_mut() {
            *name = symbols.name(*address).map(str::to_owned);
            outermost.name = name.clone().unwrap_or_default();
        }
        let mut found: Vec<Function> =
            found.into_iter().filter_map(|(name, function)| name.map(|_| function)).collect();
        if found.is_empty() {
            found.extend(symbols.name(*address).map(Function::without_file));
        }
        for function in &mut found {
            homes.correct(function);
        }
        (*address, found)
    });
    Ok(functions.collect())
}

/// The files that define the source's functions. An instruction's line may lie in another file than the function, so that
/// one function would seem to be several.
struct Homes(HashMap<String, BTreeSet<String>>);

impl Homes {
    fn of(file: &object::File<'_>, root: &SourceRoot) -> Result<Self, BinaryError> {
        let mut homes: HashMap<String, BTreeSet<String>> = HashMap::new();
        for function in functions::of_object(file, root)? {
            homes.entry(function.name).or_default().insert(function.file);
        }
        Ok(Self(homes))
    }

    fn correct(&self, function: &mut Function) {
        let Some(homes) = self.0.get(&function.name) else { return };
        let is_home = function.file.as_ref().is_some_and(|file| homes.contains(file));
        if let (false, 1, Some(home)) = (is_home, homes.len(), homes.first()) {
            function.file = Some(home.clone());
        }
    }
}
