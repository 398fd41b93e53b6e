//! Lines of a dump: their parts, the state that they refer to, and its change from line to line.

use std::collections::HashMap;
use std::io::BufRead;

use super::{CallCost, Cost, Dump, FunctionNames, NameId, OwnCost, ReadError, Syntax};

const INSTRUCTIONS: &str = "Ir";
const SYSCALLS: &str = "sysCount";
const LINE: &str = "line";
const ADDRESS: &str = "instr";
/// What callgrind writes for a file or object that it does not know.
const UNKNOWN: &str = "???";

pub(super) fn read(mut input: impl BufRead) -> Result<Dump, ReadError> {
    let mut reader = Reader::default();
    let mut bytes = Vec::new();
    let mut line = 0;
    while input.read_until(b'\n', &mut bytes)? > 0 {
        line += 1;
        let text = String::from_utf8_lossy(&bytes);
        reader.line(text.trim_end()).map_err(|syntax| ReadError::Line { line, syntax })?;
        bytes.clear();
    }
    reader.finish()
}

/// Where the events stand on a cost line.
#[derive(Clone, Copy)]
struct Columns {
    events: usize,
    instructions: usize,
    syscalls: Option<usize>,
}

#[derive(Default)]
struct Called {
    object: Option<NameId>,
    file: Option<NameId>,
    symbol: Option<NameId>,
}

/// What the next line of positions belongs to, if not to the function itself.
enum Pending {
    Calls { callee: u32, calls: u64 },
    Jump,
}

#[derive(Default)]
struct Reader {
    dump: Dump,
    names: Names,
    function_ids: HashMap<FunctionNames, u32>,
    columns: Option<Columns>,
    positions: Positions,
    object: Option<NameId>,
    /// `fl=`: where the functions that follow begin.
    function_file: Option<NameId>,
    /// `fl=`, `fi=` or `fe=`: where what follows lies.
    file: Option<NameId>,
    /// Where the last cost of a function itself lies. Callgrind writes files and positions as differences to that,
    /// not to the calls in between (valgrind, `callgrind/dump.c`, `fprint_jcc`).
    file_of_last_own: Option<NameId>,
    /// Whether `file` was written for calls and costs of the function itself lie elsewhere.
    file_is_of_calls: bool,
    function: Option<u32>,
    /// `cob=`, `cfi=` and `cfn=` of the calls that follow.
    called: Called,
    pending: Option<Pending>,
    instructions_sum: u128,
    instructions_stated: u128,
    /// `summary:` lines without a `totals:` line so far: a dump begins with the one and ends with the other.
    parts_open: u64,
    totals_seen: bool,
}

struct Positions {
    /// Those of the last cost of a function itself.
    last: Vec<u64>,
    /// Which of them is the source line; none when lines are not written.
    line: Option<usize>,
    /// Which of them is the instruction's address; none when addresses are not written.
    address: Option<usize>,
}

impl Default for Positions {
    fn default() -> Self {
        Self { last: vec![0], line: Some(0), address: None }
    }
}

impl Reader {
    fn line(&mut self, text: &str) -> Result<(), Syntax> {
        match text.as_bytes().first() {
            None | Some(b'#') => Ok(()),
            Some(b'0'..=b'9' | b'+' | b'-' | b'*') => self.cost(text),
            Some(_) if self.pending.is_some() => Err(Syntax::CallWithoutCost),
            Some(_) => self.keyword(text),
        }
    }

    fn keyword(&mut self, text: &str) -> Result<(), Syntax> {
        let end = text.find(['=', ':']).ok_or_else(|| Syntax::Unknown(text.to_owned()))?;
        let (key, value) = (&text[..end], &text[end + 1..]);
        if text.as_bytes()[end] == b':' {
            return self.header(key, value);
        }
        match key {
            "ob" => self.object = Some(self.names.read(Kind::Object, value)?),
            "fl" => {
                self.function_file = Some(self.names.read(Kind::File, value)?);
                self.begin_in(self.function_file);
            }
            "fi" | "fe" => {
                self.file = Some(self.names.read(Kind::File, value)?);
                self.file_is_of_calls = false;
            }
            "fn" => {
                let symbol = self.names.read(Kind::Function, value)?;
                let (object, file) = (self.object_or_unknown()?, self.function_file_or_unknown()?);
                self.begin_in(Some(file));
                self.function = Some(self.function(FunctionNames { object, file, symbol })?);
            }
            "cob" => self.called_next().object = Some(self.names.read(Kind::Object, value)?),
            "cfi" | "cfl" => self.called_next().file = Some(self.names.read(Kind::File, value)?),
            "cfn" => self.called_next().symbol = Some(self.names.read(Kind::Function, value)?),
            "calls" => self.calls(value)?,
            // Jumps, and the callers of `--separate-callers`, define names that later lines use.
            "frfn" | "jfn" => drop(self.names.read(Kind::Function, value)?),
            "jfi" => drop(self.names.read(Kind::File, value)?),
            "jump" | "jcnd" => self.pending = Some(Pending::Jump),
            _ => return Err(Syntax::Unknown(text.to_owned())),
        }
        Ok(())
    }

