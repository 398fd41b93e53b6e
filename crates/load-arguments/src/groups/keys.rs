//! Which keys, and where chance comes from.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use zerolap_load_requests::{KeyPattern, KeyRange, KeySettings, Policy};

use crate::UsageError;
use crate::needs::{Given, Need};
use crate::numbers::{number, positive};
use crate::table::{Argument, Preset, put};

const KEYS: Need =
    Need::Condition { is_met: |line| line.draws_keys(), otherwise: "no command that is sent has __key__" };
/// With allkeys the range also determines how many requests there are.
const KEY_RANGE: Need = Need::Condition {
    is_met: |line| line.draws_keys() || line.mode.is_all_keys(),
    otherwise: "no command that is sent has __key__",
};
const GAUSSIAN: Need = Need::Condition {
    is_met: |line| line.draws_keys_by(KeyPattern::Gaussian),
    otherwise: "no command draws keys with pattern G",
};
const ZIPF: Need = Need::Condition {
    is_met: |line| line.draws_keys_by(KeyPattern::Zipf),
    otherwise: "no command draws keys with pattern Z",
};

pub(crate) static ARGUMENTS: &[Argument] = &[
    Argument::value(&["key-prefix"], &[], "TEXT", "text before the number in a key; may be empty", |draft, text| {
        put(&mut draft.keys.prefix, Ok(text.to_owned()))
    })
    .default("memtier-")
    .needs(&[KEYS]),
    Argument::value(&["key-minimum"], &[], "NUMBER", "first key", |draft, text| {
        put(&mut draft.keys.minimum, number(text, 0..=u64::MAX - 1))
    })
    .default("0")
    .needs(&[KEY_RANGE]),
    Argument::value(&["key-maximum"], &[], "NUMBER", "last key", |draft, text| {
        put(&mut draft.keys.maximum, number(text, 0..=u64::MAX - 1))
    })
    .default("10000000")
    .needs(&[KEY_RANGE]),
    Argument::value(
        &["key-pattern"],
        &[],
        "SETS:GETS",
        "key patterns of SET and GET: R random, S each connection walks the range, P the range is split \
         among all connections (both or none), G Gaussian around the median, Z by Zipf's law: the first key is the \
         most frequent",
        |draft, text| put(&mut draft.keys.patterns, key_patterns(text)),
    )
    .default("R:R"),
    Argument::value(
        &["key-stddev"],
        &[],
        "NUMBER",
        "standard deviation of pattern G, in keys (default: a sixth of the range)",
        |draft, text| put(&mut draft.keys.standard_deviation, positive(text)),
    )
    .needs(&[GAUSSIAN]),
    Argument::value(
        &["key-median"],
        &[],
        "NUMBER",
        "median key of pattern G (default: the middle of the range)",
        |draft, text| put(&mut draft.keys.median, positive(text)),
    )
    .needs(&[GAUSSIAN]),
    Argument::value(&["key-zipf-exp"], &[], "NUMBER", "exponent of pattern Z, above 0 and below 5", |draft, text| {
        put(&mut draft.keys.zipf_exponent, zipf_exponent(text))
    })
    .default("1")
    .needs(&[ZIPF]),
    Argument::value(&["seed"], &[], "NUMBER", "seed of all random numbers", |draft, text| {
        put(&mut draft.chance.seed, number(text, 0..=u64::MAX))
    })
    .default("1")
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
    )
    .needs(&[Need::Condition {
        is_met: |line| line.given.has("compat"),
        otherwise: "each connection draws keys and values of its own anyway, unless --compat is given",
    }]),
];

#[derive(Debug, Default)]
pub(crate) struct KeysDraft {
    pub(crate) prefix: Preset<String>,
    pub(crate) minimum: Preset<u64>,
    pub(crate) maximum: Preset<u64>,
    /// Of SET and of GET.
    pub(crate) patterns: Preset<(KeyPattern, KeyPattern)>,
    pub(crate) standard_deviation: Option<f64>,
    pub(crate) median: Option<f64>,
    pub(crate) zipf_exponent: Preset<f64>,
}

impl KeysDraft {
    pub(crate) fn finish(self) -> Result<KeySettings, UsageError> {
        let (minimum, maximum) = (*self.minimum.get(), *self.maximum.get());
        let range = KeyRange::new(minimum, maximum)
            .ok_or(UsageError::Conflict("--key-maximum must not be below --key-minimum"))?;
        if self.median.is_some_and(|median| median < minimum as f64 || median > maximum as f64) {
            return Err(UsageError::Conflict("--key-median must be from --key-minimum to --key-maximum"));
        }
        Ok(KeySettings {
            range,
            prefix: self.prefix.get().clone(),
            median: self.median,
            standard_deviation: self.standard_deviation,
            zipf_exponent: *self.zipf_exponent.get(),
        })
    }
}

#[derive(Debug, Default)]
pub(crate) struct ChanceDraft {
    pub(crate) seed: Preset<u64>,
    pub(crate) randomize: bool,
    pub(crate) compat: bool,
    pub(crate) distinct_client_seed: bool,
}

impl ChanceDraft {
    /// The seed, whether all connections draw the same, and the policy.
    pub(crate) fn finish(self, given: &Given) -> Result<(u64, bool, Policy), UsageError> {
        if given.has("seed") && self.randomize {
            return Err(UsageError::Conflict("--seed and --randomize exclude each other"));
        }
        let seed = if self.randomize { random_seed() } else { *self.seed.get() };
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
