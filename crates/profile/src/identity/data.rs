//! Data that executed instructions refer to: by content, and pointers in it by what they point to.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt::Write as _;

use iced_x86::{Decoder, DecoderOptions, Instruction};
use sha2::{Digest, Sha256};

use super::code::Code;
use super::image::{Kind, Relocation, Section, Variable, variable_at, variable_before};
use crate::elf::hexadecimal;
use crate::symbol;

/// Data whose size no symbol states, pointed to by data without a symbol: deeper is a circle.
const DEPTH_LIMIT: u32 = 16;
/// Between variables, which are aligned to cache lines at most; data without a symbol may be longer.
const LONGEST_GAP_BYTES: u64 = 64;
/// Of all data together: a file under test could have every table point to every other.
const CONTENT_LIMIT_BYTES: usize = 256 << 20;
const NODES_LIMIT: usize = 1 << 18;
/// No `switch` of a server has more.
const JUMPS_LIMIT: u64 = 4096;
const POINTER_BYTES: u64 = 8;
const CACHE_LINE_BYTES: u64 = 64;
/// Characters of commits, short and whole.
const COMMIT_LENGTHS: std::ops::RangeInclusive<usize> = 7..=40;
/// Of seconds since the epoch.
const TIME_DIGITS: usize = 9;
/// Content up to here is written out as it is.
const SHOWN_BYTES: usize = 40;

/// What stands in place of an address; each `@` in the text stands for one of the targets, which are nodes.
#[derive(Debug, Clone, Default)]
pub(super) struct Reference {
    pub(super) text: String,
    pub(super) targets: Vec<u32>,
}

impl Reference {
    pub(super) fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), targets: Vec::new() }
    }

    /// Keeps of a version, commit or build id only that it is one.
    pub(super) fn leave_stamp_out(&mut self) {
        let quoted = self.text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        if self.targets.is_empty() && quoted.is_some_and(is_stamp) {
            "a version".clone_into(&mut self.text);
        }
    }
}

/// Gives numbers to the variables and tables that are referred to, and reads their contents one after the other.
pub(super) struct Data<'a> {
    code: &'a Code<'a>,
    first: usize,
    /// By address and whether it is a thread's.
    numbers: HashMap<(u64, bool), u32>,
    to_do: VecDeque<(Variable, bool)>,
    /// Where things begin that the program refers to; read when the end of data without a symbol is asked for.
    beginnings: Option<BTreeSet<u64>>,
    bytes_read: usize,
}

impl<'a> Data<'a> {
    /// `first` is the number of the first variable.
    pub(super) fn new(code: &'a Code<'a>, first: usize) -> Self {
        let (numbers, to_do) = (HashMap::new(), VecDeque::new());
        Self { code, first, numbers, to_do, beginnings: None, bytes_read: 0 }
    }

    /// The next variable that was referred to, with its name and content.
    pub(super) fn next(&mut self) -> Result<Option<(String, Reference)>, String> {
        let Some((variable, of_thread)) = self.to_do.pop_front() else { return Ok(None) };
        let content = if of_thread { self.thread_content(&variable) } else { self.content(&variable)? };
        Ok(Some((name(&variable.name), content)))
    }

    /// What an instruction's operand refers to that lies at an address; `size` is what it reads there, 0 for the address
    /// alone. `function` is where the instruction's function begins and ends.
    pub(super) fn operand(&mut self, address: u64, size: u64, function: (u64, u64)) -> Result<Reference, String> {
        let image = self.code.image;
        let is_constant = |section: &&Section<'_>| section.kind == Kind::Constant;
        let Some(section) = image.section(address).filter(is_constant) else { return self.pointee(address, 0) };
        if variable_at(&image.variables, address).is_some() {
            return self.pointee(address, 0);
        }
        if size == 0 {
            let jumps = self.jumps(address, function);
            return jumps.map_or_else(|| self.pointee(address, 0), |jumps| Ok(Reference::plain(&jumps)));
        }
        match image.relocations.get(&address) {
            Some(relocation) if size == POINTER_BYTES => self.relocated(&relocation.clone(), 0),
            Some(_) => Err(format!("part of a pointer is read at {address:#x}")),
            None => Ok(Reference::plain(&number(section.bytes_of(address, size), size))),
        }
    }