    fn header(&mut self, key: &str, value: &str) -> Result<(), Syntax> {
        match key {
            "events" => {
                let find = |event| value.split_whitespace().position(|name| name == event);
                let instructions = find(INSTRUCTIONS).ok_or_else(|| Syntax::NoInstructions(value.trim().to_owned()))?;
                let events = value.split_whitespace().count();
                self.columns = Some(Columns { events, instructions, syscalls: find(SYSCALLS) });
            }
            "positions" => {
                let find = |position| value.split_whitespace().position(|name| name == position);
                let last = vec![0; value.split_whitespace().count()];
                self.positions = Positions { last, line: find(LINE), address: find(ADDRESS) };
            }
            "summary" => self.parts_open += 1,
            "totals" => {
                let columns = self.columns.ok_or(Syntax::CostBeforeEvents)?;
                self.instructions_stated += u128::from(costs(value.split_whitespace(), columns)?.instructions);
                self.parts_open = self.parts_open.saturating_sub(1);
                self.totals_seen = true;
            }
            _ => {}
        }
        Ok(())
    }

    fn calls(&mut self, value: &str) -> Result<(), Syntax> {
        let calls = number(value.split_whitespace().next().unwrap_or_default())?;
        let next = std::mem::take(&mut self.called);
        let symbol = next.symbol.ok_or(Syntax::NoCalledFunction)?;
        let object = next.object.map_or_else(|| self.object_or_unknown(), Ok)?;
        let file = next.file.or(self.file_of_last_own).map_or_else(|| self.function_file_or_unknown(), Ok)?;
        let callee = self.function(FunctionNames { object, file, symbol })?;
        self.pending = Some(Pending::Calls { callee, calls });
        Ok(())
    }

    fn cost(&mut self, text: &str) -> Result<(), Syntax> {
        let mut words = text.split_whitespace();
        let expected = self.positions.last.len();
        let mut positions = Vec::with_capacity(expected);
        for (found, last) in self.positions.last.iter().enumerate() {
            let word = words.next().ok_or(Syntax::TooFewPositions { found, expected })?;
            positions.push(position(word, *last)?);
        }
        let at = |column: Option<usize>| column.and_then(|column| positions.get(column)).copied().unwrap_or(0);
        let (line, address) = (at(self.positions.line), at(self.positions.address));
        let line = u32::try_from(line).map_err(|_| Syntax::Position(text.to_owned()))?;
        let columns = self.columns.ok_or(Syntax::CostBeforeEvents)?;
        let cost = costs(words, columns)?;
        let function = self.function.ok_or(Syntax::NoFunction)?;
        match self.pending.take() {
            Some(Pending::Jump) => {}
            Some(Pending::Calls { callee, calls }) => {
                let file = self.file.map_or_else(|| self.function_file_or_unknown(), Ok)?;
                self.file_is_of_calls = true;
                self.dump.calls.push(CallCost { caller: function, callee, file, line, calls, inclusive: cost });
            }
            None => {
                if self.file_is_of_calls {
                    self.begin_in(self.file_of_last_own);
                }
                self.file_of_last_own = self.file;
                self.positions.last = positions;
                let file = self.file.map_or_else(|| self.function_file_or_unknown(), Ok)?;
                self.instructions_sum += u128::from(cost.instructions);
                self.dump.own.push(OwnCost { function, file, line, address, cost });
            }
        }
        Ok(())
    }

    /// Costs of a function itself lie in this file from here on.
    fn begin_in(&mut self, file: Option<NameId>) {
        self.file = file;
        self.file_of_last_own = file;
        self.file_is_of_calls = false;
    }

    /// The names of the next `calls=`. Names that no `calls=` followed are for nothing.
    fn called_next(&mut self) -> &mut Called {
        if self.called.symbol.is_some() {
            self.called = Called::default();
        }
        &mut self.called
    }

    fn finish(self) -> Result<Dump, ReadError> {
        if self.columns.is_none() {
            return Err(ReadError::NoEvents);
        }
        if self.pending.is_some() {
            return Err(ReadError::CutShort { missing: "the cost of the last calls" });
        }
        if self.parts_open > 0 {
            return Err(ReadError::CutShort { missing: "\"totals:\"" });
        }
        if self.totals_seen && self.instructions_sum != self.instructions_stated {
            return Err(ReadError::Total { sum: self.instructions_sum, stated: self.instructions_stated });
        }
        Ok(Dump { names: self.names.into_table(), ..self.dump })
    }

    fn object_or_unknown(&mut self) -> Result<NameId, Syntax> {
        self.object.map_or_else(|| self.names.unknown(), Ok)
    }

    fn function_file_or_unknown(&mut self) -> Result<NameId, Syntax> {
        self.function_file.map_or_else(|| self.names.unknown(), Ok)
    }

