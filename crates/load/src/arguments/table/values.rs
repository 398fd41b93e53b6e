//! Which values.

use super::{Argument, put};
use crate::arguments::values::{MOST_DATA_BYTES, expiry_range, number, size_list, size_pattern, size_range};

/// Beyond it no server takes a value.
const MOST_OFFSET_BYTES: u64 = (1 << 29) - 1;

pub(super) static ARGUMENTS: &[Argument] = &[
    Argument::value(&["data-size"], &['d'], "BYTES", "length of each value (default 32)", |draft, text| {
        put(&mut draft.data.size, number(text, 1..=MOST_DATA_BYTES))
    }),
    Argument::value(
        &["data-size-range"],
        &[],
        "LEAST-MOST",
        "lengths between these two, both included, in place of --data-size",
        |draft, text| put(&mut draft.data.range, size_range(text)),
    ),
    Argument::value(
        &["data-size-pattern"],
        &[],
        "R|S",
        "how --data-size-range is used: R at random (default), S the greater the key, the longer",
        |draft, text| put(&mut draft.data.pattern, size_pattern(text)),
    ),
    Argument::value(
        &["data-size-list"],
        &[],
        "BYTES:WEIGHT,...",
        "these lengths, each as many times in turn as its weight says, in place of --data-size",
        |draft, text| put(&mut draft.data.list, size_list(text)),
    ),
    Argument::value(
        &["data-offset"],
        &[],
        "BYTES",
        "without --command: write and read values from this offset on, with SETRANGE and GETRANGE (default 0)",
        |draft, text| put(&mut draft.data.offset, number(text, 0..=MOST_OFFSET_BYTES)),
    ),
    Argument::value(
        &["expiry-range"],
        &[],
        "LEAST-MOST",
        "without --command: values live for a random time between these two, in seconds, both included: SETEX in place \
         of SET; with a time of 0 it stays SET",
        |draft, text| put(&mut draft.data.expiry, expiry_range(text)),
    ),
    Argument::switch(&["random-data"], &['R'], "values are random bytes (default: all x)", |draft| {
        draft.data.random = true;
    }),
    Argument::switch(
        &["verify"],
        &[],
        "values are made from their keys, and what GET __key__ reads is compared with that; in a run that reads what \
         another one wrote, give it to both, with the same lengths",
        |draft| draft.data.verify = true,
    )
    .own(),
];