    /// The variable of the thread at an address within its block.
    pub(super) fn thread_variable(&mut self, address: u64) -> Reference {
        match variable_at(&self.code.image.thread_variables, address) {
            Some((_, variable)) => self.node(&variable.clone(), true, address),
            None => Reference::plain("outside"),
        }
    }

    /// Where the variables that were referred to lie relative to the first of them, in the order of addresses: which share a
    /// cache line, and where in it each of them begins.
    pub(super) fn layout(&self) -> Vec<Reference> {
        let image = self.code.image;
        let mut variables: Vec<(bool, u64, u32)> = (self.numbers.iter())
            .filter(|((address, of_thread), _)| {
                *of_thread || image.section(*address).is_some_and(|section| section.kind == Kind::Variable)
            })
            .map(|((address, of_thread), number)| (*of_thread, *address, *number))
            .collect();
        variables.sort_unstable();
        let first_line = variables.first().map_or(0, |(_, address, _)| address - address % CACHE_LINE_BYTES);
        let place = |(of_thread, address, number): (bool, u64, u32)| {
            let text = if of_thread {
                format!("@ of a thread at {address}")
            } else {
                format!("@ at {}", address - first_line)
            };
            Reference { text, targets: vec![number] }
        };
        variables.into_iter().map(place).collect()
    }

    fn relocated(&mut self, relocation: &Relocation, depth: u32) -> Result<Reference, String> {
        match relocation {
            Relocation::Own(address) => self.pointee(*address, depth),
            Relocation::Foreign(name) => Ok(Reference::plain(name)),
        }
    }

    /// What an address points to.
    fn pointee(&mut self, address: u64, depth: u32) -> Result<Reference, String> {
        let image = self.code.image;
        if let Some((_, variable)) = variable_at(&image.variables, address) {
            return Ok(self.node(&variable.clone(), false, address));
        }
        // Loops over an array compare with its end, or begin there.
        if let Some(variable) = variable_before(&image.variables, address).filter(|_| image.is_whole) {
            return Ok(self.node(&variable.clone(), false, address));
        }
        match image.section(address).map(|section| section.kind) {
            Some(Kind::Code | Kind::Trampolines) => Ok(self.code.reference(address)),
            Some(Kind::Constant) => self.unnamed(address, depth),
            // Loops over the members of an array's structures end some bytes behind it, between variables.
            Some(Kind::Variable) if image.is_whole && !image.variables.is_empty() => {
                let after = image.variables.partition_point(|variable| variable.start <= address);
                match image.variables[..after].last() {
                    Some(variable) if address - variable.start - variable.size < LONGEST_GAP_BYTES => {
                        Ok(self.node(&variable.clone(), false, address))
                    }
                    _ => Err(format!("no symbol names the data at {address:#x}")),
                }
            }
            Some(Kind::Variable | Kind::Thread) => Err(format!("no symbol names the data at {address:#x}")),
            // Behind the last section, as marks of the linker are.
            None => Ok(Reference::plain("outside")),
        }
    }

    fn node(&mut self, variable: &Variable, of_thread: bool, address: u64) -> Reference {
        let next = self.first + self.numbers.len();
        let number = *self.numbers.entry((variable.start, of_thread)).or_insert_with(|| {
            self.to_do.push_back((variable.clone(), of_thread));
            // More than the limit are refused before one has this number.
            u32::try_from(next).unwrap_or(u32::MAX)
        });
        let offset = address - variable.start;
        let text = if offset == 0 { "@".to_owned() } else { format!("@+{offset}") };
        Reference { text, targets: vec![number] }
    }

