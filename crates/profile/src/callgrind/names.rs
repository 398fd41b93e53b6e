//! The names of a dump: each kept once, written out once.

use std::collections::HashMap;

use super::text::{self, Name};
use super::{NameId, Syntax};

/// What callgrind writes for a file or object that it does not know.
const UNKNOWN: &str = "???";

/// The name spaces of the numbers that stand for names.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Object,
    File,
    Function,
}

#[derive(Default)]
pub(super) struct Names {
    table: Vec<String>,
    ids: HashMap<String, NameId>,
    numbered: HashMap<(Kind, u64), NameId>,
}

impl Names {
    /// The name that is written after `=`, in full or as a number.
    pub(super) fn read(&mut self, kind: Kind, value: &str) -> Result<NameId, Syntax> {
        match text::name(value) {
            Name::Plain(name) => self.id(name),
            Name::Known(number) => self.numbered.get(&(kind, number)).copied().ok_or(Syntax::UndefinedName(number)),
            Name::Defined(number, name) => {
                let id = self.id(name)?;
                self.numbered.insert((kind, number), id);
                Ok(id)
            }
        }
    }

    pub(super) fn unknown(&mut self) -> Result<NameId, Syntax> {
        self.id(UNKNOWN)
    }

    /// The names by their index.
    pub(super) fn into_table(self) -> Vec<String> {
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
