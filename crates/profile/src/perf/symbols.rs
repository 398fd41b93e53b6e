//! Functions by symbols: those of ELF files and of the running kernel.

use std::cmp::Reverse;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::Range;

use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

use crate::symbol;

/// Stubs that jump to functions of other files; their own symbols are in no table.
const STUB_SECTIONS: [&str; 3] = [".plt", ".plt.got", ".plt.sec"];
const STUB: &str = "[plt]";
const KERNEL_SYMBOLS: &str = "/proc/kallsyms";
/// A kernel with many modules has some 20 MB of them.
const KERNEL_SYMBOLS_LIMIT_BYTES: u64 = 256 << 20;
/// perf notes down where one of these lies.
const KERNEL_STARTS: [&str; 2] = ["_text", "_stext"];

pub(super) struct Symbols {
    /// In the order of their addresses.
    functions: Vec<Symbol>,
    stubs: Vec<Range<u64>>,
}

struct Symbol {
    start: u64,
    /// Behind the last byte.
    end: u64,
    is_weak: bool,
    is_global: bool,
    name: String,
}

impl Symbols {
    /// Those of the symbol table, or what a stripped file has left.
    pub(super) fn of(file: &object::File<'_>) -> Self {
        let mut functions: Vec<Symbol> = file.symbols().filter_map(|symbol| function(file, &symbol)).collect();
        if functions.is_empty() {
            functions = file.dynamic_symbols().filter_map(|symbol| function(file, &symbol)).collect();
        }
        // Of several names of one place the last is found.
        functions.sort_by(|a, b| preference(a).cmp(&preference(b)));
        let stubs = STUB_SECTIONS.iter().filter_map(|name| file.section_by_name(name)).map(|section| range(&section));
        Self { functions, stubs: stubs.collect() }
    }

    pub(super) fn name(&self, address: u64) -> Option<&str> {
        if self.stubs.iter().any(|stubs| stubs.contains(&address)) {
            return Some(STUB);
        }
        let before = self.functions.partition_point(|symbol| symbol.start <= address);
        let symbol = self.functions.get(before.checked_sub(1)?)?;
        (address < symbol.end).then(|| symbol::normal_form(&symbol.name))
    }
}

/// Orders symbols, at one place by what perf prefers too: the longest function, and the name that its users know.
fn preference(symbol: &Symbol) -> impl Ord {
    let underscores = symbol.name.bytes().take_while(|byte| *byte == b'_').count();
    (symbol.start, symbol.end, !symbol.is_weak, symbol.is_global, Reverse(underscores), Reverse(&symbol.name))
}

fn function(file: &object::File<'_>, symbol: &object::Symbol<'_, '_>) -> Option<Symbol> {
    if symbol.kind() != SymbolKind::Text || !symbol.is_definition() {
        return None;
    }
    let name = symbol.name().ok().filter(|name| !name.is_empty())?;
    let start = symbol.address();
    let end = match symbol.size() {
        // As of functions written in assembler: up to the next one, but not beyond the section.
        0 => range(&file.section_by_index(symbol.section_index()?).ok()?).end,
        size => start.saturating_add(size),
    };
    Some(Symbol { start, end, is_weak: symbol.is_weak(), is_global: symbol.is_global(), name: name.to_owned() })
}

fn range<'data>(section: &impl ObjectSection<'data>) -> Range<u64> {
    section.address()..section.address().saturating_add(section.size())
}

/// Functions by their address, in order; empty when they are secret, or those of another start of the machine.
#[derive(Default)]
pub(super) struct KernelSymbols(Vec<(u64, String)>);

impl KernelSymbols {
    /// Those of the running kernel, if `start` is where its code begins.
    pub(super) fn running(start: u64) -> Self {
        File::open(KERNEL_SYMBOLS).map_or_else(|_| Self::default(), |file| Self::read(BufReader::new(file), start))
    }

    /// Lines such as `ffffffff81000000 T _stext`, with a module's name behind where there is one.
    fn read(input: impl BufRead, start: u64) -> Self {
        let mut symbols = Vec::new();
        let mut is_same = false;
        for line in input.take(KERNEL_SYMBOLS_LIMIT_BYTES).lines().map_while(Result::ok) {
            let mut words = line.split_whitespace();
            let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next()) else { continue };
            let Ok(address) = u64::from_str_radix(address, 16) else { continue };
            is_same |= address == start && address != 0 && KERNEL_STARTS.contains(&name);
            if matches!(kind, "t" | "T" | "w" | "W") {
                symbols.push((address, name.to_owned()));
            }
        }
        if !is_same {
            return Self::default();
        }
        symbols.sort_by_key(|(address, _)| *address);
        // Of several names for one place the first is kept: it is the one that the kernel lists first itself.
        symbols.dedup_by_key(|(address, _)| *address);
        Self(symbols)
    }

    /// The name in its normal form.
    pub(super) fn name(&self, address: u64) -> Option<&str> {
        let before = self.0.partition_point(|(start, _)| *start <= address);
        self.0.get(before.checked_sub(1)?).map(|(_, name)| symbol::normal_form(name))
    }
}

#[cfg(test)]
mod tests {
    use super::{KernelSymbols, Symbol, Symbols, preference};

    const LIST: &str = "\
ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000100 t vfs_read
ffffffff81000100 t alias_of_it
ffffffff81000150 D a_variable
ffffffff81000200 t tcp_sendmsg.isra.0\t[tcp]
";

    fn symbol(start: u64, end: u64, is_weak: bool, is_global: bool, name: &str) -> Symbol {
        Symbol { start, end, is_weak, is_global, name: name.to_owned() }
    }

    #[test]
    fn of_several_names_the_one_that_users_know() {
        let mut functions = vec![
            symbol(10, 20, false, true, "read"),
            symbol(10, 20, false, true, "__read"),
            symbol(10, 20, false, false, "a_local_name"),
            symbol(10, 20, true, true, "a_weak_name"),
            symbol(10, 15, false, true, "a_shorter_one"),
            symbol(30, 40, false, true, "write.part.0"),
        ];
        functions.sort_by(|a, b| preference(a).cmp(&preference(b)));
        let stubs = std::iter::once(32..34).collect();
        let symbols = Symbols { functions, stubs };
        let names = [9, 10, 19, 20, 31, 33, 40].map(|address| symbols.name(address));
        assert_eq!(names, [None, Some("read"), Some("read"), None, Some("write"), Some("[plt]"), None]);
    }

    #[test]
    fn the_function_is_the_one_that_begins_before() {
        let symbols = KernelSymbols::read(LIST.as_bytes(), 0xffff_ffff_8100_0000);
        assert_eq!(symbols.name(0xffff_ffff_8100_01ff), Some("vfs_read"));
        assert_eq!(symbols.name(0xffff_ffff_8100_0200), Some("tcp_sendmsg"));
        assert_eq!(symbols.name(0xffff_ffff_8100_0300), Some("tcp_sendmsg"));
        assert_eq!(symbols.name(0x1000), None);
    }

    #[test]
    fn symbols_of_another_start_or_kept_secret_are_not_used() {
        assert_eq!(KernelSymbols::read(LIST.as_bytes(), 0xffff_ffff_9100_0000).name(u64::MAX), None);
        let secret = LIST.replace("ffffffff81", "0000000000");
        assert_eq!(KernelSymbols::read(secret.as_bytes(), 0).name(u64::MAX), None);
    }
}