    fn content(&mut self, variable: &Variable) -> Result<Reference, String> {
        if self.numbers.len() > NODES_LIMIT {
            return Err(format!("more than {NODES_LIMIT} variables and tables are referred to"));
        }
        let Some(section) = self.code.image.section(variable.start) else { return Ok(Reference::plain("outside")) };
        let kind = if section.kind == Kind::Constant { "constant" } else { "variable" };
        let end = variable.start.saturating_add(variable.size).min(section.start + section.size);
        let content = self.range(section, variable.start, end, 0)?;
        Ok(Reference { text: format!("{kind} of {} bytes: {}", variable.size, content.text), ..content })
    }

    fn thread_content(&self, variable: &Variable) -> Reference {
        let begin = usize::try_from(variable.start).unwrap_or(usize::MAX);
        let size = usize::try_from(variable.size).unwrap_or(usize::MAX);
        let bytes = self.code.image.thread_bytes.get(begin..).map_or(&[][..], |rest| &rest[..size.min(rest.len())]);
        Reference::plain(&format!("thread's variable of {} bytes: {}", variable.size, shown(bytes)))
    }

    /// Constant data without a symbol: a string up to its end, and at least up to what the program refers to next.
    fn unnamed(&mut self, address: u64, depth: u32) -> Result<Reference, String> {
        let image = self.code.image;
        let Some(section) = image.section(address) else { return Ok(Reference::plain("outside")) };
        if depth > DEPTH_LIMIT {
            return Err(format!("the data at {address:#x} is a long chain of pointers"));
        }
        let end_of_section = section.start + section.size;
        let rest = section.bytes_of(address, end_of_section - address);
        let string_bytes = rest.iter().position(|byte| *byte == 0).map_or(rest.len(), |at| at + 1);
        let next = self.beginnings().range(address + 1..).next().copied().unwrap_or(end_of_section);
        let end = next.max(address + string_bytes as u64).min(end_of_section);
        self.range(section, address, end, depth)
    }

    /// Bytes and pointers from one address to another in a section. Zeros at the end are as good as none: what is not
    /// there is padded with them.
    fn range(&mut self, section: &Section<'_>, start: u64, end: u64, depth: u32) -> Result<Reference, String> {
        let mut bytes = section.bytes_of(start, end - start).to_vec();
        // By its length, not by what the file holds of it: pointers may lie in what is zero.
        self.bytes_read = self.bytes_read.saturating_add(usize::try_from(end - start).unwrap_or(usize::MAX));
        if self.bytes_read > CONTENT_LIMIT_BYTES {
            return Err(format!("more than {} MiB of data are referred to", CONTENT_LIMIT_BYTES >> 20));
        }
        let (mut pointers, mut targets) = (String::new(), Vec::new());
        let places: Vec<(u64, Relocation)> = self
            .code
            .image
            .relocations
            .range(start..end)
            .map(|(place, relocation)| (*place, relocation.clone()))
            .collect();
        for (place, relocation) in places {
            let offset = usize::try_from(place - start).unwrap_or(usize::MAX);
            bytes.iter_mut().skip(offset).take(8).for_each(|byte| *byte = 0);
            let pointee = self.relocated(&relocation, depth + 1)?;
            // Writing to a String does not fail.
            let _ = write!(pointers, "; {offset}: {}", pointee.text);
            targets.extend(pointee.targets);
        }
        let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let text = shown(&bytes[..used]);
        if pointers.len() > 4 * SHOWN_BYTES {
            pointers = format!("; pointers {}", &hexadecimal(&Sha256::digest(&pointers))[..32]);
        }
        Ok(Reference { text: format!("{text}{pointers}"), targets })
    }

