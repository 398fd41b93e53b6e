//! Sizes and layouts of the source's structures, out of the debug information.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use gimli::DebuggingInformationEntry;

use crate::elf::{self, BinaryError, Reader};
use crate::functions::{Files, Offset, UnitFiles, referred};
use crate::source_root::SourceRoot;

/// A structure that is defined in the source tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Structure {
    /// File name in the form of the call graphs.
    pub file: String,
    /// Its own name, else that of the type that it is given a name by.
    pub name: String,
    /// Size with padding.
    pub bytes: u64,
    /// Members with the byte at which each begins, in the order of the source.
    pub members: Vec<(String, u64)>,
}

/// All C structures with a name that are defined in files under `source_root`, in the order of file and name; of several
/// definitions of one name in one file the largest. Empty for a binary without debug information.
///
/// # Errors
/// When the file cannot be read, is no ELF file, or its debug information is broken.
pub fn structures(path: &Path, source_root: &str) -> Result<Vec<Structure>, BinaryError> {
    let bytes = elf::read(path)?;
    let file = object::File::parse(&*bytes)?;
    let root = SourceRoot::new(source_root);
    let sections = elf::sections(&file, &elf::UNIT_SECTIONS)?;
    let dwarf = elf::dwarf(&file, &sections);
    let mut files = Files::new(&root);
    let mut known: BTreeMap<(String, String), Structure> = BTreeMap::new();
    let mut headers = dwarf.units();
    while let Some(header) = headers.next()? {
        let unit = dwarf.unit(header)?;
        if !elf::is_c(&unit)? {
            continue;
        }
        let table = files.of_unit(&dwarf, &unit)?;
        for structure in of_unit(&dwarf, &unit, &table, &files)? {
            let key = (structure.file.clone(), structure.name.clone());
            let larger = known
                .get(&key)
                .is_none_or(|other| (other.bytes, &other.members) < (structure.bytes, &structure.members));
            if larger {
                known.insert(key, structure);
            }
        }
    }
    Ok(known.into_values().collect())
}

/// The structures of a unit. C has them directly below the unit's root.
fn of_unit(
    dwarf: &gimli::Dwarf<Reader<'_>>,
    unit: &gimli::Unit<Reader<'_>>,
    table: &UnitFiles,
    files: &Files<'_>,
) -> Result<Vec<Structure>, BinaryError> {
    let mut defined: HashMap<Offset, Structure> = HashMap::new();
    let mut type_names: Vec<(Offset, String)> = Vec::new();
    let mut current = None;
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs()? {
        let depth = entry.depth();
        let name = text(dwarf, unit, entry)?;
        match entry.tag() {
            gimli::DW_TAG_structure_type if depth == 1 => {
                current = entry.offset().to_debug_info_offset(&unit.header).map(|offset| offset.0);
                if let (Some(offset), Some(structure)) = (current, structure(entry, name, table, files)) {
                    defined.insert(offset, structure);
                }
            }
            gimli::DW_TAG_member if depth == 2 => {
                let at = number(entry, gimli::DW_AT_data_member_location)
                    .or_else(|| number(entry, gimli::DW_AT_data_bit_offset).map(|bit| bit / 8));
                if let Some(structure) = current.and_then(|offset| defined.get_mut(&offset)) {
                    structure.members.push((name.unwrap_or_default(), at.unwrap_or(0)));
                }
            }
            gimli::DW_TAG_typedef if depth == 1 => {
                let named = entry.attr_value(gimli::DW_AT_type).and_then(|value| referred(unit, value));
                if let (Some(offset), Some(name)) = (named, name) {
                    type_names.push((offset, name));
                }
                current = None;
            }
            _ if depth == 1 => current = None,
            _ => {}
        }
    }
    for (offset, name) in type_names {
        if let Some(structure) = defined.get_mut(&offset).filter(|structure| structure.name.is_empty()) {
            structure.name = name;
        }
    }
    Ok(defined.into_values().filter(|structure| !structure.name.is_empty()).collect())
}

fn structure(
    entry: &DebuggingInformationEntry<Reader<'_>>,
    name: Option<String>,
    table: &UnitFiles,
    files: &Files<'_>,
) -> Option<Structure> {
    let index = number(entry, gimli::DW_AT_decl_file)?;
    let file = table.get(usize::try_from(index).ok()?).copied().flatten()?;
    // A mere declaration has no size.
    let bytes = number(entry, gimli::DW_AT_byte_size)?;
    let file = files.name(file)?.to_owned();
    Some(Structure { file, name: name.unwrap_or_default(), bytes, members: Vec::new() })
}

fn number(entry: &DebuggingInformationEntry<Reader<'_>>, name: gimli::DwAt) -> Option<u64> {
    entry.attr(name).and_then(gimli::Attribute::udata_value)
}

fn text(
    dwarf: &gimli::Dwarf<Reader<'_>>,
    unit: &gimli::Unit<Reader<'_>>,
    entry: &DebuggingInformationEntry<Reader<'_>>,
) -> Result<Option<String>, gimli::Error> {
    let name = entry.attr_value(gimli::DW_AT_name).map(|value| dwarf.attr_string(unit, value)).transpose()?;
    Ok(name.map(|name| name.to_string_lossy().into_owned()))
}
