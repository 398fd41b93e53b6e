//! Which values.

use zerolap_load_requests::{Command, DataSettings, DataSizes, Expiry, Source};
use zerolap_resp::Template;

use super::sent::Sent;
use crate::UsageError;
use crate::numbers::number;
use crate::table::{Argument, put};
use crate::warnings::Warnings;

/// Beyond it no server takes a value.
const MOST_OFFSET_BYTES: u64 = (1 << 29) - 1;

pub(crate) static ARGUMENTS: &[Argument] = &[
    Argument::value(&["data-size"], &['d'], "BYTES", "length of each value (default 32)", |draft, text| {
        put(&mut draft.data.size, number(text, 1..=MOST_DATA_BYTES))
    }),
    Argument::value(
        &["data-size-range"],
        &[],
        "LEAST-MOST",
        "range of lengths, both ends included, instead of --data-size",
        |draft, text| put(&mut draft.data.range, size_range(text)),
    ),
    Argument::value(
        &["data-size-pattern"],
        &[],
        "R|S",
        "lengths of --data-size-range: R random (default), S increasing with the number of the key",
        |draft, text| put(&mut draft.data.pattern, size_pattern(text)),
    ),
    Argument::value(
        &["data-size-list"],
        &[],
        "BYTES:WEIGHT,...",
        "lengths, each used in turn as often as its weight, instead of --data-size",
        |draft, text| put(&mut draft.data.list, size_list(text)),
    ),
    Argument::value(
        &["data-offset"],
        &[],
        "BYTES",
        "without --command: write and read values from this offset, with SETRANGE and GETRANGE (default 0)",
        |draft, text| put(&mut draft.data.offset, number(text, 0..=MOST_OFFSET_BYTES)),
    ),
    Argument::value(
        &["expiry-range"],
        &[],
        "LEAST-MOST",
        "without --command: random time to live of values in seconds, both ends included: SETEX instead of SET, except \
         for a time of 0",
        |draft, text| put(&mut draft.data.expiry, expiry_range(text)),
    ),
    Argument::switch(&["random-data"], &['R'], "values are random bytes (default: all x)", |draft| {
        draft.data.random = true;
    }),
    Argument::switch(
        &["verify"],
        &[],
        "generate values from their keys, and compare the replies of GET __key__ with them; to read values of another \
         run, give it to both runs, with the same lengths",
        |draft| draft.data.verify = true,
    )
    .own(),
];

#[derive(Debug, Default)]
pub(crate) struct DataDraft {
    pub(crate) size: Option<usize>,
    pub(crate) range: Option<(usize, usize)>,
    pub(crate) list: Option<Vec<(usize, u64)>>,
    pub(crate) pattern: Option<SizePattern>,
    pub(crate) offset: Option<u64>,
    pub(crate) expiry: Option<(u32, u32)>,
    pub(crate) random: bool,
    pub(crate) verify: bool,
}

impl DataDraft {
    pub(crate) fn finish(self, sent: &Sent, warnings: &mut Warnings) -> Result<DataSettings, UsageError> {
        let given = [
            (self.size.is_some(), "--data-size"),
            (self.range.is_some(), "--data-size-range"),
            (self.list.is_some(), "--data-size-list"),
            (self.random, "--random-data"),
        ];
        if !sent.values {
            for (is_given, argument) in given {
                warnings.without_effect(is_given, argument, "no command that is sent has __data__");
            }
        }
        warnings.without_effect(
            self.pattern.is_some() && self.range.is_none(),
            "--data-size-pattern",
            "--data-size-range is not given",
        );
        let sizes = match (self.size, self.range, self.list) {
            (size, None, None) => DataSizes::Fixed(size.unwrap_or(32)),
            (None, Some((least, most)), None) => sizes_between(least, most, self.pattern, warnings),
            (None, None, Some(list)) => DataSizes::Weighted(list),
            _ => {
                return Err(UsageError::Conflict(
                    "--data-size, --data-size-range and --data-size-list exclude each other",
                ));
            }
        };
        Ok(DataSettings { sizes, random: self.random, offset: self.offset.unwrap_or(0) })
    }
}

fn sizes_between(least: usize, most: usize, pattern: Option<SizePattern>, warnings: &mut Warnings) -> DataSizes {
    if least > most {
        warnings.push(format!("--data-size-range {least}-{most} is read as {most}-{least}, as memtier_benchmark does"));
    }
    let (least, most) = (least.min(most), least.max(most));
    match pattern {
        Some(SizePattern::ByKey) => DataSizes::ByKey(least, most),
        Some(SizePattern::Random) | None => DataSizes::Uniform(least, most),
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
    if data.offset.is_some_and(|offset| offset > 0) {
        return Err(UsageError::Conflict("--data-offset and --expiry-range exclude each other: SETRANGE has no time"));
    }
    warnings.without_effect(set.ratio == 0, "--expiry-range", "no SET is sent");
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

/// Notes what values are needed for, and warns of what has no effect.
pub(crate) fn apply_verifying(data: &DataDraft, commands: &[Command], sent: &mut Sent, warnings: &mut Warnings) {
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
    // Their lengths determine what is expected.
    sent.values |= reads;
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
