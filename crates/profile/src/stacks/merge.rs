//! The sum of tables.

use super::{Builder, Stacks, TableError};

/// One table with the samples of all: of several trials, or of several threads' files. Threads are matched by name,
/// frames by all that is known of them. The merger of no table is an empty table.
///
/// # Errors
/// When a table is inconsistent, the events differ, or the samples are too many to be counted.
pub fn merge(tables: &[Stacks]) -> Result<Stacks, TableError> {
    let mut builder = Builder::default();
    let mut lost = 0_u64;
    let event = tables.first().map(|table| table.event.clone()).unwrap_or_default();
    for table in tables {
        table.check()?;
        if table.event != event {
            return Err(TableError::Events { first: event, other: table.event.clone() });
        }
        lost = lost.checked_add(table.lost).ok_or(TableError::Overflow)?;
        let threads: Vec<usize> = table.threads.iter().map(|thread| builder.thread(thread)).collect();
        let frames: Vec<usize> = table.frames.iter().map(|frame| builder.frame(frame)).collect();
        for stack in &table.stacks {
            let of_stack = stack.frames.iter().map(|frame| frames[*frame]).collect();
            if !builder.add(threads[stack.thread], of_stack, stack.samples) {
                return Err(TableError::Overflow);
            }
        }
    }
    builder.finish(event, lost).ok_or(TableError::Overflow)
}
