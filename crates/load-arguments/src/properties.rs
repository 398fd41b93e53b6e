//! What holds for every command line.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::parse;
use super::table::all;

/// Values that some argument takes, and some that none does.
const VALUES: &[&str] = &[
    "0",
    "1",
    "7",
    "99999999999999999999",
    "0.5",
    "-1",
    "nan",
    "",
    "allkeys",
    "R",
    "P",
    "Z",
    "R:R",
    "P:P",
    "1:0",
    "5-9",
    "9-5",
    "5:1,9:2",
    "50,99.9",
    "resp3",
    "TLSv1.2",
    "redis://u:p@h:1/2",
    "unix:///x",
    "poisson",
    "line",
    "PING",
    "SCAN 0",
    "SET __key__ __data__",
    "GET \"",
    "__monitor_line@__",
    "__monitor_line1__",
    "0-3",
    "--",
    "-",
];

/// Words such as the table's names, their beginnings, values, or any bytes.
fn word() -> impl Strategy<Value = OsString> {
    let names: Vec<&str> = all().flat_map(|argument| argument.long).copied().collect();
    let letters: Vec<char> = all().flat_map(|argument| argument.short).copied().collect();
    prop_oneof![
        4 => select(names.clone()).prop_map(|name| format!("--{name}").into()),
        1 => (select(names.clone()), 0_usize..12).prop_map(|(name, length)| {
            format!("--{}", &name[..length.min(name.len())]).into()
        }),
        2 => (select(names), select(VALUES)).prop_map(|(name, value)| format!("--{name}={value}").into()),
        1 => (vec(select(letters), 1..4), select(VALUES)).prop_map(|(letters, value)| {
            format!("-{}{value}", letters.into_iter().collect::<String>()).into()
        }),
        4 => select(VALUES).prop_map(OsString::from),
        1 => vec(any::<u8>(), 0..12).prop_map(OsString::from_vec),
    ]
}

/// Arguments that do not depend on their order, each with its value.
const INDEPENDENT: &[&[&str]] = &[
    &["-s", "db"],
    &["-p7000"],
    &["--uri=redis://other"],
    &["-S", "/x"],
    &["-4"],
    &["--tls"],
    &["--cacert", "a.pem"],
    &["--cluster-mode"],
    &["-t", "3"],
    &["-c9"],
    &["--pipeline", "4"],
    &["--lockstep"],
    &["--reconnect-interval", "4"],
    &["-n", "allkeys"],
    &["--test-time", "3"],
    &["--rate", "50"],
    &["--rate-limiting", "5"],
    &["--arrivals", "poisson"],
    &["-x2"],
    &["--prefill"],
    &["--command", "SET __key__ __data__", "--command-ratio", "2", "--command", "PING", "--command-key-pattern", "P"],
    &["--ratio", "1:1"],
    &["--key-pattern", "G:Z"],
    &["--key-median", "7"],
    &["--key-maximum", "100"],
    &["--key-prefix", ""],
    &["-d", "9"],
    &["--data-size-range", "5-9"],
    &["--data-offset", "3"],
    &["--expiry-range", "9-5"],
    &["-R"],
    &["--compat"],
    &["--distinct-client-seed"],
    &["--seed", "4"],
    &["--verify"],
    &["--hide-histogram"],
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn no_words_are_too_much(words in vec(word(), 0..12)) {
        // Most are refused; what matters is that each comes to an end.
        let _ = parse(words);
    }

    #[test]
    fn the_order_of_arguments_does_not_matter(
        (ordered, shuffled) in subsequence(INDEPENDENT, 0..10)
            .prop_flat_map(|chosen| (Just(chosen.clone()), Just(chosen).prop_shuffle())),
    ) {
        let read = |chosen: Vec<&[&str]>| format!("{:?}", parse(chosen.concat().into_iter().map(OsString::from)));
        prop_assert_eq!(read(ordered), read(shuffled));
    }
}
