//! Which keys, and where chance comes from.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use zerolap_load_requests::{KeyPattern, KeyRange, KeySettings, Policy};

use super::sent::Sent;
use crate::UsageError;
use crate::numbers::{number, positive};
use crate::table::{Argument, put};
use crate::warnings::Warnings;

pub(crate) static ARGUMENTS: &[Argument] = &[
    Argument::value(
        &["key-prefix"],
        &[],
        "TEXT",
        "text before the number in a key; may be empty (default memtier-)",
        |draft, text| put(&mut draft.keys.prefix, Ok(text.to_owned())),
    ),
    Argument::value(&["key-minimum"], &[], "NUMBER", "first key (default 0)", |draft, text| {
        put(&mut draft.keys.minimum, number(text, 0..=u64::MAX - 1))
    }),
    Argument::value(&["key-maximum"], &[], "NUMBER", "last key (default 10000000)", |draft, text| {
        put(&mut draft.keys.maximum, number(text, 0..=u64::MAX - 1))
    }),
    Argument::value(
        &["key-pattern"],
        &[],
        "SETS:GETS",
        "key patterns of SET and GET (default R:R): R random, S each connection walks the range, P the range is split \
         among all connections (both or none), G Gaussian around the median, Z by Zipf's law: the first key is the \
         most frequent",
        |draft, text| put(&mut draft.keys.patterns, key_patterns(text)),
    ),
    Argument::value(
        &["key-stddev"],
        &[],
        "NUMBER",
        "standard deviation of pattern G, in keys (default: a sixth of the range)",
        |draft, text| put(&mut draft.keys.standard_deviation, positive(text)),
    ),
    Argument::value(
        &["key-median"],
        &[],
        "NUMBER",
        "median key of pattern G (default: the middle of the range)",
        |draft, text| put(&mut draft.keys.median, positive(text)),
    ),
    Argument::value(
        &["key-zipf-exp"],
        &[],
        "NUMBER",
        "exponent of pattern Z, above 0 and below 5 (default 1)",
        |draft, text| put(&mut draft.keys.zipf_exponent, zipf_exponent(text)),
    ),
    Argument::value(&["seed"], &[], "NUMBER", "seed of all random numbers (default 1)", |draft, text| {
        put(&mut draft.chance.seed, number(text, 0..=u64::MAX))
    })
    .own(),
    Argument::switch(&["randomize"], &[], "another seed in each run, in place of --seed", |draft| {
        draft.chance.randomize = true;
    }),
    Argument::switch(
        &["compat"],
        &[],
        "reproduce deviations of memtier_benchmark: all connections draw the same keys and values, ranges are split \
         as by memtier_benchmark, and allkeys omits the last key",
        |draft| draft.chance.compat = true,
    )
    .own(),
    Argument::switch(
        &["distinct-client-seed"],
        &[],
        "with --compat: each connection draws its own keys and values, as always without --compat",
        |draft| draft.chance.distinct_client_seed = true,
    ),
];

#[derive(Debug, Default)]
pub(crate) struct KeysDraft {
    pub(crate) prefix: Option<String>,
    pub(crate) minimum: Option<u64>,
    pub(crate) maximum: Option<u64>,
    /// Of SET and of GET.
    pub(crate) patterns: Option<(KeyPattern, KeyPattern)>,
    pub(crate) standard_deviation: Option<f64>,
    pub(crate) median: Option<f64>,
    pub(crate) zipf_exponent: Option<f64>,
}

impl KeysDraft {
    pub(crate) fn prefix(&self) -> &str {
        self.prefix.as_deref().unwrap_or("memtier-")
    }

    pub(crate) fn finish(
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
        // With allkeys the range also determines how many requests there are.
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

#[derive(Debug, Default)]
pub(crate) struct ChanceDraft {
    pub(crate) seed: Option<u64>,
    pub(crate) randomize: bool,
    pub(crate) compat: bool,
    pub(crate) distinct_client_seed: bool,
}

impl ChanceDraft {
    /// The seed, whether all connections draw the same, and the policy.
    pub(crate) fn finish(self, warnings: &mut Warnings) -> Result<(u64, bool, Policy), UsageError> {
        if self.seed.is_some() && self.randomize {
            return Err(UsageError::Conflict("--seed and --randomize exclude each other"));
        }
        warnings.without_effect(
            self.distinct_client_seed && !self.compat,
            "--distinct-client-seed",
            "each connection draws keys and values of its own anyway, unless --compat is given",
        );
        let seed = if self.randomize { random_seed() } else { self.seed.unwrap_or(1) };
        let policy = if self.compat { Policy::Memtier } else { Policy::Lab };
        Ok((seed, self.compat && !self.distinct_client_seed, policy))
    }
}

/// Another number in each run; one that a double holds exactly, so that every reader of the JSON can repeat the run.
fn random_seed() -> u64 {
    // The standard library asks the system for the keys of its hash tables.
    RandomState::new().hash_one(std::process::id()) >> 11
}

/// A letter of a key pattern.
pub(super) fn key_pattern(text: &str) -> Result<KeyPattern, String> {
    match text {
        "R" => Ok(KeyPattern::Random),
        "S" => Ok(KeyPattern::Sequential),
        "P" => Ok(KeyPattern::Parallel),
        "G" => Ok(KeyPattern::Gaussian),
        "Z" => Ok(KeyPattern::Zipf),
        _ => Err("expected R (random), S (sequential), P (parallel), G (gaussian) or Z (zipf)".to_owned()),
    }
}

/// Two letters such as `R:S`; P on both sides or none.
fn key_patterns(text: &str) -> Result<(KeyPattern, KeyPattern), String> {
    let (sets, gets) = text.split_once(':').ok_or_else(|| "expected two letters such as R:R".to_owned())?;
    let patterns = (key_pattern(sets)?, key_pattern(gets)?);
    if (patterns.0 == KeyPattern::Parallel) == (patterns.1 == KeyPattern::Parallel) {
        Ok(patterns)
    } else {
        Err("P goes for both SET and GET or for none".to_owned())
    }
}

/// An exponent that memtier takes.
fn zipf_exponent(text: &str) -> Result<f64, String> {
    let parsed = positive(text).ok().filter(|exponent| *exponent < 5.0);
    parsed.ok_or_else(|| "expected a number above 0 and below 5".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{KeyPattern, key_patterns, zipf_exponent};

    #[test]
    fn parallel_goes_for_both_commands_or_none() {
        assert_eq!(key_patterns("G:Z"), Ok((KeyPattern::Gaussian, KeyPattern::Zipf)));
        assert_eq!(key_patterns("P:P"), Ok((KeyPattern::Parallel, KeyPattern::Parallel)));
        assert!(["P:R", "S:P", "R", "R:", "RR:R", "r:r", "R:R:R"].iter().all(|text| key_patterns(text).is_err()));
    }

    #[test]
    fn an_exponent_is_one_that_memtier_takes() {
        assert_eq!(zipf_exponent("4.99"), Ok(4.99));
        assert!(["0", "5", "6"].iter().all(|text| zipf_exponent(text).is_err()));
    }
}
