//! The functions of the source and the lines they take, out of the debug information.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use gimli::{AttributeValue, DebuggingInformationEntry};

use crate::elf::{self, BinaryError, Reader};
use crate::source_root::SourceRoot;
use crate::symbol;

/// A chain of references longer than this is no chain that a compiler writes.
const REFERENCES_LIMIT: usize = 8;

/// More parts of functions would be no server's.
const STARTS_LIMIT: usize = 4_000_000;

/// A function definition in the source tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceFunction {
    /// File name in the form of the call graphs.
    pub file: String,
    /// The line that names the function, from 1.
    pub first_line: u32,
    /// The last line that the compiler made code of; without such a line, the one before the next definition.
    pub last_line: u32,
    /// Name in the form of the call graphs.
    pub name: String,
}

/// All C functions defined in files under `source_root`, those too that exist only inlined, in the order of file and
/// line. Empty for a binary without debug information.
///
/// # Errors
/// When the file cannot be read, is no ELF file, or its debug information is broken.
pub fn source_functions(path: &Path, source_root: &str) -> Result<Vec<SourceFunction>, BinaryError> {
    let bytes = elf::read(path)?;
    of_object(&object::File::parse(&*bytes)?, &SourceRoot::new(source_root))
}

/// The lines that the compiler made code of, in those of `files` that it knows, which are named as in call graphs.
///
/// # Errors
/// As [`source_functions`].
pub fn code_lines(
    path: &Path,
    source_root: &str,
    files: &BTreeSet<String>,
) -> Result<BTreeMap<String, Vec<u32>>, BinaryError> {
    let bytes = elf::read(path)?;
    let root = SourceRoot::new(source_root);
    let (_, lines, names) = definitions_and_lines(&object::File::parse(&*bytes)?, &root)?;
    let lines = lines.lines;
    let mut by_file: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (file, line) in lines.with_code() {
        if files.contains(&names[file]) {
            by_file.entry(names[file].clone()).or_default().push(line);
        }
    }
    Ok(by_file)
}

pub(crate) fn of_object(file: &object::File<'_>, root: &SourceRoot) -> Result<Vec<SourceFunction>, BinaryError> {
    let (definitions, places, names) = definitions_and_lines(file, root)?;
    Ok(with_last_lines(definitions, &places.lines.finish(), &names))
}

/// Where the code of a program comes from in the source tree.
pub(crate) struct CodePlaces {
    /// Sorted.
    functions: Vec<SourceFunction>,
    /// The files of the functions whose code, or a part of it, begins at an address.
    files: HashMap<u64, String>,
    /// The first address of code, its line, and the function that has the line: sorted.
    rows: Vec<(u64, u32, Option<usize>)>,
}

impl CodePlaces {
    pub(crate) fn of_object(file: &object::File<'_>, root: &SourceRoot) -> Result<Self, BinaryError> {
        let (definitions, Places { starts, rows, lines }, names) = definitions_and_lines(file, root)?;
        let functions = with_last_lines(definitions, &lines.finish(), &names);
        let holder = |file: FileId, line: u32| {
            let after = functions.partition_point(|one| (one.file.as_str(), one.first_line) <= (&names[file], line));
            let before = after.checked_sub(1)?;
            (functions[before].file == names[file] && line <= functions[before].last_line).then_some(before)
        };
        let mut rows: Vec<_> = (rows.into_iter())
            .map(|(address, place)| {
                place.map_or((address, 0, None), |(file, line)| (address, line, holder(file, line)))
            })
            .collect();
        rows.sort_by_key(|(address, ..)| *address);
        let files = starts.into_iter().map(|(address, file)| (address, names[file].clone())).collect();
        Ok(Self { functions, files, rows })
    }

    /// The file of the function whose code begins at an address; empty where it is not known.
    pub(crate) fn file(&self, start: u64) -> &str {
        self.files.get(&start).map_or("", String::as_str)
    }

