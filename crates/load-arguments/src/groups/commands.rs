//! The commands.

use zerolap_load_requests::{Command, KeyPattern, RecordingOrder, Scan, Source, TransactionStep, why_not_among_others};
use zerolap_resp::{Template, split_words};

use super::keys::{KeysDraft, key_pattern};
use super::recordings::MonitorDraft;
use super::values;
use super::values::DataDraft;
use crate::UsageError;
use crate::needs::{Given, Need};
use crate::numbers::number;
use crate::table::{Argument, Preset, put};
use crate::warnings::Warnings;

pub(crate) static ARGUMENTS: &[Argument] = &[
    Argument::value(
        &["command"],
        &[],
        "LINE",
        "command to send, quoted as in redis-cli; __key__ in an argument is replaced by a key, __data__ as an argument \
         by a value; may be repeated (default: SET __key__ __data__ and GET __key__)",
        |draft, text| {
            draft.commands.given.push(CommandDraft::new(text));
            Ok(())
        },
    ),
    Argument::value(
        &["command-ratio"],
        &[],
        "NUMBER",
        "how often the last --command is sent in a round; 0: never (default 1)",
        |draft, text| {
            draft.commands.last()?.ratio = number(text, 0..=u64::MAX)?;
            Ok(())
        },
    ),
    Argument::value(
        &["command-key-pattern"],
        &[],
        "R|S|P|G|Z",
        "key pattern of the last --command (default: the first of --key-pattern)",
        |draft, text| put(&mut draft.commands.last()?.pattern, key_pattern(text)),
    ),
    Argument::value(
        &["ratio"],
        &[],
        "SETS:GETS",
        "without --command: how often SET and GET are sent in a round",
        |draft, text| put(&mut draft.commands.ratio, ratio(text)),
    )
    .default("1:10")
    .needs(&[Need::Condition {
        is_met: |line| !line.given.has("command"),
        otherwise: "it is for SET and GET, and there is a --command; memtier_benchmark refuses the two together (exit \
                    code 2)",
    }]),
    Argument::value(
        &["monitor-input"],
        &[],
        "FILE",
        "commands recorded with redis-cli MONITOR: --command __monitor_line1__ is the first of them, \
         --command __monitor_line@__ a different one each time; each is sent in the database of its line",
        |draft, text| put(&mut draft.commands.monitor.input, Ok(text.to_owned())),
    ),
    Argument::value(
        &["monitor-pattern"],
        &[],
        "S|R",
        "order of __monitor_line@__: S line by line, over all connections; R at random",
        |draft, text| put(&mut draft.commands.monitor.order, recording_order(text)),
    )
    .default("S")
    .needs(&[Need::Condition {
        is_met: |line| line.settings.commands.iter().any(|command| matches!(command.source, Source::Recorded(_))),
        otherwise: "no --command is __monitor_line@__",
    }]),
    Argument::switch(
        &["scan-incremental-iteration"],
        &[],
        "the only --command is a SCAN: continue with the cursor of each reply, and restart when it is 0",
        |draft| draft.commands.scan = true,
    ),
    Argument::value(
        &["scan-incremental-max-iterations"],
        &[],
        "NUMBER",
        "restart a scan after this number of replies, too; 0: never",
        |draft, text| put(&mut draft.commands.scan_maximum_iterations, number(text, 0..=u64::MAX)),
    )
    .default("0")
    .needs(&[Need::Argument(&["scan-incremental-iteration"])]),
];

#[derive(Debug, Default)]
pub(crate) struct CommandsDraft {
    pub(crate) given: Vec<CommandDraft>,
    pub(crate) ratio: Preset<(u64, u64)>,
    pub(crate) monitor: MonitorDraft,
    pub(crate) scan: bool,
    pub(crate) scan_maximum_iterations: Preset<u64>,
}

