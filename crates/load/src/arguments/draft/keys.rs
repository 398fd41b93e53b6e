//! Which keys.

use super::sent::Sent;
use super::{UsageError, Warnings};
use zerolap_load_requests::{KeyPattern, KeyRange, KeySettings};

#[derive(Debug, Default)]
pub(in crate::arguments) struct KeysDraft {
    pub(in crate::arguments) prefix: Option<String>,
    pub(in crate::arguments) minimum: Option<u64>,
    pub(in crate::arguments) maximum: Option<u64>,
    /// Of SET and of GET.
    pub(in crate::arguments) patterns: Option<(KeyPattern, KeyPattern)>,
    pub(in crate::arguments) standard_deviation: Option<f64>,
    pub(in crate::arguments) median: Option<f64>,
    pub(in crate::arguments) zipf_exponent: Option<f64>,
}

impl KeysDraft {
    pub(super) fn prefix(&self) -> &str {
        self.prefix.as_deref().unwrap_or("memtier-")
    }

    pub(super) fn finish(
        self,
        sent: &Sent,
        is_all_keys: bool,
        warnings: &mut Warnings,
    ) -> Result<KeySettings, UsageError> {
        let (minimum, maximum) = (self.minimum.unwrap_or(0), self.maximum.unwrap_or(10_000_000));
        let range = KeyRange::new(minimum, maximum)
            .ok_or(UsageError::Conflict("--key-maximum must not be below --key-minimum"))?;
        if self.median.is_some_and(|median| median < minimum as f64 || median > maximum as f64) {
            return Err(UsageError::Conflict("--key-median must be from --key-minimum to --key-maximum"));
        }
        // With allkeys the range also says how many requests there are.
        let has_range = sent.keys || is_all_keys;
        let (no_keys, no_gaussian) = ("no command that is sent has __key__", "no command draws keys with pattern G");
        let has = |pattern| sent.patterns.contains(&pattern);
        let checks = [
            (self.prefix.is_some() && !sent.keys, "--key-prefix", no_keys),
            (self.minimum.is_some() && !has_range, "--key-minimum", no_keys),
            (self.maximum.is_some() && !has_range, "--key-maximum", no_keys),
            (self.standard_deviation.is_some() && !has(KeyPattern::Gaussian), "--key-stddev", no_gaussian),
            (self.median.is_some() && !has(KeyPattern::Gaussian), "--key-median", no_gaussian),
            (
                self.zipf_exponent.is_some() && !has(KeyPattern::Zipf),
                "--key-zipf-exp",
                "no command draws keys with pattern Z",
            ),
        ];
        for (is_in_vain, argument, reason) in checks {
            warnings.without_effect(is_in_vain, argument, reason);
        }
        Ok(KeySettings {
            range,
            prefix: self.prefix().to_owned(),
            median: self.median,
            standard_deviation: self.standard_deviation,
            zipf_exponent: self.zipf_exponent.unwrap_or(1.0),
        })
    }
}
