//! A program as it is loaded: its sections, symbols, functions and relocations, by address.

use std::collections::BTreeMap;

use gimli::{BaseAddresses, EhFrame, UnwindSection};
use object::elf::{
    PT_LOAD, PT_TLS, R_X86_64_64, R_X86_64_COPY, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, R_X86_64_RELATIVE, SHF_ALLOC,
    SHF_EXECINSTR, SHF_TLS, SHF_WRITE,
};
use object::read::elf::ProgramHeader;
use object::{
    Architecture, Object, ObjectKind, ObjectSection, ObjectSymbol, ObjectSymbolTable, RelocationFlags,
    RelocationTarget, SectionFlags, SymbolKind,
};
use sha2::{Digest, Sha256};

use crate::elf::{BinaryError, hexadecimal};

/// What stands in a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Instructions.
    Code,
    /// Jumps to other objects' functions, one for each of them.
    Trampolines,
    /// What the program does not write to once it is relocated.
    Constant,
    /// What it writes to.
    Variable,
    /// The initial values of variables of a thread.
    Thread,
}

/// A section that is loaded; `bytes` are shorter than `size` where the rest is zero.
pub(super) struct Section<'a> {
    pub(super) start: u64,
    pub(super) size: u64,
    pub(super) kind: Kind,
    pub(super) bytes: &'a [u8],
}

impl Section<'_> {
    fn holds(&self, address: u64) -> bool {
        address.checked_sub(self.start).is_some_and(|offset| offset < self.size)
    }

    /// The initial bytes of a range, clipped to the section, without the zeros that the file does not hold.
    pub(super) fn bytes_of(&self, start: u64, size: u64) -> &[u8] {
        let begin = usize::try_from(start.saturating_sub(self.start)).unwrap_or(usize::MAX).min(self.bytes.len());
        let end = begin.saturating_add(usize::try_from(size).unwrap_or(usize::MAX)).min(self.bytes.len());
        &self.bytes[begin..end]
    }
}

/// A variable or a table that the symbol table names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) start: u64,
    pub(super) size: u64,
    pub(super) name: String,
}

/// What the loader writes to a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Relocation {
    /// An address of this program.
    Own(u64),
    /// Something of another object, or of a kind without an address, as text.
    Foreign(String),
}

/// A program of x86-64 that can be loaded anywhere, so that addresses stand only where the processor or the loader
/// computes them.
pub(super) struct Image<'a> {
    pub(super) sections: Vec<Section<'a>>,
    /// By start, without overlaps of the same start.
    pub(super) variables: Vec<Variable>,
    /// As `variables`, their addresses within the block of a thread.
    pub(super) thread_variables: Vec<Variable>,
    /// Where functions begin, with their names; empty for those that only the unwind tables know.
    pub(super) functions: BTreeMap<u64, String>,
    pub(super) relocations: BTreeMap<u64, Relocation>,
    /// Of the thread's block, aligned: what lies below the thread pointer.
    pub(super) thread_block_bytes: u64,
    /// With what that block begins; the rest is zero.
    pub(super) thread_bytes: &'a [u8],
    /// Whether the symbol table names all variables, not only those that others can use.
    pub(super) is_whole: bool,
    /// Rights and alignment of what is loaded, as text.
    segments: String,
}

impl<'a> Image<'a> {
    /// Reads a program; the error is why its instructions cannot be compared.
    pub(super) fn of(file: &object::File<'a>) -> Result<Result<Self, String>, BinaryError> {
        if let Some(reason) = not_comparable(file) {
            return Ok(Err(reason.to_owned()));
        }
        let sections = sections(file)?;
        let mut image = Self {
            variables: Vec::new(),
            thread_variables: Vec::new(),
            functions: BTreeMap::new(),
            relocations: relocations(file),
            thread_block_bytes: thread_block_bytes(file),
            thread_bytes: file.section_by_name(".tdata").map(|section| section.data()).transpose()?.unwrap_or_default(),
            sections,
            is_whole: file.symbol_table().is_some(),
            segments: segments(file),
        };
        image.read_symbols(file);
        image.read_unwind_tables(file)?;
        Ok(Ok(image))
    }