/// One command, before its line is compiled.
#[derive(Debug)]
pub(crate) struct CommandDraft {
    pub(crate) line: String,
    pub(crate) ratio: u64,
    /// If none, that of SET.
    pub(crate) pattern: Option<KeyPattern>,
    /// The database that it was recorded in, if it was.
    pub(crate) database: Option<u32>,
}

impl CommandDraft {
    pub(crate) fn new(line: &str) -> Self {
        Self { line: line.to_owned(), ratio: 1, pattern: None, database: None }
    }

    fn compile(self, keys: &KeysDraft, is_default: bool) -> Result<Command, UsageError> {
        let words = split_words(self.line.as_bytes()).unwrap_or_default();
        if let Some(reason) = why_not_among_others(&words) {
            return Err(UsageError::BadValue { name: "command", value: self.line, reason: reason.to_owned() });
        }
        match Template::compile(self.line.as_bytes(), keys.prefix.get().as_bytes()) {
            Ok(template) => Ok(Command {
                line: self.line,
                template,
                ratio: self.ratio,
                pattern: self.pattern.unwrap_or(keys.patterns.get().0),
                database: self.database,
                is_default,
                source: Source::Template,
            }),
            Err(source) => Err(UsageError::Command { line: self.line, source }),
        }
    }
}

impl CommandsDraft {
    /// The last command.
    pub(crate) fn last(&mut self) -> Result<&mut CommandDraft, String> {
        self.given.last_mut().ok_or_else(|| "it belongs to a --command, and none stands before it".to_owned())
    }

    /// How a SCAN continues, if it does.
    pub(crate) fn scan(&self) -> Result<Option<Scan>, UsageError> {
        if !self.scan {
            return Ok(None);
        }
        let words = match self.given.as_slice() {
            [command] => split_words(command.line.as_bytes()).unwrap_or_default(),
            _ => Vec::new(),
        };
        if words.len() < 2 || !words[0].eq_ignore_ascii_case(b"SCAN") {
            return Err(UsageError::Conflict(
                "--scan-incremental-iteration needs exactly one --command, a SCAN with a cursor such as \"SCAN 0\"",
            ));
        }
        Ok(Some(Scan { words, maximum_iterations: *self.scan_maximum_iterations.get() }))
    }

    /// Compiles the commands; SET and GET with their key patterns if none was given.
    pub(crate) fn finish(
        mut self,
        keys: &KeysDraft,
        data: &DataDraft,
        is_all_keys: bool,
        given: &Given,
        warnings: &mut Warnings,
    ) -> Result<Vec<Command>, UsageError> {
        let is_default = self.given.is_empty();
        if is_default {
            self.given = self.set_and_get(keys, *data.offset.get()).into();
        } else {
            self.warn(keys, given, warnings);
        }
        let recorded = self.monitor.expand(&mut self.given, warnings)?;
        let given_patterns: Vec<bool> = self.given.iter().map(|command| command.pattern.is_some()).collect();
        let commands = self.given.into_iter().map(|command| command.compile(keys, is_default));
        let mut commands: Vec<Command> = commands.collect::<Result<_, _>>()?;
        if let Some(recorded) = recorded {
            recorded.apply(&mut commands, keys.prefix.get(), warnings)?;
        }
        check_transactions(&commands, warnings)?;
        values::apply_expiry(data, &mut commands, keys.prefix.get(), warnings)?;
        if commands.iter().all(|command| command.ratio == 0) {
            return Err(UsageError::Conflict("no command is ever sent: each --command-ratio is 0"));
        }
        for (command, is_given) in commands.iter().zip(given_patterns) {
            // With allkeys the parallel pattern also determines how many requests there are.
            let acts = command.draws_keys() || (is_all_keys && command.pattern == KeyPattern::Parallel);
            let argument = format!("--command-key-pattern of {}", command.template.command());
            warnings.without_effect(is_given && !acts, &argument, "the command has no __key__");
        }
        if self.scan {
            commands = commands.into_iter().flat_map(start_and_go_on).collect();
        }
        Ok(commands)
    }

