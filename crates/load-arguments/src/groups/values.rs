//! Which values.

use zerolap_load_requests::{Command, DataSettings, DataSizes, Expiry, Source};
use zerolap_resp::Template;

use crate::UsageError;
use crate::needs::{CommandLine, Given, Need};
use crate::numbers::number;
use crate::table::{Argument, Preset, put};
use crate::warnings::Warnings;

/// Beyond it no server takes a value.
const MOST_OFFSET_BYTES: u64 = (1 << 29) - 1;

/// Values, which with --verify are also made where they are read.
const VALUES: Need = Need::Condition {
    is_met: |line| {
        line.is_prefilled()
            || line.sent().any(|command| command.draws_values() || (line.settings.verify && command.reads_one_value()))
    },
    otherwise: "no command that is sent has __data__",
};
const VALUES_TO_VERIFY: Need = Need::Condition {
    is_met: has_values_to_verify,
    otherwise: "no command that is sent is GET __key__, or SET __key__ __data__ for a later run to read",
};
const VALUES_BY_CHANCE: Need = Need::Condition {
    is_met: |line| !line.settings.verify || !has_values_to_verify(line),
    otherwise: "with --verify values are made from their keys",
};
const SIZES_BY_CHANCE: Need = Need::Condition {
    is_met: |line| {
        let grow = matches!(line.settings.data.sizes, DataSizes::ByKey(..));
        !(grow && line.settings.verify && has_values_to_verify(line))
    },
    otherwise: "with --verify values are made from their keys",
};
const NO_COMMAND: Need = Need::Condition {
    is_met: |line| !line.given.has("command"),
    otherwise: "it is for SET and GET, and there is a --command",
};
const SET: Need = Need::Condition {
    is_met: |line| line.sent().any(|command| matches!(command.source, Source::Expiring(_))),
    otherwise: "no SET is sent",
};

pub(crate) static ARGUMENTS: &[Argument] = &[
    Argument::value(&["data-size"], &['d'], "BYTES", "length of each value", |draft, text| {
        put(&mut draft.data.size, number(text, 1..=MOST_DATA_BYTES))
    })
    .default("32")
    .needs(&[VALUES]),
    Argument::value(
        &["data-size-range"],
        &[],
        "LEAST-MOST",
        "range of lengths, both ends included, instead of --data-size",
        |draft, text| put(&mut draft.data.range, size_range(text)),
    )
    .needs(&[VALUES]),
    Argument::value(
        &["data-size-pattern"],
        &[],
        "R|S",
        "lengths of --data-size-range: R random, S increasing with the number of the key",
        |draft, text| put(&mut draft.data.pattern, size_pattern(text)),
    )
    .default("R")
    .needs(&[Need::Argument(&["data-size-range"]), SIZES_BY_CHANCE]),
    Argument::value(
        &["data-size-list"],
        &[],
        "BYTES:WEIGHT,...",
        "lengths, each used in turn as often as its weight, instead of --data-size",
        |draft, text| put(&mut draft.data.list, size_list(text)),
    )
    .needs(&[VALUES]),
    Argument::value(
        &["data-offset"],
        &[],
        "BYTES",
        "without --command: write and read values from this offset, with SETRANGE and GETRANGE",
        |draft, text| put(&mut draft.data.offset, number(text, 0..=MOST_OFFSET_BYTES)),
    )
    .default("0")
    .needs(&[NO_COMMAND]),
    Argument::value(
        &["expiry-range"],
        &[],
        "LEAST-MOST",
        "without --command: random time to live of values in seconds, both ends included: SETEX instead of SET, except \
         for a time of 0",
        |draft, text| put(&mut draft.data.expiry, expiry_range(text)),
    )
    .needs(&[NO_COMMAND, SET]),
    Argument::switch(&["random-data"], &['R'], "values are random bytes (default: all x)", |draft| {
        draft.data.random = true;
    })
    .needs(&[VALUES, VALUES_BY_CHANCE]),
    Argument::switch(
        &["verify"],
        &[],
        "generate values from their keys, and compare the replies of GET __key__ with them; to read values of another \
         run, give it to both runs, with the same lengths",
        |draft| draft.data.verify = true,
    )
    .needs(&[VALUES_TO_VERIFY])
    .own(),
];

#[derive(Debug, Default)]
pub(crate) struct DataDraft {
    pub(crate) size: Preset<usize>,
    pub(crate) range: Option<(usize, usize)>,
    pub(crate) list: Option<Vec<(usize, u64)>>,
    pub(crate) pattern: Preset<SizePattern>,
    pub(crate) offset: Preset<u64>,
    pub(crate) expiry: Option<(u32, u32)>,
    pub(crate) random: bool,
    pub(crate) verify: bool,
}

impl DataDraft {
    pub(crate) fn finish(self, given: &Given, warnings: &mut Warnings) -> Result<DataSettings, UsageError> {
        let sizes = match (given.has("data-size"), self.range, self.list) {
            (_, None, None) => DataSizes::Fixed(*self.size.get()),
            (false, Some((least, most)), None) => sizes_between(least, most, *self.pattern.get(), warnings),
            (false, None, Some(list)) => DataSizes::Weighted(list),
            _ => {
                return Err(UsageError::Conflict(
                    "--data-size, --data-size-range and --data-size-list exclude each other",
                ));
            }
        };
        Ok(DataSettings { sizes, random: self.random, offset: *self.offset.get() })
    }
}

