//! Functions by debug information, those too that are inlined.

use std::fmt::Write as _;
use std::path::PathBuf;

use addr2line::{Context, Frame};
use gimli::{AbbreviationsCacheStrategy, Dwarf, UnitRef};
use object::Object;

use super::images;
use super::names::{Function, Line};
use crate::elf::{BinaryError, Reader};
use crate::source_root::SourceRoot;
use crate::symbol;

/// Where Debian, Fedora and their relatives put debug information that is a file of its own, by build id.
const SEPARATE_FILES: &str = "/usr/lib/debug/.build-id";
const SEPARATE_FILE_LIMIT_BYTES: u64 = 1 << 30;
/// Blocks and calls within each other: reading them takes stack, and no source has so many.
const DEPTH_LIMIT: isize = 512;
/// Address ranges of all functions together: they may share their lists, so that a small file could have any number.
const RANGES_LIMIT: usize = 1 << 24;
/// Functions inlined within each other.
const INLINED_LIMIT: usize = 64;

pub(super) struct DebugInfo<'a>(Context<Reader<'a>>);

impl<'a> DebugInfo<'a> {
    /// None when the debug information is of a kind that no compiler makes: the binary comes from code under test.
    pub(super) fn of(mut dwarf: Dwarf<Reader<'a>>) -> Result<Option<Self>, BinaryError> {
        dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::Duplicates);
        if !is_bounded(&dwarf)? {
            return Ok(None);
        }
        Ok(Some(Self(Context::from_dwarf(dwarf)?)))
    }

    /// The functions at an address, from the one that has the code to the innermost inlined one. The outermost is without
    /// name where only its line is known.
    pub(super) fn at(&self, address: u64, root: &SourceRoot) -> Vec<(Option<String>, Function)> {
        let mut found = Vec::new();
        let Ok(mut frames) = self.0.find_frames(address).skip_all_loads() else { return found };
        while let Ok(Some(frame)) = frames.next()
            && found.len() < INLINED_LIMIT
        {
            found.push(function(&frame, root));
        }
        found.reverse();
        for (position, (_, function)) in found.iter_mut().enumerate() {
            function.inlined = position > 0;
        }
        found
    }
}

fn function(frame: &Frame<'_, Reader<'_>>, root: &SourceRoot) -> (Option<String>, Function) {
    let name = frame.function.as_ref().and_then(|function| function.raw_name().ok());
    let name = name.map(|name| symbol::normal_form(&name).to_owned());
    let location = frame.location.as_ref();
    let file = location.and_then(|location| location.file).map(|path| root.file_name(path).name);
    // Line 0 is of code that is of no line.
    let number = location.and_then(|location| location.line).filter(|line| *line > 0);
    let line = file.clone().zip(number).map(|(file, number)| Line { file, number });
    (name.clone(), Function { name: name.unwrap_or_default(), file, inlined: false, line })
}

/// Whether reading it takes memory in proportion to its size.
fn is_bounded(dwarf: &Dwarf<Reader<'_>>) -> Result<bool, BinaryError> {
    let mut ranges = 0;
    let mut headers = dwarf.units();
    while let Some(header) = headers.next()? {
        let unit = dwarf.unit(header)?;
        let unit = UnitRef::new(dwarf, &unit);
        let mut entries = unit.entries_raw(None)?;
        while !entries.is_empty() {
            if entries.next_depth() > DEPTH_LIMIT {
                return Ok(false);
            }
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            for specification in abbreviation.attributes() {
                let attribute = entries.read_attribute(*specification)?;
                if attribute.name() != gimli::DW_AT_ranges {
                    continue;
                }
                let Some(mut list) = unit.attr_ranges(attribute.value())? else { continue };
                while list.next()?.is_some() {
                    ranges += 1;
                    if ranges > RANGES_LIMIT {
                        return Ok(false);
                    }
                }
            }
        }
    }
    Ok(true)
}

/// The file with the debug information of this one; none when it is not installed.
pub(super) fn read_separate(file: &object::File<'_>) -> Option<Vec<u8>> {
    let id = file.build_id().ok()??;
    let (first, rest) = id.split_first()?;
    let name = rest.iter().fold(String::new(), |mut name, byte| {
        // Writing to a String does not fail.
        let _ = write!(name, "{byte:02x}");
        name
    });
    let path: PathBuf = [SEPARATE_FILES, &format!("{first:02x}"), &format!("{name}.debug")].iter().collect();
    let bytes = images::read_limited(&path, SEPARATE_FILE_LIMIT_BYTES)?;
    let found = object::File::parse(&*bytes).ok()?;
    (found.build_id().ok()? == Some(id)).then_some(())?;
    Some(bytes)
}
