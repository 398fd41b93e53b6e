//! Executed instructions as text without addresses.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use iced_x86::{
    CpuidFeature, Decoder, DecoderOptions, EncodingKind, Formatter, Instruction, IntelFormatter, MemorySizeOptions,
    Mnemonic, OpKind, Register, SymbolResolver, SymbolResult,
};
use sha2::{Digest, Sha256};

use super::data::{Data, Reference};
use super::image::{Image, Kind, Relocation, variable_at};
use super::{Counts, Line, Node, Times};
use crate::elf::hexadecimal;
use crate::functions::CodePlaces;
use crate::symbol;

/// Longest instruction of x86-64.
const INSTRUCTION_BYTES: u64 = 15;
/// More would be no server's.
const INSTRUCTIONS_LIMIT: usize = 4_000_000;
/// What is not executed, so that it does not matter which code it is.
const NOT_EXECUTED: &str = "-";

/// Functions that compilers add to each program. They refer to where the linker ends sections, which no symbol
/// distinguishes from what lies there.
const START_FILES: [&str; 4] = ["register_tm_clones", "deregister_tm_clones", "__do_global_dtors_aux", "frame_dummy"];

/// Where an executed instruction stands: index of its function, position among those of the function.
type Place = (u32, u32);

/// The executed instructions of a program, by which addresses of code are described.
pub(super) struct Code<'a> {
    pub(super) image: &'a Image<'a>,
    places: HashMap<u64, Place>,
}

struct Function {
    start: u64,
    end: u64,
    instructions: Vec<(Instruction, Times)>,
}

/// Texts and nodes of what was executed; the error is why they cannot be listed.
pub(super) fn list(image: &Image<'_>, counts: &Counts) -> Result<(Vec<String>, Vec<Node>), String> {
    let (functions, places) = functions(image, counts)?;
    let code = Code { image, places };
    let mut data = Data::new(&code, functions.len());
    let mut texts = Texts::default();
    let mut writer = Writer::new();
    let mut nodes = Vec::new();
    for function in &functions {
        let mut lines = Vec::with_capacity(function.instructions.len());
        for (instruction, times) in &function.instructions {
            let mut reference = reference(&code, &mut data, function, instruction)?;
            if let Some(reference) = reference.as_mut().filter(|_| *times == Times::default()) {
                reference.leave_stamp_out();
            }
            let (text, targets) = reference.map_or((None, Vec::new()), |one| (Some(one.text), one.targets));
            lines.push(Line(texts.index(writer.text(instruction, text))?, *times, targets));
        }
        let name = image.functions.get(&function.start).map_or("", |name| symbol::normal_form(name));
        nodes.push(Node { name: name.to_owned(), code: true, lines });
    }
    let mut wide = Vec::new();
    for function in wide_functions(&code) {
        let content = wide_content(&code, &mut data, &mut writer, &function)?;
        let name = image.functions.get(&function.start).map_or("", |name| symbol::normal_form(name));
        wide.push((name.to_owned(), content));
    }
    while let Some((name, content)) = data.next()? {
        nodes.push(Node { name, code: false, lines: vec![texts.content(content)?] });
    }
    for (name, content) in wide {
        nodes.push(Node { name, code: false, lines: vec![texts.content(content)?] });
    }
    let layout = data.layout().into_iter().map(|place| texts.content(place)).collect::<Result<_, _>>()?;
    nodes.push(Node { name: "the layout of variables".to_owned(), code: false, lines: layout });
    let link = texts.content(Reference::plain(&image.link()))?;
    nodes.push(Node { name: "the link".to_owned(), code: false, lines: vec![link] });
    Ok((texts.table, nodes))
}

/// A symbol's normal form, and the file of the function; empty where it is not known.
pub type FunctionName = (String, String);

/// The lines of an assert that is written in several.
const ASSERT_LINES: u32 = 10;

