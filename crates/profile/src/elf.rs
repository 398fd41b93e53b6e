//! An ELF file and its DWARF sections.

use std::borrow::Cow;
use std::fmt::Write;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use gimli::{DwarfSections, EndianSlice, RunTimeEndian, SectionId};
use object::{Object, ObjectSection};
use thiserror::Error;

/// DWARF reader over bytes in memory.
pub(crate) type Reader<'a> = EndianSlice<'a, RunTimeEndian>;
/// DWARF sections, uncompressed where they were compressed.
pub(crate) type Sections<'a> = DwarfSections<Cow<'a, [u8]>>;

/// A compressed section may not claim to be larger: a file under test could name any size.
const SECTION_LIMIT_BYTES: u64 = 2 << 30;

/// Sections with the entries of units, their names, where their code lies, and their tables of lines.
pub(crate) const UNIT_SECTIONS: [SectionId; 9] = [
    SectionId::DebugInfo,
    SectionId::DebugAbbrev,
    SectionId::DebugAddr,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
    SectionId::DebugLine,
    SectionId::DebugLineStr,
    SectionId::DebugRanges,
    SectionId::DebugRngLists,
];

/// Why a binary could not be read.
#[derive(Debug, Error)]
pub enum BinaryError {
    /// The file cannot be read.
    #[error("cannot read the binary: {0}")]
    Io(#[from] io::Error),
    /// A directory, a device or a pipe.
    #[error("not a regular file")]
    NotRegular,
    /// The file is no ELF file, or a broken one.
    #[error("not a readable ELF file: {0}")]
    Object(#[from] object::Error),
    /// The debug information is broken.
    #[error("unreadable debug information: {0}")]
    Dwarf(#[from] gimli::Error),
    /// A compressed section would take too much memory.
    #[error("section {name} claims {bytes} bytes, more than {SECTION_LIMIT_BYTES}")]
    SectionTooLarge {
        /// Name of the section.
        name: &'static str,
        /// Size after decompression.
        bytes: u64,
    },
}

/// The bytes of a regular file. The path comes from code under test: it may name a device, a pipe or a file without end,
/// none of which may be opened or waited for.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, BinaryError> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(BinaryError::NotRegular);
    }
    // Between the look and the opening another file may have come.
    let file: File = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(BinaryError::NotRegular);
    }
    let mut bytes = Vec::new();
    file.take(metadata.len()).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The sections with the wanted names; the others are left empty.
pub(crate) fn sections<'a>(file: &object::File<'a>, wanted: &[SectionId]) -> Result<Sections<'a>, BinaryError> {
    DwarfSections::load(|id| if wanted.contains(&id) { section(file, id) } else { Ok(Cow::default()) })
}

/// The section's bytes; none where the file does not have it.
pub(crate) fn section<'a>(file: &object::File<'a>, id: SectionId) -> Result<Cow<'a, [u8]>, BinaryError> {
    let Some(section) = file.section_by_name(id.name()) else { return Ok(Cow::default()) };
    let bytes = section.compressed_file_range()?.uncompressed_size;
    if bytes > SECTION_LIMIT_BYTES {
        return Err(BinaryError::SectionTooLarge { name: id.name(), bytes });
    }
    Ok(section.uncompressed_data()?)
}

pub(crate) fn dwarf<'a>(file: &object::File<'_>, sections: &'a Sections<'_>) -> gimli::Dwarf<Reader<'a>> {
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    sections.borrow(|bytes| EndianSlice::new(bytes, endian))
}

/// Bytes as two digits each.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a String does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The text of an attribute of a unit's root entry.
pub(crate) fn root_text(
    dwarf: &gimli::Dwarf<Reader<'_>>,
    unit: &gimli::Unit<Reader<'_>>,
    name: gimli::DwAt,
) -> Result<Option<String>, gimli::Error> {
    let mut entries = unit.entries();
    let Some(root) = entries.next_dfs()? else { return Ok(None) };
    let Some(value) = root.attr_value(name) else { return Ok(None) };
    Ok(Some(dwarf.attr_string(unit, value)?.to_string_lossy().into_owned()))
}

/// Whether the unit was written in C.
pub(crate) fn is_c(unit: &gimli::Unit<Reader<'_>>) -> Result<bool, gimli::Error> {
    let mut entries = unit.entries();
    let language = entries.next_dfs()?.and_then(|root| root.attr_value(gimli::DW_AT_language));
    Ok(matches!(
        language,
        Some(gimli::AttributeValue::Language(
            gimli::DW_LANG_C | gimli::DW_LANG_C89 | gimli::DW_LANG_C99 | gimli::DW_LANG_C11 | gimli::DW_LANG_C17
        ))
    ))
}
