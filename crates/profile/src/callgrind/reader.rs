//! The state that lines of a dump refer to, and its change from line to line.

use std::collections::HashMap;
use std::io::BufRead;

use super::names::{Kind, Names};
use super::text;
use super::{CallCost, Cost, Dump, FunctionNames, NameId, OwnCost, ReadError, Syntax};

const INSTRUCTIONS: &str = "Ir";
const SYSCALLS: &str = "sysCount";
const LINE: &str = "line";

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
}

impl Default for Positions {
    fn default() -> Self {
        Self { last: vec![0], line: Some(0) }
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
                let line = value.split_whitespace().position(|name| name == LINE);
                self.positions = Positions { last: vec![0; value.split_whitespace().count()], line };
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
        let calls = text::number(value.split_whitespace().next().unwrap_or_default())?;
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
            positions.push(text::position(word, *last)?);
        }
        let line = self.positions.line.and_then(|column| positions.get(column)).copied().unwrap_or(0);
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
                self.dump.own.push(OwnCost { function, file, line, cost });
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
        let value = text::number(word)?;
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