    fn function(&mut self, names: FunctionNames) -> Result<u32, Syntax> {
        if let Some(known) = self.function_ids.get(&names) {
            return Ok(*known);
        }
        let id = u32::try_from(self.dump.functions.len()).map_err(|_| Syntax::TooManyNames)?;
        self.dump.functions.push(names);
        self.function_ids.insert(names, id);
        Ok(id)
    }
}

/// Costs that are left out at the end of a line are 0.
fn costs<'a>(words: impl Iterator<Item = &'a str>, columns: Columns) -> Result<Cost, Syntax> {
    let mut cost = Cost::default();
    let mut found = 0;
    for word in words {
        let value = number(word)?;
        if found == columns.instructions {
            cost.instructions = value;
        } else if Some(found) == columns.syscalls {
            cost.syscalls = value;
        }
        found += 1;
    }
    if found > columns.events {
        return Err(Syntax::TooManyCosts { found, events: columns.events });
    }
    Ok(cost)
}

/// The name spaces of the numbers that stand for names.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Object,
    File,
    Function,
}

#[derive(Default)]
struct Names {
    table: Vec<String>,
    ids: HashMap<String, NameId>,
    numbered: HashMap<(Kind, u64), NameId>,
}

impl Names {
    /// The name that is written after `=`, in full or as a number.
    fn read(&mut self, kind: Kind, value: &str) -> Result<NameId, Syntax> {
        match name(value) {
            Name::Plain(name) => self.id(name),
            Name::Known(number) => self.numbered.get(&(kind, number)).copied().ok_or(Syntax::UndefinedName(number)),
            Name::Defined(number, name) => {
                let id = self.id(name)?;
                self.numbered.insert((kind, number), id);
                Ok(id)
            }
        }
    }

    fn unknown(&mut self) -> Result<NameId, Syntax> {
        self.id(UNKNOWN)
    }

    /// The names by their index.
    fn into_table(self) -> Vec<String> {
        self.table
    }

    fn id(&mut self, name: &str) -> Result<NameId, Syntax> {
        if let Some(known) = self.ids.get(name) {
            return Ok(*known);
        }
        let id = NameId::try_from(self.table.len()).map_err(|_| Syntax::TooManyNames)?;
        self.table.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        Ok(id)
    }
}

/// A decimal or `0x` hexadecimal number.
fn number(text: &str) -> Result<u64, Syntax> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None if text.starts_with('+') => return Err(Syntax::Number(text.to_owned())),
        None => text.parse(),
    };
    parsed.map_err(|_| Syntax::Number(text.to_owned()))
}

/// A position: absolute, or relative to the last one (`+n`, `-n`, `*` for the same).
fn position(text: &str, last: u64) -> Result<u64, Syntax> {
    let out_of_range = || Syntax::Position(text.to_owned());
    match text.as_bytes().first() {
        Some(b'*') if text.len() == 1 => Ok(last),
        Some(b'+') => last.checked_add(number(&text[1..])?).ok_or_else(out_of_range),
        Some(b'-') => last.checked_sub(number(&text[1..])?).ok_or_else(out_of_range),
        _ => number(text),
    }
}

/// A name as written after `=`.
#[derive(Debug, PartialEq, Eq)]
enum Name<'a> {
    /// `(id) name`: from now on `(id)` stands for it.
    Defined(u64, &'a str),
    /// `(id)`.
    Known(u64),
    /// A name without number.
    Plain(&'a str),
}

fn name(text: &str) -> Name<'_> {
    let text = text.trim();
    let numbered = text.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    match numbered.map(|(id, rest)| (number(id), rest.trim_start())) {
        Some((Ok(id), "")) => Name::Known(id),
        Some((Ok(id), name)) => Name::Defined(id, name),
        _ => Name::Plain(text),
    }
}

#[cfg(test)]
mod tests {
    use super::{Name, name, number, position};

    #[test]
    fn positions_are_absolute_or_relative() {
        assert_eq!(position("12", 7), Ok(12));
        assert_eq!(position("0x1f", 7), Ok(31));
        assert_eq!(position("+5", 7), Ok(12));
        assert_eq!(position("-5", 7), Ok(2));
        assert_eq!(position("*", 7), Ok(7));
        for wrong in ["-8", "+18446744073709551615", "", "**", "+", "--1", "++1", "1x"] {
            assert!(position(wrong, 7).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_have_no_sign() {
        assert!(number("+1").is_err());
        assert!(number("-1").is_err());
        assert!(number("18446744073709551616").is_err());
    }

    #[test]
    fn names_are_plain_defined_or_known() {
        assert_eq!(name("(3) ./a b.c"), Name::Defined(3, "./a b.c"));
        assert_eq!(name("(3)"), Name::Known(3));
        assert_eq!(name("main"), Name::Plain("main"));
        assert_eq!(name("(below main)"), Name::Plain("(below main)"));
    }
}