    /// Where the table of a `switch` leads to, if there is one at the address: distances to instructions of the function
    /// from the table's own beginning. It ends where no such distance follows, or something else begins.
    fn jumps(&mut self, address: u64, (start, end): (u64, u64)) -> Option<String> {
        let section = self.code.image.section(address).filter(|_| address.is_multiple_of(4))?;
        let target = |place: u64| {
            let bytes = section.bytes_of(place, 4).try_into().ok()?;
            let target = address.checked_add_signed(i64::from(i32::from_le_bytes(bytes)))?;
            (start..end).contains(&target).then_some(target)
        };
        target(address)?;
        let next = self.beginnings().range(address + 1..).next().copied().unwrap_or(u64::MAX);
        let places = (0..JUMPS_LIMIT).map(|index| address.saturating_add(4 * index)).take_while(|place| *place < next);
        let mut positions: Vec<String> = places.map_while(target).map(|target| self.code.position(target)).collect();
        while positions.last().is_some_and(|last| last == "-") {
            positions.pop();
        }
        Some(format!("jumps {}", positions.join(" ")))
    }

    fn beginnings(&mut self) -> &BTreeSet<u64> {
        let code = self.code;
        self.beginnings.get_or_insert_with(|| beginnings(code))
    }
}

/// All addresses that the program's code and relocations name, and where its variables begin.
fn beginnings(code: &Code<'_>) -> BTreeSet<u64> {
    let image = code.image;
    let mut beginnings: BTreeSet<u64> = image.variables.iter().map(|variable| variable.start).collect();
    beginnings.extend(image.relocations.values().filter_map(|relocation| match relocation {
        Relocation::Own(address) => Some(*address),
        Relocation::Foreign(_) => None,
    }));
    let mut instruction = Instruction::default();
    for section in image.sections.iter().filter(|section| section.kind == Kind::Code) {
        let mut decoder = Decoder::with_ip(64, section.bytes, section.start, DecoderOptions::NONE);
        while decoder.can_decode() {
            decoder.decode_out(&mut instruction);
            if instruction.is_ip_rel_memory_operand() {
                beginnings.insert(instruction.ip_rel_memory_address());
            }
        }
    }
    beginnings
}

/// Whether a text is a version (`7.0.15`, `8.0.0-rc1`), a commit, or an id of a build (`host-1700000000`).
fn is_stamp(text: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_hexadecimal = COMMIT_LENGTHS.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    // A number may be a setting.
    let is_commit = is_hexadecimal && (!is_number(text) || text.bytes().all(|byte| byte == b'0'));
    let is_build = text.rsplit_once('-').is_some_and(|(_, time)| time.len() >= TIME_DIGITS && is_number(time));
    let (version, label) = text.split_once('-').unwrap_or((text, "rc1"));
    let is_version = version.split('.').count() == 3
        && version.split('.').all(is_number)
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_commit || is_build || is_version
}

/// The symbol without what compilers append to distinguish static variables of one name.
fn name(symbol: &str) -> String {
    let name = symbol::normal_form(symbol);
    match name.rsplit_once('.') {
        Some((name, digits)) if !name.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => name.to_owned(),
        _ => name.to_owned(),
    }
}

/// A literal as a number; the bytes that the file does not hold are zero.
fn number(bytes: &[u8], size: u64) -> String {
    let reversed: Vec<u8> = bytes.iter().rev().copied().collect();
    format!("={size}:{}", hexadecimal(&reversed))
}

/// Bytes as a string where they are printable, in hexadecimal where they are few, else by their digest.
fn shown(bytes: &[u8]) -> String {
    if bytes.len() > SHOWN_BYTES {
        return format!("{} bytes {}", bytes.len(), &hexadecimal(&Sha256::digest(bytes))[..32]);
    }
    let is_plain = |byte: &u8| (b' '..=b'~').contains(byte) && !b"\"\\@".contains(byte);
    match bytes {
        [] => "0".to_owned(),
        _ if bytes.iter().all(is_plain) => format!("\"{}\"", String::from_utf8_lossy(bytes)),
        _ => format!("0x{}", hexadecimal(bytes)),
    }
}
