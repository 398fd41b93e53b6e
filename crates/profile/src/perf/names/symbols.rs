//! Functions by the symbol tables of ELF files.

use object::{Object, ObjectSymbol, SymbolKind};

use crate::symbol;

/// Functions in the order of their addresses.
pub(super) struct Symbols(Vec<Symbol>);

struct Symbol {
    start: u64,
    /// 0 where the file does not say it, as for functions written in assembler.
    size: u64,
    name: String,
}

impl Symbols {
    /// Those of the symbol table, or what a stripped file has left.
    pub(super) fn of(file: &object::File<'_>) -> Self {
        let mut symbols: Vec<Symbol> = file.symbols().filter_map(|symbol| function(&symbol)).collect();
        if symbols.is_empty() {
            symbols = file.dynamic_symbols().filter_map(|symbol| function(&symbol)).collect();
        }
        // Of several names of one place the longest function comes last, and is the one that is found.
        symbols.sort_by(|a, b| (a.start, a.size).cmp(&(b.start, b.size)).then_with(|| b.name.cmp(&a.name)));
        Self(symbols)
    }

    pub(super) fn name(&self, address: u64) -> Option<&str> {
        let before = self.0.partition_point(|symbol| symbol.start <= address);
        let symbol = self.0.get(before.checked_sub(1)?)?;
        (symbol.size == 0 || address - symbol.start < symbol.size).then(|| symbol::normal_form(&symbol.name))
    }
}

fn function(symbol: &object::Symbol<'_, '_>) -> Option<Symbol> {
    if symbol.kind() != SymbolKind::Text || !symbol.is_definition() {
        return None;
    }
    let name = symbol.name().ok().filter(|name| !name.is_empty())?;
    Some(Symbol { start: symbol.address(), size: symbol.size(), name: name.to_owned() })
}