    /// The section that an address lies in.
    pub(super) fn section(&self, address: u64) -> Option<&Section<'a>> {
        let after = self.sections.partition_point(|section| section.start <= address);
        self.sections[..after].last().filter(|section| section.holds(address))
    }

    /// Where the function begins that an address lies in, and where the next one does.
    pub(super) fn function(&self, address: u64) -> Option<(u64, u64)> {
        let section = self.section(address).filter(|section| section.kind == Kind::Code)?;
        let start =
            self.functions.range(section.start..=address).next_back().map_or(section.start, |(start, _)| *start);
        let end = section.start + section.size;
        let next = self.functions.range(address + 1..).next().map_or(end, |(next, _)| *next);
        Some((start, next.min(end)))
    }

    /// How the linker aligned what is loaded, and the compiler its functions, as text.
    pub(super) fn link(&self) -> String {
        let hot = self.functions.iter().filter(|(_, name)| !name.is_empty() && !name.contains(".cold"));
        let starts: Vec<u64> = hot.map(|(start, _)| *start).collect();
        // A smaller alignment leaves half of the functions at multiples of twice of it, by chance.
        let is_usual = |alignment: &u64| {
            let aligned = starts.iter().filter(|start| start.is_multiple_of(*alignment)).count();
            aligned as f64 >= ALIGNED_SHARE * starts.len() as f64
        };
        let alignment = FUNCTION_ALIGNMENTS.into_iter().take_while(is_usual).last().unwrap_or(1);
        format!("{}; functions at multiples of {alignment}", self.segments)
    }

    /// The name of what a trampoline jumps to.
    pub(super) fn imported(&self, trampoline: u64) -> Option<&Relocation> {
        let section = self.section(trampoline)?;
        let bytes = section.bytes_of(trampoline, TRAMPOLINE_BYTES);
        let mut decoder = iced_x86::Decoder::with_ip(64, bytes, trampoline, iced_x86::DecoderOptions::NONE);
        let jump = decoder.iter().find(iced_x86::Instruction::is_ip_rel_memory_operand)?;
        self.relocations.get(&jump.ip_rel_memory_address())
    }

    /// The address in the file of code at an address of memory; none where there is no code of the program.
    ///
    /// Callgrind takes some sections (`.init`, `.plt.got`) for no part of the program, and writes addresses in them as
    /// they are in memory.
    pub(super) fn address_in_file(&self, in_memory: u64) -> Option<u64> {
        let address = in_memory.checked_sub(LOADED_AT)?;
        let section = self.section(address)?;
        matches!(section.kind, Kind::Code | Kind::Trampolines).then_some(address)
    }

    fn read_symbols(&mut self, file: &object::File<'a>) {
        let table = file.symbol_table().or_else(|| file.dynamic_symbol_table());
        let mut variables: BTreeMap<u64, Variable> = BTreeMap::new();
        let mut thread_variables: BTreeMap<u64, Variable> = BTreeMap::new();
        for symbol in table.iter().flat_map(ObjectSymbolTable::symbols).filter(ObjectSymbol::is_definition) {
            let Ok(name) = symbol.name() else { continue };
            let (start, size) = (symbol.address(), symbol.size().min(u64::MAX - symbol.address()));
            let is_loaded = || self.section(start).is_some();
            let known = match symbol.kind() {
                SymbolKind::Text => {
                    let known = self.functions.entry(start).or_insert_with(|| name.to_owned());
                    if name < known.as_str() {
                        name.clone_into(known);
                    }
                    continue;
                }
                SymbolKind::Data if is_loaded() => &mut variables,
                SymbolKind::Tls => &mut thread_variables,
                _ => continue,
            };
            let variable = Variable { start, size, name: name.to_owned() };
            let better =
                |other: &Variable| (size, std::cmp::Reverse(name)) > (other.size, std::cmp::Reverse(&other.name));
            if known.get(&start).is_none_or(better) {
                known.insert(start, variable);
            }
        }
        self.variables = with_sizes(variables);
        self.thread_variables = with_sizes(thread_variables);
    }

    /// Adds the functions that no symbol names: static ones of a stripped program.
    fn read_unwind_tables(&mut self, file: &object::File<'a>) -> Result<(), BinaryError> {
        let Some(section) = file.section_by_name(".eh_frame") else { return Ok(()) };
        let table = EhFrame::new(section.data()?, gimli::LittleEndian);
        let bases = BaseAddresses::default().set_eh_frame(section.address());
        let mut entries = table.entries(&bases);
        while let Some(entry) = entries.next()? {
            if let gimli::CieOrFde::Fde(partial) = entry {
                let entry = partial.parse(EhFrame::cie_from_offset)?;
                self.functions.entry(entry.initial_address()).or_default();
            }
        }
        Ok(())
    }
}

