//! What `memtier_benchmark` does with ranges and `allkeys`.

use std::sync::Arc;

use super::{keys, requests, settings};
use zerolap_load_requests::{KeyPattern, Policy, Settings, requests_for_all_keys};

fn memtier(arguments: &str, pattern: KeyPattern) -> Arc<Settings> {
    settings(arguments, |settings| {
        settings.policy = Policy::Memtier;
        settings.commands.iter_mut().for_each(|command| command.pattern = pattern);
    })
}

/// Memtier's object generator as a plain loop over what it keeps: the ends of its range and the next key.
fn modelled(minimum: u64, maximum: u64, clients: u64, client: u64, count: usize) -> Vec<u64> {
    let range = (maximum - minimum) / clients + 1;
    let first = minimum + range * client;
    let last = if client == clients - 1 { maximum } else { first + range - 1 };
    let (mut next, mut keys) = (0, Vec::new());
    for _ in 0..count {
        if next < first {
            next = first;
        }
        keys.push(next);
        next += 1;
        if next > last {
            next = first;
        }
    }
    keys
}

#[test]
fn parallel_ranges_are_split_as_memtier_splits_them() {
    for (threads, clients) in [(1, 1), (1, 2), (2, 4), (3, 3), (1, 30)] {
        for (minimum, maximum) in [(0, 10), (5, 15), (1, 1), (1, 100), (7, 30)] {
            let arguments = format!("-t {threads} -c {clients} --key-minimum {minimum} --key-maximum {maximum}");
            let command = "--command SET+__key__";
            let settings = memtier(&format!("{arguments} {command}"), KeyPattern::Parallel);
            for client in 0..threads * clients {
                let expected = modelled(minimum, maximum, (threads * clients) as u64, client as u64, 50);
                assert_eq!(keys(&settings, client, 50), expected, "{arguments}, client {client}");
            }
        }
    }
}

#[test]
fn the_default_commands_walk_apart() {
    let settings = memtier("-t 1 -c 2 --ratio 2:1 --key-minimum 1 --key-maximum 10", KeyPattern::Parallel);
    let sent: Vec<String> = requests(&settings, 1, 6).iter().map(|words| words[..2].join(" ")).collect();
    let prefixed =
        ["SET memtier-6", "SET memtier-7", "GET memtier-6", "SET memtier-8", "SET memtier-9", "GET memtier-7"];
    assert_eq!(sent, prefixed);
}

#[test]
fn all_keys_leaves_one_out_and_is_shared_only_by_the_default_commands() {
    let range = "-t 2 -c 4 --key-minimum 5 --key-maximum 15";
    let set = "--command SET+__key__+__data__";
    let counted = |arguments: &str, pattern| {
        let settings = memtier(arguments, pattern);
        let counts: Vec<u64> = (0..8).map(|connection| requests_for_all_keys(&settings, connection)).collect();
        assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
        counts[0]
    };
    assert_eq!(counted(range, KeyPattern::Parallel), 2);
    assert_eq!(counted(&format!("{range} --ratio 1:0"), KeyPattern::Parallel), 2);
    assert_eq!(counted(&format!("{range} {set}"), KeyPattern::Parallel), 10);
    for pattern in [KeyPattern::Random, KeyPattern::Sequential, KeyPattern::Gaussian, KeyPattern::Zipf] {
        assert_eq!(counted(range, pattern), 10);
        assert_eq!(counted(&format!("{range} {set}"), pattern), 10);
    }
    // The same lines as the default ones are not the default ones.
    let same = format!("{range} {set} --command GET+__key__");
    assert_eq!(counted(&same, KeyPattern::Parallel), 10);
    let one_key = "-t 2 -c 4 --key-minimum 5 --key-maximum 5";
    assert_eq!(counted(one_key, KeyPattern::Parallel), 1);
    assert_eq!(counted(one_key, KeyPattern::Random), 10_000);
}

#[test]
fn one_stream_still_splits_the_range() {
    for policy in [Policy::Lab, Policy::Memtier] {
        let settings = settings("-t 1 -c 2 --key-minimum 1 --key-maximum 4 --command SET+__key__", |settings| {
            settings.commands[0].pattern = KeyPattern::Parallel;
            (settings.policy, settings.one_stream) = (policy, true);
        });
        assert_eq!([keys(&settings, 0, 3), keys(&settings, 1, 3)], [[1, 2, 1], [3, 4, 3]]);
    }
}