fn sizes_between(least: usize, most: usize, pattern: SizePattern, warnings: &mut Warnings) -> DataSizes {
    if least > most {
        warnings.push(format!("--data-size-range {least}-{most} is read as {most}-{least}, as memtier_benchmark does"));
    }
    let (least, most) = (least.min(most), least.max(most));
    match pattern {
        SizePattern::ByKey => DataSizes::ByKey(least, most),
        SizePattern::Random => DataSizes::Uniform(least, most),
    }
}

/// The first value in it is the time.
const WITH_TIME: &[u8] = b"SETEX __key__ __data__ __data__";

/// Makes the SET that is there without a command one of values that expire, if that is asked for.
pub(crate) fn apply_expiry(
    data: &DataDraft,
    commands: &mut [Command],
    key_prefix: &str,
    warnings: &mut Warnings,
) -> Result<(), UsageError> {
    let Some((first, second)) = data.expiry else { return Ok(()) };
    let Some(set) = commands.first_mut().filter(|command| command.is_default) else { return Ok(()) };
    if *data.offset.get() > 0 {
        return Err(UsageError::Conflict("--data-offset and --expiry-range exclude each other: SETRANGE has no time"));
    }
    if first > second {
        warnings
            .push(format!("--expiry-range {first}-{second} is read as {second}-{first}, as memtier_benchmark does"));
    }
    let seconds = (first.min(second), first.max(second));
    let template = Template::compile(WITH_TIME, key_prefix.as_bytes());
    let template = template.map_err(|source| UsageError::Command { line: set.line.clone(), source })?;
    // Its name stays SET, as in memtier's results.
    set.line = format!("SETEX __key__ {}-{} __data__", seconds.0, seconds.1);
    set.source = Source::Expiring(Box::new(Expiry { seconds, template }));
    Ok(())
}

/// Commands that put a whole value where GET finds it.
const WRITING: [&str; 7] = ["SET", "SETEX", "PSETEX", "SETNX", "GETSET", "MSET", "MSETNX"];

/// Whether values are read that can be compared, or written for a later run to read.
fn has_values_to_verify(line: &CommandLine<'_>) -> bool {
    let writes_value = |command: &Command| {
        WRITING.contains(&command.template.command()) && command.draws_keys() && command.draws_values()
    };
    line.is_prefilled() || line.sent().any(|command| command.reads_one_value() || writes_value(command))
}

/// How a range of lengths is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SizePattern {
    Random,
    ByKey,
}

/// How a range of lengths is used.
fn size_pattern(text: &str) -> Result<SizePattern, String> {
    match text {
        "R" => Ok(SizePattern::Random),
        "S" => Ok(SizePattern::ByKey),
        _ => Err("expected R (random) or S (by the place of the key in its range)".to_owned()),
    }
}

/// The longest value that a server takes by default.
const MOST_DATA_BYTES: usize = 512 * 1024 * 1024;

/// Two lengths such as `10-200`, as given.
fn size_range(text: &str) -> Result<(usize, usize), String> {
    let (least, most) = text.split_once('-').ok_or_else(|| "expected two lengths such as 10-200".to_owned())?;
    Ok((number(least, 1..=MOST_DATA_BYTES)?, number(most, 1..=MOST_DATA_BYTES)?))
}

/// Lengths with weights such as `10:1,200:3`.
fn size_list(text: &str) -> Result<Vec<(usize, u64)>, String> {
    let size = |item: &str| {
        let (size, weight) = item.split_once(':').ok_or("expected lengths with weights such as 10:1,200:3")?;
        Ok((number(size, 1..=MOST_DATA_BYTES)?, number(weight, 1..=u64::from(u32::MAX))?))
    };
    text.split(',').map(size).collect()
}

/// Two times in seconds such as `10-60`, as given.
fn expiry_range(text: &str) -> Result<(u32, u32), String> {
    let expected = || "expected two times in seconds such as 10-60".to_owned();
    let (least, most) = text.split_once('-').ok_or_else(expected)?;
    let range = (number(least, 0..=u32::MAX)?, number(most, 0..=u32::MAX)?);
    // It would be no range of times: nothing would expire.
    if range == (0, 0) { Err(expected()) } else { Ok(range) }
}

#[cfg(test)]
mod tests {
    use super::{expiry_range, size_list, size_range};

    #[test]
    fn times_are_read_in_pairs_not_both_0() {
        assert_eq!(expiry_range("0-10"), Ok((0, 10)));
        assert_eq!(expiry_range("10-4294967295"), Ok((10, u32::MAX)));
        assert!(["10", "0-0", "5-", "-5", "1-2-3", "1-4294967296"].iter().all(|text| expiry_range(text).is_err()));
    }

    #[test]
    fn lengths_are_read_in_pairs() {
        assert_eq!(size_range("1-100"), Ok((1, 100)));
        assert!(["100", "0-5", "5-", "-5", "1-2-3"].iter().all(|text| size_range(text).is_err()));
        assert_eq!(size_list("10:1,200:3"), Ok(vec![(10, 1), (200, 3)]));
        assert!(["", "10", "10:0", "0:1", "10:1,", "x:1"].iter().all(|text| size_list(text).is_err()));
    }
}
