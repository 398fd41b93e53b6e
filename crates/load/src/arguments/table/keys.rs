//! Which keys, and where chance comes from.

use super::{Argument, put};
use crate::arguments::values::{key_patterns, number, positive, zipf_exponent};

pub(super) static ARGUMENTS: &[Argument] = &[
    Argument::value(
        &["key-prefix"],
        &[],
        "TEXT",
        "text before a key's number, which may be empty (default memtier-)",
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
        "keys of SET and GET (default R:R): R random, S each connection walks the range, P the range is split among \
         all connections (both or none), G random around the median, Z by Zipf's law: the first key is the likeliest",
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
        "key in the middle of pattern G (default: the middle of the range)",
        |draft, text| put(&mut draft.keys.median, positive(text)),
    ),
    Argument::value(
        &["key-zipf-exp"],
        &[],
        "NUMBER",
        "exponent of pattern Z, above 0 and below 5 (default 1)",
        |draft, text| put(&mut draft.keys.zipf_exponent, zipf_exponent(text)),
    ),
    Argument::value(&["seed"], &[], "NUMBER", "where all random numbers come from (default 1)", |draft, text| {
        put(&mut draft.chance.seed, number(text, 0..=u64::MAX))
    })
    .own(),
    Argument::switch(&["randomize"], &[], "another seed in each run, in place of --seed", |draft| {
        draft.chance.randomize = true;
    }),
    Argument::switch(
        &["compat"],
        &[],
        "keep oddities of memtier_benchmark: all connections draw the same keys and values, ranges are split as it \
         splits them, and allkeys leaves out the last key",
        |draft| draft.chance.compat = true,
    )
    .own(),
    Argument::switch(
        &["distinct-client-seed"],
        &[],
        "with --compat, each connection draws keys and values of its own; without, it always does",
        |draft| draft.chance.distinct_client_seed = true,
    ),
];