/// Where valgrind loads a position-independent program (valgrind 3.19, `coregrind/m_ume/elf.c`).
const LOADED_AT: u64 = 0x10_8000;

/// The variable that an address lies in.
pub(super) fn variable_at(variables: &[Variable], address: u64) -> Option<(usize, &Variable)> {
    let after = variables.partition_point(|variable| variable.start <= address);
    let variable = variables[..after].last()?;
    (address - variable.start < variable.size).then_some((after - 1, variable))
}

/// The variable that ends at an address.
pub(super) fn variable_before(variables: &[Variable], address: u64) -> Option<&Variable> {
    let after = variables.partition_point(|variable| variable.start < address);
    variables[..after].last().filter(|variable| variable.start + variable.size == address)
}

/// Those without a size in the symbol table, such as those of the C library's start files, end where the next begins.
fn with_sizes(variables: BTreeMap<u64, Variable>) -> Vec<Variable> {
    let mut variables: Vec<Variable> = variables.into_values().collect();
    for at in 0..variables.len() {
        let next = variables.get(at + 1).map_or(variables[at].start, |next| next.start);
        let variable = &mut variables[at];
        if variable.size == 0 {
            variable.size = next - variable.start;
        }
    }
    variables.retain(|variable| variable.size > 0);
    variables
}

/// Alignments of functions in bytes that make a difference.
const FUNCTION_ALIGNMENTS: [u64; 6] = [2, 4, 8, 16, 32, 64];
/// The share of functions at multiples of an alignment where it is the usual one.
const ALIGNED_SHARE: f64 = 0.8;

fn segments(file: &object::File<'_>) -> String {
    let object::File::Elf64(elf) = file else { return String::new() };
    let endian = elf.endian();
    let loaded = elf.elf_program_headers().iter().filter(|header| header.p_type(endian) == PT_LOAD);
    let texts = loaded.map(|header| format!("{:x} at {:#x}", header.p_flags(endian).0, header.p_align(endian)));
    format!("segments {}", texts.collect::<Vec<_>>().join(", "))
}

/// Longest trampoline that linkers write.
const TRAMPOLINE_BYTES: u64 = 16;

