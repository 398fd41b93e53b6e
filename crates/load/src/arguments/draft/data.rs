//! Which values.

use super::sent::Sent;
use super::{UsageError, Warnings};
use crate::arguments::values::SizePattern;
use zerolap_load_requests::{DataSettings, DataSizes};

#[derive(Debug, Default)]
pub(in crate::arguments) struct DataDraft {
    pub(in crate::arguments) size: Option<usize>,
    pub(in crate::arguments) range: Option<(usize, usize)>,
    pub(in crate::arguments) list: Option<Vec<(usize, u64)>>,
    pub(in crate::arguments) pattern: Option<SizePattern>,
    pub(in crate::arguments) offset: Option<u64>,
    pub(in crate::arguments) expiry: Option<(u32, u32)>,
    pub(in crate::arguments) random: bool,
    pub(in crate::arguments) verify: bool,
}

impl DataDraft {
    pub(super) fn finish(self, sent: &Sent, warnings: &mut Warnings) -> Result<DataSettings, UsageError> {
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