    /// The line of an instruction; 0 where it has none.
    pub(crate) fn line(&self, address: u64) -> u32 {
        let after = self.rows.partition_point(|(begins, ..)| *begins <= address);
        after.checked_sub(1).map_or(0, |at| self.rows[at].1)
    }

    /// The functions of which there is code between two addresses.
    pub(crate) fn holders(&self, start: u64, end: u64) -> BTreeSet<&SourceFunction> {
        let from = self.rows.partition_point(|(begins, ..)| *begins < start);
        let rows = self.rows[from..].iter().take_while(|(begins, ..)| *begins < end);
        rows.filter_map(|(_, _, holder)| self.functions.get((*holder)?)).collect()
    }
}

/// Places of code as they are read.
#[derive(Default)]
struct Places {
    lines: LineSet,
    starts: Vec<(u64, FileId)>,
    /// None: the address belongs to no line of a file in the tree.
    rows: Vec<PlacedLine>,
}

type DefinitionsAndLines = (Vec<Definition>, Places, Vec<String>);

/// All definitions of C functions, all lines in the tables of lines, and the names of their files.
fn definitions_and_lines(file: &object::File<'_>, root: &SourceRoot) -> Result<DefinitionsAndLines, BinaryError> {
    let sections = elf::sections(file, &elf::UNIT_SECTIONS)?;
    let dwarf = elf::dwarf(file, &sections);
    let mut files = Files::new(root);
    let mut definitions = Definitions::default();
    let mut places = Places::default();
    let mut headers = dwarf.units();
    while let Some(header) = headers.next()? {
        let unit = dwarf.unit(header)?;
        if elf::is_c(&unit)? {
            let table = files.of_unit(&dwarf, &unit)?;
            definitions.collect(&dwarf, &unit, &table)?;
            places.rows.extend(places.lines.collect(&unit, &table)?);
        }
    }
    places.starts = definitions.starts();
    Ok((definitions.finish(), places, files.names))
}

/// Index into the table of files in the source tree.
pub(crate) type FileId = usize;
/// The files of a unit by their index in its line table; none for files outside the source tree.
pub(crate) type UnitFiles = Vec<Option<FileId>>;

pub(crate) struct Files<'a> {
    root: &'a SourceRoot,
    ids: HashMap<String, FileId>,
    names: Vec<String>,
}

impl<'a> Files<'a> {
    pub(crate) fn new(root: &'a SourceRoot) -> Self {
        Self { root, ids: HashMap::new(), names: Vec::new() }
    }

    pub(crate) fn of_unit(
        &mut self,
        dwarf: &gimli::Dwarf<Reader<'_>>,
        unit: &gimli::Unit<Reader<'_>>,
    ) -> Result<UnitFiles, BinaryError> {
        let Some(program) = &unit.line_program else { return Ok(UnitFiles::new()) };
        let header = program.header();
        let directory_of_unit = unit.comp_dir.as_ref().map(Reader::to_string_lossy).unwrap_or_default();
        let mut table = UnitFiles::new();
        for index in 0..=header.file_names().len() as u64 {
            let Some(entry) = header.file(index) else {
                table.push(None);
                continue;
            };
            let directory = entry.directory(header).map(|value| dwarf.attr_string(unit, value)).transpose()?;
            let directory = directory.as_ref().map(Reader::to_string_lossy).unwrap_or_default();
            let name = dwarf.attr_string(unit, entry.path_name())?;
            let path = join(&join(&directory_of_unit, &directory), &name.to_string_lossy());
            table.push(self.inside(&path));
        }
        Ok(table)
    }

    /// The name of a file in the form of the call graphs.
    pub(crate) fn name(&self, file: FileId) -> Option<&str> {
        self.names.get(file).map(String::as_str)
    }

