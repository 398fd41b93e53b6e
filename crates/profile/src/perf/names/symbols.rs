//! Functions by the symbol tables of ELF files.

use std::cmp::Reverse;
use std::ops::Range;

use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

use crate::symbol;

/// Stubs that jump to functions of other files; their own symbols are in no table.
const STUB_SECTIONS: [&str; 3] = [".plt", ".plt.got", ".plt.sec"];
const STUB: &str = "[plt]";

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

#[cfg(test)]
mod tests {
    use super::{Symbol, Symbols, preference};

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
}