    fn set_and_get(&self, keys: &KeysDraft, data_offset: u64) -> [CommandDraft; 2] {
        let (sets, gets) = *self.ratio.get();
        let (set_keys, get_keys) = *keys.patterns.get();
        let lines = match data_offset {
            0 => ["SET __key__ __data__".to_owned(), "GET __key__".to_owned()],
            offset => [format!("SETRANGE __key__ {offset} __data__"), format!("GETRANGE __key__ {offset} -1")],
        };
        let [set, get] = lines;
        [
            CommandDraft { line: set, ratio: sets, pattern: Some(set_keys), database: None },
            CommandDraft { line: get, ratio: gets, pattern: Some(get_keys), database: None },
        ]
    }

    /// Warns of arguments for SET and GET that are given together with commands.
    fn warn(&self, keys: &KeysDraft, given: &Given, warnings: &mut Warnings) {
        if let [command] = self.given.as_slice() {
            warnings.without_effect(command.ratio > 1, "--command-ratio", "there is only one --command");
        }
        if given.has("key-pattern") {
            warnings.push(format!(
                "--key-pattern is for SET and GET, and there is a --command; memtier_benchmark refuses the two \
                 together (exit code 2), here its first letter, {}, is used for each --command without a \
                 --command-key-pattern",
                keys.patterns.get().0.letter()
            ));
        }
    }
}

/// Fails where a transaction is begun and never ended: the server would only queue what follows. Warns of empty ones.
fn check_transactions(commands: &[Command], warnings: &mut Warnings) -> Result<(), UsageError> {
    let mut begun: Option<&Command> = None;
    let mut is_empty = false;
    for command in commands.iter().filter(|command| command.ratio > 0) {
        match (&command.source, command.transaction_step()) {
            // Recorded transactions are sent whole.
            (Source::Recorded(_), _) => is_empty = false,
            (_, TransactionStep::Begin) => (begun, is_empty) = (Some(command), true),
            (_, TransactionStep::End) => {
                if begun.take().is_some() && is_empty {
                    warnings
                        .push(format!("no --command is between MULTI and {}: transactions are empty", command.line));
                }
            }
            _ => is_empty = false,
        }
    }
    begun.map_or(Ok(()), |command| {
        let reason = "no EXEC or DISCARD follows it, so that the server would only queue all later commands".to_owned();
        Err(UsageError::BadValue { name: "command", value: command.line.clone(), reason })
    })
}

/// Results distinguish the first SCAN of a walk from the others.
fn start_and_go_on(scan: Command) -> [Command; 2] {
    let go_on = Command { line: "SCAN <cursor>".to_owned(), ratio: 0, ..scan.clone() };
    [Command { line: "SCAN 0".to_owned(), ..scan }, go_on]
}

/// Two counts such as `1:10`, not both 0.
fn ratio(text: &str) -> Result<(u64, u64), String> {
    let parsed = text.split_once(':').and_then(|(sets, gets)| Some((sets.parse().ok()?, gets.parse().ok()?)));
    parsed.filter(|&ratio| ratio != (0, 0)).ok_or_else(|| "expected two numbers such as 1:10, not both 0".to_owned())
}

/// In which order recorded commands are sent.
fn recording_order(text: &str) -> Result<RecordingOrder, String> {
    match text {
        "S" => Ok(RecordingOrder::Sequential),
        "R" => Ok(RecordingOrder::Random),
        _ => Err("expected S (sequential) or R (random)".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::ratio;

    #[test]
    fn one_side_of_a_ratio_may_be_zero() {
        assert_eq!(ratio("1:10"), Ok((1, 10)));
        assert_eq!(ratio("1:0"), Ok((1, 0)));
        assert!(["0:0", "1", "1:x", "1:2:3", ""].iter().all(|text| ratio(text).is_err()));
    }
}
