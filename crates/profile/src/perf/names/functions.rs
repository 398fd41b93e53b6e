//! The functions at addresses of one image.

use std::collections::{BTreeSet, HashMap};

use gimli::SectionId;
use object::Object;

use super::debug_file;
use super::debug_info::DebugInfo;
use super::symbols::Symbols;
use crate::elf::{self, BinaryError};
use crate::functions;
use crate::perf::image::Image;
use crate::source_root::SourceRoot;

/// A function at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Function {
    /// In the normal form.
    pub(super) name: String,
    /// In the form of the call graphs.
    pub(super) file: Option<String>,
    pub(super) inlined: bool,
}

impl Function {
    pub(super) fn without_file(name: &str) -> Self {
        Self { name: name.to_owned(), file: None, inlined: false }
    }
}

/// The functions at each address, from the one that has the code to the innermost inlined one; none where nothing is
/// known.
pub(super) fn at(image: &Image, addresses: &[u64], root: &SourceRoot) -> HashMap<u64, Vec<Function>> {
    let Ok(own) = object::File::parse(&*image.bytes) else { return HashMap::new() };
    let separate = if has_debug_info(&own) { None } else { debug_file::read(&own) };
    let separate = separate.as_deref().and_then(|bytes| object::File::parse(bytes).ok());
    let file = separate.as_ref().unwrap_or(&own);
    let symbols = Symbols::of(file);
    // Broken debug information is as good as none: the symbols remain.
    by_debug_info(file, addresses, root, &symbols).unwrap_or_else(|_| by_symbols(addresses, &symbols))
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
