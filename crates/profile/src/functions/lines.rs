//! The source lines that have code.

use super::{FileId, UnitFiles};
use crate::elf::{BinaryError, Reader};

/// Lines of files in the source tree. A row of the line table that lies between a definition's first line and the next
/// definition's belongs to that definition, wherever its code was inlined.
#[derive(Default)]
pub(super) struct LineSet(Vec<(FileId, u32)>);

impl LineSet {
    pub(super) fn collect(&mut self, unit: &gimli::Unit<Reader<'_>>, files: &UnitFiles) -> Result<(), BinaryError> {
        let Some(program) = unit.line_program.clone() else { return Ok(()) };
        let mut rows = program.rows();
        while let Some((_, row)) = rows.next_row()? {
            let file = usize::try_from(row.file_index()).ok().and_then(|index| files.get(index).copied().flatten());
            let line = row.line().and_then(|line| u32::try_from(line.get()).ok());
            let (Some(file), Some(line), false) = (file, line, row.end_sequence()) else { continue };
            if self.0.last() != Some(&(file, line)) {
                self.0.push((file, line));
            }
        }
        Ok(())
    }

    /// Sorted, without doubles.
    pub(super) fn finish(mut self) -> Vec<(FileId, u32)> {
        self.0.sort_unstable();
        self.0.dedup();
        self.0
    }
}