    fn inside(&mut self, path: &str) -> Option<FileId> {
        let file = self.root.file_name(path);
        if !file.inside {
            return None;
        }
        if let Some(known) = self.ids.get(&file.name) {
            return Some(*known);
        }
        self.ids.insert(file.name.clone(), self.names.len());
        self.names.push(file.name);
        Some(self.names.len() - 1)
    }
}

fn join(directory: &str, path: &str) -> String {
    if path.starts_with('/') || directory.is_empty() { path.to_owned() } else { format!("{directory}/{path}") }
}

/// `definitions` and `lines` are sorted and without doubles.
fn with_last_lines(definitions: Vec<Definition>, lines: &[Line], names: &[String]) -> Vec<SourceFunction> {
    let next_first_lines: Vec<Option<u32>> = (definitions.iter().enumerate())
        .map(|(at, this)| {
            let later = definitions[at..].iter().take_while(|other| other.file == this.file);
            later.map(|other| other.first_line).find(|line| *line > this.first_line)
        })
        .collect();
    let mut functions: Vec<SourceFunction> = (definitions.into_iter().zip(next_first_lines))
        .map(|(definition, next)| {
            let Definition { file, first_line, name } = definition;
            let before_next = lines.partition_point(|line| *line < (file, next.unwrap_or(u32::MAX)));
            let last_with_code = (before_next.checked_sub(1).and_then(|at| lines.get(at)))
                .filter(|(of_file, line)| *of_file == file && *line >= first_line)
                .map(|(_, line)| *line);
            let last_line = last_with_code.or(next.map(|next| next - 1)).unwrap_or(first_line);
            SourceFunction { file: names[file].clone(), first_line, last_line, name }
        })
        .collect();
    functions.sort_unstable();
    functions
}

/// A definition in the source tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Definition {
    file: FileId,
    first_line: u32,
    name: String,
}

/// Offset in `.debug_info`.
pub(crate) type Offset = usize;

struct Subprogram {
    name: Option<String>,
    file: Option<FileId>,
    first_line: Option<u32>,
    /// It is marked as a declaration only.
    declared: bool,
    /// The entry that holds what this one leaves out.
    refers_to: Option<Offset>,
}

#[derive(Default)]
struct Definitions {
    subprograms: HashMap<Offset, Subprogram>,
    /// Where the code of subprograms begins, or a part of it.
    starts: Vec<(u64, Offset)>,
}