/// What the code of a function is, wherever a linker puts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionCode {
    /// Of its instructions and the constants that they read, without names.
    pub digest: String,
    /// The functions and variables that the instructions refer to, in their order.
    pub names: Vec<String>,
    /// The functions that are inlined into it.
    pub inlined: Vec<FunctionName>,
}

/// The code of a symbol.
struct Body<'a> {
    name: &'a str,
    file: &'a str,
    text: String,
    targets: Vec<u32>,
    holders: BTreeSet<FunctionName>,
}

/// Of a symbol: the digest of its code, what that refers to, the functions that are inlined into it.
type Piece = ([u8; 32], Vec<String>, BTreeSet<FunctionName>);

/// The code of all functions: of a function and its parts together. What an address refers to that cannot be named is left
/// out of it, and so are numbers of lines, which asserts hold.
pub(super) fn of_functions(
    image: &Image<'_>,
    places: &CodePlaces,
) -> Result<BTreeMap<FunctionName, FunctionCode>, String> {
    let (functions, instruction_places) = functions(image, &everything(image))?;
    let code = Code { image, places: instruction_places };
    let mut data = Data::new(&code, functions.len());
    let mut writer = Writer::new();
    let mut bodies = Vec::with_capacity(functions.len());
    for function in &functions {
        let name = image.functions.get(&function.start).map_or("", |name| symbol::normal_form(name));
        let holders = places.holders(function.start, function.end).into_iter();
        let holders = holders.map(|holder| (holder.name.clone(), holder.file.clone())).collect();
        let file = places.file(function.start);
        let mut body = Body { name, file, text: String::new(), targets: Vec::new(), holders };
        for (instruction, _) in &function.instructions {
            let reference = reference(&code, &mut data, function, instruction).unwrap_or_default();
            let (text, referred) = reference.map_or((None, Vec::new()), |mut reference| {
                reference.leave_stamp_out();
                (Some(reference.text), reference.targets)
            });
            let instruction = without_line(*instruction, places.line(instruction.ip()));
            body.text.push_str(&writer.text(&instruction, text));
            body.text.push('\n');
            body.targets.extend(referred);
        }
        bodies.push(body);
    }
    let contents = contents(&mut data);
    let mut by_name: BTreeMap<FunctionName, Vec<Piece>> = BTreeMap::new();
    for body in bodies.iter().filter(|body| !body.name.is_empty()) {
        let (mut hash, mut names) = (Sha256::new_with_prefix(&body.text), Vec::new());
        for target in body.targets.iter().map(|target| *target as usize) {
            if let Some(function) = bodies.get(target) {
                // A function refers to itself by whatever it is called.
                names.extend((function.name != body.name).then(|| function.name.to_owned()));
            } else if let Some((variable, constant)) = contents.get(target - bodies.len()) {
                names.push(without_number(variable).to_owned());
                hash.update(constant);
            }
            hash.update([0]);
        }
        let name = (body.name.to_owned(), body.file.to_owned());
        let inlined = body.holders.iter().filter(|holder| **holder != name).cloned().collect();
        by_name.entry(name).or_default().push((hash.finalize().into(), names, inlined));
    }
    Ok(by_name.into_iter().map(|(name, pieces)| (name, together(pieces))).collect())
}

/// The name of a variable without the number that compilers give to those that are defined in functions.
fn without_number(variable: &str) -> &str {
    let name = symbol::normal_form(variable);
    match name.rsplit_once('.') {
        Some((rest, number)) if !rest.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => rest,
        _ => name,
    }
}

/// The code of a function, and of what compilers split from it.
fn together(mut pieces: Vec<Piece>) -> FunctionCode {
    pieces.sort_unstable();
    let mut hash = Sha256::new();
    let (mut names, mut inlined) = (Vec::new(), BTreeSet::new());
    for (digest, of_piece, holders) in pieces {
        hash.update(digest);
        names.extend(of_piece);
        inlined.extend(holders);
    }
    FunctionCode { digest: hexadecimal(&hash.finalize()), names, inlined: inlined.into_iter().collect() }
}

