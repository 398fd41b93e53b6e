//! What is sent.

use super::{Argument, put};
use crate::arguments::draft::CommandDraft;
use crate::arguments::values::{key_pattern, number, ratio, recording_order};

pub(super) static ARGUMENTS: &[Argument] = &[
    Argument::value(
        &["command"],
        &[],
        "LINE",
        "a command to send, quoted as in redis-cli; __key__ in an argument stands for a key, __data__ as an argument \
         for a value; repeat it for more commands (default: SET __key__ __data__ and GET __key__)",
        |draft, text| {
            draft.commands.given.push(CommandDraft::new(text));
            Ok(())
        },
    ),
    Argument::value(
        &["command-ratio"],
        &[],
        "NUMBER",
        "how many times the last --command is sent in its turn (default 1; 0: never)",
        |draft, text| put(&mut draft.commands.last()?.ratio, number(text, 0..=u64::MAX)),
    ),
    Argument::value(
        &["command-key-pattern"],
        &[],
        "R|S|P|G|Z",
        "keys of the last --command (default R), as for --key-pattern",
        |draft, text| put(&mut draft.commands.last()?.pattern, key_pattern(text)),
    ),
    Argument::value(
        &["ratio"],
        &[],
        "SETS:GETS",
        "how many times SET and GET are sent in turn, without --command (default 1:10)",
        |draft, text| put(&mut draft.commands.ratio, ratio(text)),
    ),
    Argument::value(
        &["monitor-input"],
        &[],
        "FILE",
        "commands recorded with redis-cli MONITOR: --command __monitor_line1__ is the first of them, \
         --command __monitor_line@__ another one each time",
        |draft, text| put(&mut draft.commands.monitor.input, Ok(text.to_owned())),
    ),
    Argument::value(
        &["monitor-pattern"],
        &[],
        "S|R",
        "what __monitor_line@__ stands for: S one line after the other, over all connections (default); R any, at random",
        |draft, text| put(&mut draft.commands.monitor.order, recording_order(text)),
    ),
    Argument::switch(
        &["scan-incremental-iteration"],
        &[],
        "the one --command is a SCAN: go on with the cursor of each reply, and start anew when it is 0",
        |draft| draft.commands.scan = true,
    ),
    Argument::value(
        &["scan-incremental-max-iterations"],
        &[],
        "NUMBER",
        "start anew also after so many replies (default 0: never)",
        |draft, text| put(&mut draft.commands.scan_maximum_iterations, number(text, 0..=u64::MAX)),
    ),
];
