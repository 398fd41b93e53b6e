//! What a binary records of how it was built.

use std::collections::BTreeMap;
use std::path::Path;

use gimli::SectionId;
use object::elf::PT_INTERP;
use object::read::elf::ProgramHeader;
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

use crate::elf::{self, Reader};
use crate::identity;

pub use crate::elf::BinaryError;

/// Facts of an ELF file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BinaryFacts {
    /// GNU build id in hexadecimal; empty when there is none.
    pub build_id: String,
    /// Name and version of the C compiler, such as `GNU C11 12.2.0`; without debug information what `.comment` names;
    /// empty when unknown.
    pub compiler: String,
    /// The compiler's flags as it recorded them; empty when unknown.
    pub flags: String,
    /// The directory that most of the server's own units were compiled in; empty when unknown.
    pub compile_directory: String,
    /// Whether there is no symbol table: functions have no names.
    pub stripped: bool,
    /// Whether there is line information: costs can be reported by source line.
    pub debug_lines: bool,
    /// Functions in the dynamic symbol table that others can call.
    pub exported_functions: usize,
    /// Whether no dynamic loader is asked for: nothing can be preloaded.
    pub static_executable: bool,
    /// The digest of all that is loaded, but for the build id: programs of equal digests are one program. Empty where
    /// nothing is known to be loaded.
    pub image: String,
}

/// Reads the facts. Of the debug information only the units' root entries are read.
///
/// # Errors
/// When the file cannot be read, is no ELF file, or its debug information is broken.
pub fn facts(path: &Path) -> Result<BinaryFacts, BinaryError> {
    let bytes = elf::read(path)?;
    let file = object::File::parse(&*bytes)?;
    let (compile_directory, producer) = main_units(&file)?.unwrap_or_default();
    let (compiler, flags) =
        if producer.is_empty() { (comment(&file)?, String::new()) } else { split_producer(&producer) };
    Ok(BinaryFacts {
        build_id: file.build_id()?.map(elf::hexadecimal).unwrap_or_default(),
        compiler,
        flags,
        compile_directory,
        stripped: file.section_by_name(".symtab").is_none(),
        debug_lines: file.section_by_name(SectionId::DebugLine.name()).is_some(),
        exported_functions: exported_functions(&file),
        static_executable: !has_interpreter(&file),
        image: identity::image_digest(&file)?,
    })
}

fn exported_functions(file: &object::File<'_>) -> usize {
    let exported = |symbol: &object::Symbol<'_, '_>| {
        symbol.is_definition() && symbol.is_global() && symbol.kind() == SymbolKind::Text
    };
    file.dynamic_symbols().filter(exported).count()
}

fn has_interpreter(file: &object::File<'_>) -> bool {
    match file {
        object::File::Elf32(elf) => {
            elf.elf_program_headers().iter().any(|header| header.p_type(elf.endian()) == PT_INTERP)
        }
        object::File::Elf64(elf) => {
            elf.elf_program_headers().iter().any(|header| header.p_type(elf.endian()) == PT_INTERP)
        }
        _ => false,
    }
}

/// Units that link-time optimisation makes; the source's own units stand beside them and record the flags given.
const LINK_TIME_PRODUCER: &str = "GNU GIMPLE";

/// The directory that most C units were compiled in, which is a server's own code and not its bundled libraries', and
/// the producer of most units there.
fn main_units(file: &object::File<'_>) -> Result<Option<(String, String)>, BinaryError> {
    let sections = elf::sections(file, &elf::UNIT_SECTIONS)?;
    let dwarf = elf::dwarf(file, &sections);
    let mut directories: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    let mut headers = dwarf.units();
    while let Some(header) = headers.next()? {
        let unit = dwarf.unit(header)?;
        if !elf::is_c(&unit)? {
            continue;
        }
        let producer = elf::root_text(&dwarf, &unit, gimli::DW_AT_producer)?;
        let Some(producer) = producer.filter(|name| !name.starts_with(LINK_TIME_PRODUCER)) else { continue };
        let directory = unit.comp_dir.as_ref().map(Reader::to_string_lossy).unwrap_or_default().into_owned();
        *directories.entry(directory).or_default().entry(producer).or_default() += 1;
    }
    let main = directories.into_iter().max_by_key(|(_, producers)| producers.values().sum::<usize>());
    Ok(main.and_then(|(directory, producers)| {
        let (producer, _) = producers.into_iter().max_by_key(|(_, units)| *units)?;
        Some((directory, producer))
    }))
}

/// The compiler's name and version, and the flags: all from the first word that begins with `-`.
fn split_producer(producer: &str) -> (String, String) {
    match producer.find(" -") {
        Some(end) => (producer[..end].trim().to_owned(), producer[end..].trim().to_owned()),
        None => (producer.trim().to_owned(), String::new()),
    }
}

/// The first entry of the section that compilers sign.
fn comment(file: &object::File<'_>) -> Result<String, BinaryError> {
    let Some(section) = file.section_by_name(".comment") else { return Ok(String::new()) };
    let entries = section.data()?.split(|byte| *byte == 0);
    Ok(entries.map(String::from_utf8_lossy).find(|entry| !entry.is_empty()).unwrap_or_default().into_owned())
}

#[cfg(test)]
mod tests {
    use super::split_producer;

    #[test]
    fn flags_begin_at_the_first_dash() {
        assert_eq!(
            split_producer("GNU C11 12.2.0 -mtune=generic -O2"),
            ("GNU C11 12.2.0".to_owned(), "-mtune=generic -O2".to_owned())
        );
        assert_eq!(
            split_producer("Debian clang version 14.0.6"),
            ("Debian clang version 14.0.6".to_owned(), String::new())
        );
    }
}