/// All instructions of a program, none of which was executed in a window.
fn everything(image: &Image<'_>) -> Counts {
    let mut all = Counts::new();
    let mut instruction = Instruction::default();
    for start in image.functions.keys() {
        let Some((start, end)) = image.function(*start) else { continue };
        let Some(section) = image.section(start) else { continue };
        let mut decoder = Decoder::with_ip(64, section.bytes_of(start, end - start), start, DecoderOptions::NONE);
        while decoder.can_decode() {
            decoder.decode_out(&mut instruction);
            if !instruction.is_invalid() {
                all.insert(instruction.ip(), Times::default());
            }
        }
    }
    all
}

/// Names of the data that was referred to, and the content of constants, in the order of their numbers.
fn contents(data: &mut Data<'_>) -> Vec<(String, String)> {
    let mut contents = Vec::new();
    loop {
        contents.push(match data.next() {
            Ok(None) => return contents,
            Ok(Some((name, content))) if content.text.starts_with("constant") => (name, content.text),
            Ok(Some((name, _))) => (name, String::new()),
            Err(_) => (String::new(), String::new()),
        });
    }
}

/// An instruction without the number of its line.
fn without_line(mut instruction: Instruction, line: u32) -> Instruction {
    let is_number = instruction.mnemonic() == Mnemonic::Mov && instruction.op1_kind() == OpKind::Immediate32;
    if is_number && line > 0 && (line..=line.saturating_add(ASSERT_LINES)).contains(&instruction.immediate32()) {
        instruction.set_immediate32(0);
    }
    instruction
}

/// Functions with instructions that valgrind does not have (AVX-512 and others), and those that only they call. Servers
/// choose them by the processor's features, so that other bodies may be executed here than where time is measured.
fn wide_functions(code: &Code<'_>) -> Vec<Function> {
    let mut wide: BTreeMap<u64, Function> = BTreeMap::new();
    let mut to_read = Vec::new();
    let mut instruction = Instruction::default();
    for section in code.image.sections.iter().filter(|section| section.kind == Kind::Code) {
        let mut decoder = Decoder::with_ip(64, section.bytes, section.start, DecoderOptions::NONE);
        while decoder.can_decode() {
            decoder.decode_out(&mut instruction);
            if is_wide(&instruction) {
                to_read.push(instruction.ip());
            }
        }
    }
    while let Some(address) = to_read.pop() {
        let Some((start, end)) = code.image.function(address) else { continue };
        if wide.contains_key(&start) {
            continue;
        }
        let Some(section) = code.image.section(start) else { continue };
        let mut decoder = Decoder::with_ip(64, section.bytes_of(start, end - start), start, DecoderOptions::NONE);
        let instructions = decoder.iter().filter(|instruction| instruction.mnemonic() != Mnemonic::Nop);
        let instructions: Vec<_> = instructions.map(|instruction| (instruction, Times::default())).collect();
        let called = instructions.iter().filter(|(instruction, _)| has_near_branch(instruction));
        let targets = called.map(|(instruction, _)| instruction.near_branch_target());
        to_read.extend(targets.filter(|target| !code.places.contains_key(target) && !code.is_trampoline(*target)));
        wide.insert(start, Function { start, end, instructions });
    }
    wide.into_values().collect()
}

/// Whether valgrind offers a processor without an instruction (valgrind 3.19 has AVX2, BMI and AES).
fn is_wide(instruction: &Instruction) -> bool {
    use CpuidFeature::{AVX_IFMA, AVX_VNNI, AVX_VNNI_INT8, GFNI, SHA, VAES, VPCLMULQDQ};
    instruction.code().encoding() == EncodingKind::EVEX
        || (instruction.cpuid_features().iter())
            .any(|feature| [AVX_IFMA, AVX_VNNI, AVX_VNNI_INT8, GFNI, SHA, VAES, VPCLMULQDQ].contains(feature))
}

