//! `allkeys` of the laboratory's policy.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::{requests, settings};
use zerolap_load_requests::{KeyPattern, KeyRange, Settings, requests_for_all_keys};

/// How often each command drew each key, over all connections.
fn drawn(settings: &Arc<Settings>) -> BTreeMap<(String, u64), u64> {
    let mut drawn = BTreeMap::new();
    for connection in 0..settings.connections() {
        let count = requests_for_all_keys(settings, connection);
        for words in requests(settings, connection, usize::try_from(count).expect("few")) {
            for key in words.iter().filter_map(|word| word.strip_prefix("memtier-")) {
                *drawn.entry((words[0].clone(), key.parse().expect("an id"))).or_default() += 1;
            }
        }
    }
    drawn
}

fn each(command: &str, keys: std::ops::RangeInclusive<u64>, times: u64) -> BTreeMap<(String, u64), u64> {
    keys.map(|key| ((command.to_owned(), key), times)).collect()
}

const ELEVEN_KEYS_OVER_EIGHT: &str = "-t 2 -c 4 --key-minimum 5 --key-maximum 15";

#[test]
fn eleven_keys_over_eight_connections() {
    let with = |commands: &str| drawn(&settings(&format!("{ELEVEN_KEYS_OVER_EIGHT} {commands}"), |_| ()));
    assert_eq!(with("--command SET+__key__ --command-key-pattern P"), each("SET", 5..=15, 1));
    assert_eq!(with("--command SET+__key__ --command-key-pattern S"), each("SET", 5..=15, 8));
    let two = "--command SET+__key__ --command-key-pattern P --command GET+__key__ --command-key-pattern";
    // Rotations are whole: connections with one key send as many GETs as SETs, and so do those with two.
    assert_eq!(
        with(&format!("{two} P")),
        [each("SET", 5..=15, 1), each("GET", 5..=15, 1)].into_iter().flatten().collect()
    );
}

#[test]
fn draws_are_shared_out() {
    for pattern in [KeyPattern::Random, KeyPattern::Gaussian, KeyPattern::Zipf] {
        let settings = settings(&format!("{ELEVEN_KEYS_OVER_EIGHT} --command SET+__key__"), |settings| {
            settings.commands[0].pattern = pattern;
        });
        let counts: Vec<u64> = (0..8).map(|connection| requests_for_all_keys(&settings, connection)).collect();
        assert_eq!(counts, [2, 2, 2, 1, 1, 1, 1, 1]);
        let drawn = drawn(&settings);
        assert_eq!(drawn.values().sum::<u64>(), 11);
        assert!(drawn.keys().all(|(_, key)| (5..=15).contains(key)));
    }
}

#[test]
fn a_command_that_is_never_sent_does_not_count() {
    let settings = settings(&format!("{ELEVEN_KEYS_OVER_EIGHT} --ratio 3:0"), |settings| {
        settings.commands[0].pattern = KeyPattern::Parallel;
        settings.commands[1].pattern = KeyPattern::Parallel;
    });
    assert_eq!(drawn(&settings), each("SET", 5..=15, 1));
}

proptest! {
    /// Model: send rotation after rotation until every command that walks has drawn as many keys as it has to walk.
    #[test]
    fn walks_are_complete_and_no_longer_than_they_must(
        threads in 1_usize..4,
        clients in 1_usize..5,
        size in 1_u64..40,
        commands in prop::collection::vec((0_u64..4, 1_usize..4, prop::sample::select(vec!['R', 'S', 'P'])), 1..4),
    ) {
        prop_assume!(commands.iter().any(|&(ratio, ..)| ratio > 0));
        let lines = |&(_, keys, pattern): &(u64, usize, char)| {
            format!("--command MGET{} --command-key-pattern {pattern}", "+__key__".repeat(keys))
        };
        let lines: Vec<String> = commands.iter().map(lines).collect();
        let settings = settings(&format!("-t {threads} -c {clients} {}", lines.join(" ")), |settings| {
            settings.keys.range = KeyRange::new(1, size).expect("a range");
            settings.commands.iter_mut().zip(&commands).for_each(|(command, given)| command.ratio = given.0);
        });
        let connections = threads * clients;
        let mut total = 0;
        for connection in 0..connections {
            // The keys of the connection's part, dealt out from the first connection on.
            let mut part = 0;
            for key in 0..size {
                part += u64::from(usize::try_from(key).expect("small") % connections == connection);
            }
            let sent: Vec<_> = commands.iter().filter(|&&(ratio, ..)| ratio > 0).collect();
            let walks = |pattern| match pattern { 'S' => size, 'P' => part, _ => 0 };
            let mut left: Vec<u64> = sent.iter().map(|&&(_, _, pattern)| walks(pattern)).collect();
            let mut expected = 0;
            while left.iter().any(|&left| left > 0) {
                for (left, &&(ratio, keys, _)) in left.iter_mut().zip(&sent) {
                    for _ in 0..ratio {
                        if sent.len() > 1 || *left > 0 {
                            expected += 1;
                        }
                        *left = left.saturating_sub(keys as u64);
                    }
                }
            }
            let counted = requests_for_all_keys(&settings, connection);
            total += counted;
            if sent.iter().any(|&&(_, _, pattern)| pattern != 'R') {
                prop_assert_eq!(counted, expected);
            }
        }
        if commands.iter().all(|&(ratio, _, pattern)| ratio == 0 || pattern == 'R') {
            prop_assert_eq!(total, size);
        }
    }
}
