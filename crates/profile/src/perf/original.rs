//! Debug information of a program whose functions were put into another order.
//!
//! Placements of a build are linked without debug information from the code that the build's own program was linked
//! from: their functions have the same names and sizes, and only lie elsewhere.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use object::{Object, ObjectSymbol, SymbolKind};

use super::images;

const LIMIT_BYTES: u64 = 1 << 30;

/// The program as it was built, with the debug information.
pub(super) struct Original(Vec<u8>);

impl Original {
    /// None when it is not a file that can be read.
    pub(super) fn read(path: &Path) -> Option<Self> {
        images::read_limited(path, LIMIT_BYTES).map(Self)
    }

    pub(super) fn file(&self) -> Option<object::File<'_>> {
        object::File::parse(&*self.0).ok()
    }
}

/// Where each function of a program lies in another one that has the same functions in another order.
pub(super) struct Moves(Vec<Move>);

struct Move {
    from: Range<u64>,
    to: u64,
}

impl Moves {
    /// None when the functions of the two, by name and size, are not the same: they are not of the same code.
    ///
    /// Functions of one name, which are of different files, have the same order in both tables of symbols: the linker
    /// takes the files in the same order.
    pub(super) fn between(program: &object::File<'_>, original: &object::File<'_>) -> Option<Self> {
        let mut targets = functions(original);
        let mut moves = Vec::new();
        let sources = functions(program);
        if sources.is_empty() || sources.len() != targets.len() {
            return None;
        }
        for (name, ranges) in sources {
            let of_original = targets.remove(name)?;
            let sizes = |ranges: &[Range<u64>]| ranges.iter().map(|range| range.end - range.start).collect::<Vec<_>>();
            if sizes(&ranges) != sizes(&of_original) {
                return None;
            }
            moves.extend(ranges.into_iter().zip(of_original).map(|(from, to)| Move { from, to: to.start }));
        }
        moves.sort_by_key(|moved| (moved.from.start, moved.from.end));
        Some(Self(moves))
    }

    /// The place in the original; none for an address that is in no function, such as that of a stub.
    pub(super) fn place(&self, address: u64) -> Option<u64> {
        let before = self.0.partition_point(|moved| moved.from.start <= address);
        let moved = self.0.get(before.checked_sub(1)?)?;
        moved.from.contains(&address).then(|| moved.to.saturating_add(address - moved.from.start))
    }
}

/// The functions of known size by name, those of one name in the order of the table.
fn functions<'a>(file: &'a object::File<'_>) -> HashMap<&'a str, Vec<Range<u64>>> {
    let mut functions: HashMap<&str, Vec<Range<u64>>> = HashMap::new();
    for symbol in file.symbols() {
        if symbol.kind() != SymbolKind::Text || !symbol.is_definition() || symbol.size() == 0 {
            continue;
        }
        let (Ok(name), Some(end)) = (symbol.name(), symbol.address().checked_add(symbol.size())) else { continue };
        functions.entry(name).or_default().push(symbol.address()..end);
    }
    functions
}