/// All instructions of a function as one text, jumps within it by the number of their target.
fn wide_content(
    code: &Code<'_>,
    data: &mut Data<'_>,
    writer: &mut Writer,
    function: &Function,
) -> Result<Reference, String> {
    let positions: HashMap<u64, usize> =
        function.instructions.iter().enumerate().map(|(at, (instruction, _))| (instruction.ip(), at)).collect();
    let (mut body, mut targets) = (String::new(), Vec::new());
    for (instruction, _) in &function.instructions {
        let target = has_near_branch(instruction).then(|| instruction.near_branch_target());
        let position = target.and_then(|target| positions.get(&target));
        let reference = match position {
            Some(position) => Some(Reference::plain(&format!("#{position}"))),
            None => reference(code, data, function, instruction)?,
        };
        let (text, referred) =
            reference.map_or((None, Vec::new()), |reference| (Some(reference.text), reference.targets));
        body.push_str(&writer.text(instruction, text));
        body.push('\n');
        targets.extend(referred);
    }
    // One `@` in a text stands for each target.
    let references = vec!["@"; targets.len()].join(" ");
    let digest = hexadecimal(&Sha256::digest(&body));
    Ok(Reference { text: format!("instructions for wide vectors {} {references}", &digest[..32]), targets })
}

fn functions(image: &Image<'_>, counts: &Counts) -> Result<(Vec<Function>, HashMap<u64, Place>), String> {
    if counts.len() > INSTRUCTIONS_LIMIT {
        return Err(format!("more than {INSTRUCTIONS_LIMIT} instructions were executed"));
    }
    let mut by_start: BTreeMap<u64, Function> = BTreeMap::new();
    let mut places = HashMap::new();
    for (address, times) in counts {
        let section = image.section(*address).ok_or_else(|| format!("there is no code at {address:#x}"))?;
        if section.kind == Kind::Trampolines {
            continue;
        }
        let (start, end) = image.function(*address).ok_or_else(|| format!("there is no code at {address:#x}"))?;
        let bytes = section.bytes_of(*address, INSTRUCTION_BYTES);
        let instruction = Decoder::with_ip(64, bytes, *address, DecoderOptions::NONE).decode();
        if instruction.is_invalid() {
            return Err(format!("there is no instruction at {address:#x}"));
        }
        let index = by_start.len();
        let known = by_start.contains_key(&start);
        let function = by_start.entry(start).or_insert(Function { start, end, instructions: Vec::new() });
        // Functions come in the order of addresses, as instructions do.
        let number = u32::try_from(if known { index - 1 } else { index }).map_err(|_| "too many functions")?;
        let position = u32::try_from(function.instructions.len()).map_err(|_| "too many instructions")?;
        places.insert(*address, (number, position));
        let is_of_start_files = image.functions.get(&start).is_some_and(|name| START_FILES.contains(&name.as_str()));
        if instruction.mnemonic() != Mnemonic::Nop && !is_of_start_files {
            function.instructions.push((instruction, *times));
        }
    }
    Ok((by_start.into_values().collect(), places))
}

impl Code<'_> {
    /// What is at an address of code.
    pub(super) fn reference(&self, address: u64) -> Reference {
        if self.is_trampoline(address) {
            return match self.image.imported(address) {
                Some(Relocation::Own(own)) if !self.is_trampoline(*own) => self.reference(*own),
                Some(Relocation::Foreign(name)) => Reference::plain(name),
                // Nothing is the same as this, unless it lies at the same place.
                Some(Relocation::Own(_)) | None => Reference::plain(&format!("a jump at {address:#x}")),
            };
        }
        match self.places.get(&address) {
            Some((function, 0)) => Reference { text: "@".to_owned(), targets: vec![*function] },
            Some((function, position)) => Reference { text: format!("@#{position}"), targets: vec![*function] },
            None => Reference::plain(NOT_EXECUTED),
        }
    }

    fn is_trampoline(&self, address: u64) -> bool {
        self.image.section(address).is_some_and(|section| section.kind == Kind::Trampolines)
    }

    /// The position of an instruction in the function that `within` is an address of.
    pub(super) fn position(&self, address: u64) -> String {
        self.places.get(&address).map_or(NOT_EXECUTED.to_owned(), |(_, position)| format!("#{position}"))
    }
}

