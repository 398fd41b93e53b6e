//! Whether what is read can be proved.

use super::Warnings;
use super::data::DataDraft;
use super::sent::Sent;
use crate::arguments::values::SizePattern;
use zerolap_load_requests::Command;

/// Commands that put a whole value where GET finds it.
const WRITING: [&str; 7] = ["SET", "SETEX", "PSETEX", "SETNX", "GETSET", "MSET", "MSETNX"];

/// Notes what values are needed for, and tells what has no effect.
pub(super) fn apply(data: &DataDraft, commands: &[Command], sent: &mut Sent, warnings: &mut Warnings) {
    if !data.verify {
        return;
    }
    let is_sent = |command: &&Command| command.ratio > 0;
    let reads = commands.iter().filter(is_sent).any(Command::reads_one_value);
    let writes_value = |command: &Command| {
        WRITING.contains(&command.template.command()) && command.draws_keys() && command.draws_values()
    };
    let writes = sent.is_prefilled || commands.iter().filter(is_sent).any(writes_value);
    let reason = "no command that is sent is GET __key__, or SET __key__ __data__ for a later run to read";
    warnings.without_effect(!reads && !writes, "--verify", reason);
    let made = "with --verify values are made from their keys";
    warnings.without_effect(data.random && (reads || writes), "--random-data", made);
    let grows = matches!(data.pattern, Some(SizePattern::ByKey));
    warnings.without_effect(grows && (reads || writes), "--data-size-pattern S", made);
    // Their lengths say what is expected.
    sent.values |= reads;
}
