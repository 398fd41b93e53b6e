//! The text form that flame graph programs read.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Stacks, TableError};

/// A line for each stack: the thread and the functions from the root to the leaf with `;` between them, then a space
/// and the number of samples. Lines are sorted; stacks that differ in what a line does not show are one.
///
/// # Errors
/// When the table is inconsistent: of another schema, with an index that points nowhere, or samples that do not add up.
pub fn fold(stacks: &Stacks) -> Result<String, TableError> {
    stacks.check()?;
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for stack in &stacks.stacks {
        let mut line = part(&stacks.threads[stack.thread].name);
        for frame in &stack.frames {
            line.push(';');
            line.push_str(&part(&stacks.frames[*frame].function));
        }
        // The sum of all stacks was found to fit.
        *lines.entry(line).or_default() += stack.samples;
    }
    Ok(lines.into_iter().fold(String::new(), |mut text, (line, samples)| {
        // Writing to a String does not fail.
        let _ = writeln!(text, "{line} {samples}");
        text
    }))
}

/// The name without the characters that end a part or a line: a program under test names its threads itself.
fn part(name: &str) -> String {
    name.chars().map(|letter| if letter == ';' || letter.is_control() { '_' } else { letter }).collect()
}