fn not_comparable(file: &object::File<'_>) -> Option<&'static str> {
    if file.architecture() != Architecture::X86_64 || !file.is_64() {
        return Some("only instructions of x86-64 can be compared");
    }
    if file.kind() != ObjectKind::Dynamic {
        return Some("the program is linked to fixed addresses, which cannot be distinguished from numbers");
    }
    if file.section_by_name(".relr.dyn").is_some() {
        return Some("the program's relocations are packed");
    }
    None
}

fn sections<'a>(file: &object::File<'a>) -> Result<Vec<Section<'a>>, BinaryError> {
    let mut sections = Vec::new();
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
        let is = |flag: object::elf::SectionFlags| sh_flags.0 & flag.0 != 0;
        let name = section.name().unwrap_or_default();
        let constant = !is(SHF_WRITE)
            || [".data.rel.ro", ".got", ".init_array", ".fini_array"].iter().any(|known| name.starts_with(known));
        let kind = match () {
            // The loader's own table holds addresses that no relocation names.
            () if !is(SHF_ALLOC) || section.size() == 0 || name == ".dynamic" => continue,
            () if is(SHF_TLS) => Kind::Thread,
            () if is(SHF_EXECINSTR) && name.starts_with(".plt") => Kind::Trampolines,
            () if is(SHF_EXECINSTR) => Kind::Code,
            () if constant => Kind::Constant,
            () => Kind::Variable,
        };
        // Variables of threads have no place of their own; other sections begin at the same addresses.
        if kind != Kind::Thread {
            let (start, size) = (section.address(), section.size().min(u64::MAX - section.address()));
            sections.push(Section { start, size, kind, bytes: section.data()? });
        }
    }
    sections.sort_by_key(|section| section.start);
    Ok(sections)
}

fn relocations(file: &object::File<'_>) -> BTreeMap<u64, Relocation> {
    let names = file.dynamic_symbol_table();
    let read = |(place, relocation): (u64, object::Relocation)| {
        let RelocationFlags::Elf { r_type } = relocation.flags() else { return None };
        let symbol = match relocation.target() {
            RelocationTarget::Symbol(index) => names.as_ref().and_then(|names| names.symbol_by_index(index).ok()),
            _ => None,
        };
        let addend = relocation.addend();
        let is_address = [R_X86_64_64, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT].contains(&r_type);
        let read = match symbol {
            _ if r_type == R_X86_64_RELATIVE => Relocation::Own(addend.cast_unsigned()),
            // The initial value of a library's variable.
            _ if r_type == R_X86_64_COPY => return None,
            Some(symbol) if is_address && symbol.is_definition() => {
                Relocation::Own(symbol.address().wrapping_add_signed(addend))
            }
            Some(symbol) if is_address && addend == 0 => {
                Relocation::Foreign(format!("{} of a library", symbol.name().unwrap_or_default()))
            }
            Some(symbol) => {
                let kind = if is_address { "address" } else { "relocation" };
                let name = symbol.name().unwrap_or_default();
                Relocation::Foreign(format!("{kind} {} of {name} {addend:+}", r_type.0))
            }
            None => Relocation::Foreign(format!("relocation {} {addend:+}", r_type.0)),
        };
        Some((place, read))
    };
    file.dynamic_relocations().into_iter().flatten().filter_map(read).collect()
}

fn thread_block_bytes(file: &object::File<'_>) -> u64 {
    let object::File::Elf64(elf) = file else { return 0 };
    let endian = elf.endian();
    let block = elf.elf_program_headers().iter().find(|header| header.p_type(endian) == PT_TLS);
    block.map_or(0, |header| {
        let alignment = header.p_align(endian).max(1);
        header.p_memsz(endian).checked_next_multiple_of(alignment).unwrap_or(0)
    })
}

/// The digest of all that is loaded, but for the build id: programs of equal digests are one program. Empty where no
/// section is loaded, as in a program without a table of sections.
pub(crate) fn digest(file: &object::File<'_>) -> Result<String, BinaryError> {
    let mut digest = Sha256::new();
    digest.update(format!("{:?} {:?}", file.architecture(), file.kind()));
    let mut is_empty = true;
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
        if sh_flags.0 & SHF_ALLOC.0 == 0 || section.name_bytes()? == BUILD_ID {
            continue;
        }
        is_empty = false;
        let bytes = section.data()?;
        digest.update(format!("{:x} {:x} {:x} {:x};", section.address(), section.size(), sh_flags.0, bytes.len()));
        digest.update(bytes);
    }
    Ok(if is_empty { String::new() } else { hexadecimal(&digest.finalize()) })
}

/// The section that differs between programs that are the same.
const BUILD_ID: &[u8] = b".note.gnu.build-id";