impl Definitions {
    /// Takes in the unit's functions. C has them directly below the unit's root.
    fn collect(
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
                let mut ranges = dwarf.die_ranges(unit, entry)?;
                while let Some(range) = ranges.next()?.filter(|_| self.starts.len() < STARTS_LIMIT) {
                    self.starts.push((range.begin, offset.0));
                }
            }
            next = entries.next_sibling()?;
        }
        Ok(())
    }

    /// Sorted by file and line, without doubles.
    fn finish(self) -> Vec<Definition> {
        let defined = self.subprograms.values().filter(|subprogram| !subprogram.declared);
        let found: BTreeSet<Definition> = defined.filter_map(|subprogram| self.resolve(subprogram)).collect();
        found.into_iter().collect()
    }

    fn starts(&self) -> Vec<(u64, FileId)> {
        let file = |offset| Some(self.resolve(self.subprograms.get(offset)?)?.file);
        self.starts.iter().filter_map(|(address, offset)| Some((*address, file(offset)?))).collect()
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

pub(crate) fn referred(unit: &gimli::Unit<Reader<'_>>, value: AttributeValue<Reader<'_>>) -> Option<Offset> {
    match value {
        AttributeValue::UnitRef(offset) => offset.to_debug_info_offset(&unit.header).map(|offset| offset.0),
        AttributeValue::DebugInfoRef(offset) => Some(offset.0),
        _ => None,
    }
}

/// A line of a file in the source tree.
type Line = (FileId, u32);

/// Where code begins, and the line that it is of, if it is of any.
type PlacedLine = (u64, Option<Line>);

/// Lines of files in the source tree. A row of the line table that lies between a definition's first line and the next
/// definition's belongs to that definition, wherever its code was inlined.
#[derive(Default)]
struct LineSet {
    all: Vec<Line>,
    /// Those that an instruction belongs to: several rows may stand at one address, where the last of them counts.
    with_code: Vec<Line>,
}

impl LineSet {
    /// Returns where code of which line begins.
    fn collect(&mut self, unit: &gimli::Unit<Reader<'_>>, files: &UnitFiles) -> Result<Vec<PlacedLine>, BinaryError> {
        let Some(program) = unit.line_program.clone() else { return Ok(Vec::new()) };
        let mut places: Vec<PlacedLine> = Vec::new();
        let mut rows = program.rows();
        let mut before: Option<(u64, Line)> = None;
        while let Some((_, row)) = rows.next_row()? {
            if let Some((_, line)) = before.take_if(|(address, _)| *address < row.address()) {
                add(&mut self.with_code, line);
            }
            let file = usize::try_from(row.file_index()).ok().and_then(|index| files.get(index).copied().flatten());
            let line = row.line().and_then(|line| u32::try_from(line.get()).ok());
            before = None;
            let place = file.zip(line).filter(|_| !row.end_sequence());
            // Of several rows of one address the last counts.
            match places.last_mut().filter(|(address, _)| *address == row.address()) {
                Some(last) => last.1 = place,
                None => places.push((row.address(), place)),
            }
            let Some(place) = place else { continue };
            before = Some((row.address(), place));
            add(&mut self.all, place);
        }
        Ok(places)
    }

    /// Sorted, without doubles.
    fn finish(self) -> Vec<Line> {
        sorted(self.all)
    }

    /// Sorted, without doubles.
    fn with_code(self) -> Vec<Line> {
        sorted(self.with_code)
    }
}

/// Adds a line unless it is the one before, as most are.
fn add(lines: &mut Vec<Line>, line: Line) {
    if lines.last() != Some(&line) {
        lines.push(line);
    }
}

fn sorted(mut lines: Vec<Line>) -> Vec<Line> {
    lines.sort_unstable();
    lines.dedup();
    lines
}

#[cfg(test)]
mod tests {
    use super::{Definition, SourceFunction, with_last_lines};

    fn definition(file: usize, first_line: u32, name: &str) -> Definition {
        Definition { file, first_line, name: name.to_owned() }
    }

    fn function(file: &str, first_line: u32, last_line: u32, name: &str) -> SourceFunction {
        SourceFunction { file: file.to_owned(), first_line, last_line, name: name.to_owned() }
    }

    #[test]
    fn a_function_ends_where_its_code_ends() {
        let definitions = vec![
            definition(0, 5, "first"),
            definition(0, 20, "no_code"),
            definition(0, 30, "last"),
            definition(1, 3, "b"),
        ];
        let lines = [(0, 2), (0, 6), (0, 9), (0, 31), (0, 40), (1, 1)];
        let names = ["a.c".to_owned(), "b.h".to_owned()];
        assert_eq!(
            with_last_lines(definitions, &lines, &names),
            [
                function("a.c", 5, 9, "first"),
                function("a.c", 20, 29, "no_code"),
                function("a.c", 30, 40, "last"),
                function("b.h", 3, 3, "b"),
            ]
        );
    }

    #[test]
    fn functions_made_by_one_macro_share_their_lines() {
        let definitions = vec![definition(0, 5, "tree_insert"), definition(0, 5, "tree_remove"), definition(0, 9, "f")];
        let names = ["a.c".to_owned()];
        assert_eq!(
            with_last_lines(definitions, &[(0, 5), (0, 6), (0, 12)], &names),
            [function("a.c", 5, 6, "tree_insert"), function("a.c", 5, 6, "tree_remove"), function("a.c", 9, 12, "f")]
        );
    }
}