/// What an instruction's address refers to; none where it has none.
fn reference(
    code: &Code<'_>,
    data: &mut Data<'_>,
    function: &Function,
    instruction: &Instruction,
) -> Result<Option<Reference>, String> {
    if has_near_branch(instruction) {
        let target = instruction.near_branch_target();
        let is_inside = (function.start..function.end).contains(&target) && !instruction.is_call_near();
        return Ok(Some(if is_inside { Reference::plain(&code.position(target)) } else { code.reference(target) }));
    }
    if instruction.is_ip_rel_memory_operand() {
        let reads = instruction.mnemonic() != Mnemonic::Lea;
        let size = if reads { instruction.memory_size().size() as u64 } else { 0 };
        return data.operand(instruction.ip_rel_memory_address(), size, (function.start, function.end)).map(Some);
    }
    Ok(thread_variable(code.image, instruction).map(|address| data.thread_variable(address)))
}

fn has_near_branch(instruction: &Instruction) -> bool {
    instruction.op_count() > 0 && instruction.op0_kind() == OpKind::NearBranch64
}

/// The address in the thread's block of an operand that names a variable there.
fn thread_variable(image: &Image<'_>, instruction: &Instruction) -> Option<u64> {
    let is_plain = instruction.segment_prefix() == Register::FS
        && instruction.memory_base() == Register::None
        && instruction.memory_index() == Register::None;
    let displacement = instruction.memory_displacement64().cast_signed();
    let address = image.thread_block_bytes.checked_add_signed(displacement).filter(|_| is_plain && displacement < 0)?;
    variable_at(&image.thread_variables, address).map(|_| address)
}

#[derive(Default)]
struct Texts {
    table: Vec<String>,
    known: HashMap<String, u32>,
}

impl Texts {
    /// A line that is not executed.
    fn content(&mut self, content: Reference) -> Result<Line, String> {
        Ok(Line(self.index(content.text)?, Times::default(), content.targets))
    }

    fn index(&mut self, text: String) -> Result<u32, String> {
        if let Some(known) = self.known.get(&text) {
            return Ok(*known);
        }
        let index = u32::try_from(self.table.len()).map_err(|_| "too many instructions")?;
        self.table.push(text.clone());
        self.known.insert(text, index);
        Ok(index)
    }
}

/// Writes instructions, an address of theirs as the text that stands for it.
struct Writer {
    formatter: IntelFormatter,
    reference: Rc<RefCell<Option<String>>>,
}

struct Resolver(Rc<RefCell<Option<String>>>);

impl SymbolResolver for Resolver {
    fn symbol(
        &mut self,
        instruction: &Instruction,
        _operand: u32,
        instruction_operand: Option<u32>,
        address: u64,
        _address_size: u32,
    ) -> Option<SymbolResult<'_>> {
        let kind = instruction.try_op_kind(instruction_operand?).ok()?;
        let text = self.0.borrow_mut().take_if(|_| matches!(kind, OpKind::NearBranch64 | OpKind::Memory))?;
        Some(SymbolResult::with_string(address, text))
    }
}

impl Writer {
    fn new() -> Self {
        let reference = Rc::new(RefCell::new(None));
        let mut formatter = IntelFormatter::with_options(Some(Box::new(Resolver(Rc::clone(&reference)))), None);
        formatter.options_mut().set_memory_size_options(MemorySizeOptions::Always);
        formatter.options_mut().set_show_branch_size(false);
        Self { formatter, reference }
    }

    fn text(&mut self, instruction: &Instruction, reference: Option<String>) -> String {
        *self.reference.borrow_mut() = reference;
        let mut text = String::new();
        self.formatter.format(instruction, &mut text);
        *self.reference.borrow_mut() = None;
        text
    }
}
