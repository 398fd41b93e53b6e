//! Function definitions among the entries of the debug information.

use std::collections::{BTreeSet, HashMap};

use gimli::{AttributeValue, DebuggingInformationEntry};

use super::{FileId, UnitFiles};
use crate::elf::{BinaryError, Reader};
use crate::symbol;

/// A chain of references longer than this is no chain that a compiler writes.
const REFERENCES_LIMIT: usize = 8;

/// A definition in the source tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Definition {
    pub(super) file: FileId,
    pub(super) first_line: u32,
    pub(super) name: String,
}

/// Offset in `.debug_info`.
type Offset = usize;

struct Subprogram {
    name: Option<String>,
    file: Option<FileId>,
    first_line: Option<u32>,
    /// Says of itself that it is a declaration only.
    declared: bool,
    /// The entry that holds what this one leaves out.
    refers_to: Option<Offset>,
}

#[derive(Default)]
pub(super) struct Collector {
    subprograms: HashMap<Offset, Subprogram>,
}

impl Collector {
    /// Takes in the unit's functions. C has them directly below the unit's root.
    pub(super) fn collect(
        &mut self,
        dwarf: &gimli::Dwarf<Reader<'_>>,
        unit: &gimli::Unit<Reader<'_>>,
        files: &UnitFiles,
    ) -> Result<(), BinaryError> {
        let mut entries = unit.entries();
        entries.next_dfs()?;
        let mut next = entries.next_dfs()?;
        while let Some(entry) = next {
            if entry.tag() == gimli::DW_TAG_subprogram
                && let Some(offset) = entry.offset().to_debug_info_offset(&unit.header)
            {
                self.subprograms.insert(offset.0, subprogram(dwarf, unit, files, entry)?);
            }
            next = entries.next_sibling()?;
        }
        Ok(())
    }

    /// Sorted by file and line, without doubles.
    pub(super) fn finish(self) -> Vec<Definition> {
        let defined = self.subprograms.values().filter(|subprogram| !subprogram.declared);
        let found: BTreeSet<Definition> = defined.filter_map(|subprogram| self.resolve(subprogram)).collect();
        found.into_iter().collect()
    }

    fn resolve(&self, subprogram: &Subprogram) -> Option<Definition> {
        let next = |subprogram: &&Subprogram| self.subprograms.get(&subprogram.refers_to?);
        let chain = || std::iter::successors(Some(subprogram), next).take(REFERENCES_LIMIT);
        let name = chain().find_map(|entry| entry.name.as_deref())?;
        let (file, first_line) = chain().find_map(|entry| Some((entry.file?, entry.first_line?)))?;
        Some(Definition { file, first_line, name: symbol::normal_form(name).to_owned() })
    }
}

fn subprogram(
    dwarf: &gimli::Dwarf<Reader<'_>>,
    unit: &gimli::Unit<Reader<'_>>,
    files: &UnitFiles,
    entry: &DebuggingInformationEntry<Reader<'_>>,
) -> Result<Subprogram, BinaryError> {
    let name = entry.attr_value(gimli::DW_AT_name).map(|value| dwarf.attr_string(unit, value)).transpose()?;
    let number = |name| entry.attr(name).and_then(gimli::Attribute::udata_value);
    let declared = matches!(entry.attr_value(gimli::DW_AT_declaration), Some(AttributeValue::Flag(true)));
    let refers_to = [gimli::DW_AT_abstract_origin, gimli::DW_AT_specification];
    Ok(Subprogram {
        name: name.map(|name| name.to_string_lossy().into_owned()),
        file: number(gimli::DW_AT_decl_file)
            .and_then(|index| files.get(usize::try_from(index).ok()?).copied().flatten()),
        first_line: number(gimli::DW_AT_decl_line).and_then(|line| u32::try_from(line).ok()),
        declared,
        refers_to: refers_to.into_iter().find_map(|name| referred(unit, entry.attr_value(name)?)),
    })
}

fn referred(unit: &gimli::Unit<Reader<'_>>, value: AttributeValue<Reader<'_>>) -> Option<Offset> {
    match value {
        AttributeValue::UnitRef(offset) => offset.to_debug_info_offset(&unit.header).map(|offset| offset.0),
        AttributeValue::DebugInfoRef(offset) => Some(offset.0),
        _ => None,
    }
}
