//! Lengths and bytes of values.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{requests, settings};
use zerolap_load_requests::{DataSizes, Settings};

/// Two connections that SET keys from 3 to 13 in order.
fn setting(sizes: DataSizes, change: impl FnOnce(&mut Settings)) -> Arc<Settings> {
    let arguments = "-t 1 -c 2 --key-minimum 3 --key-maximum 13 --command SET+__key__+__data__ --command-key-pattern S";
    settings(arguments, |settings| {
        settings.data.sizes = sizes;
        change(settings);
    })
}

/// Lengths of the values (third words).
fn lengths(settings: &Arc<Settings>, connection: usize, count: usize) -> Vec<usize> {
    requests(settings, connection, count).iter().map(|words| words[2].chars().count()).collect()
}

#[test]
fn uniform_sizes_come_alike_and_both_ends_do() {
    let settings = setting(DataSizes::Uniform(0, 4), |_| ());
    let drawn = lengths(&settings, 0, 10_000);
    let mut counts = BTreeMap::<usize, u32>::new();
    for length in &drawn {
        *counts.entry(*length).or_default() += 1;
    }
    assert_eq!(counts.keys().copied().collect::<Vec<usize>>(), [0, 1, 2, 3, 4]);
    // 5 standard deviations of a count are 200.
    assert!(counts.values().all(|count| count.abs_diff(2000) < 200), "{counts:?}");
    assert_ne!(drawn[..50], lengths(&settings, 1, 50));
    assert_eq!(lengths(&setting(DataSizes::Uniform(7, 7), |_| ()), 0, 3), [7, 7, 7]);
}

#[test]
fn sizes_by_key_grow_with_the_key() {
    let lengths_of = |low, high| lengths(&setting(DataSizes::ByKey(low, high), |_| ()), 1, 12);
    assert_eq!(lengths_of(10, 20), [10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 10]);
    assert_eq!(lengths_of(1, 5), [1, 1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 1]);
    assert_eq!(lengths_of(4, 4), [4; 12]);
}

#[test]
fn the_key_of_a_size_is_the_last_one_before_it_in_the_request() {
    let arguments = "-t 1 -c 1 --key-minimum 0 --key-maximum 4 --command-key-pattern S";
    let sizes_of = |command: &str, count| -> Vec<Vec<usize>> {
        let settings = settings(&format!("--command {command} {arguments}"), |settings| {
            settings.data.sizes = DataSizes::ByKey(100, 500);
        });
        let lengths = |words: &Vec<String>| words.iter().map(String::len).filter(|length| *length >= 100).collect();
        requests(&settings, 0, count).iter().map(lengths).collect()
    };
    assert_eq!(sizes_of("MSET+__key__+__data__+__key__+__data__", 3), [[100, 200], [300, 400], [500, 100]]);
    assert_eq!(sizes_of("SET+__key__+__data__+__data__", 2), [[100, 100], [200, 200]]);
    // A value before any key of its own request does not take that of the request before.
    assert_eq!(sizes_of("X+__data__+__key__", 3), [[100], [100], [100]]);
}

#[test]
fn the_size_of_the_only_key_is_the_low_one() {
    let settings = settings("--key-minimum 9 --key-maximum 9 --command SET+__key__+__data__", |settings| {
        settings.data.sizes = DataSizes::ByKey(2, 6);
    });
    assert_eq!(lengths(&settings, 0, 3), [2, 2, 2]);
}

#[test]
fn weighted_sizes_take_turns_on_each_connection() {
    let settings = setting(DataSizes::Weighted(vec![(8, 2), (1, 0), (3, 1), (5, 3)]), |_| ());
    for connection in 0..2 {
        assert_eq!(lengths(&settings, connection, 14), [8, 8, 3, 5, 5, 5, 8, 8, 3, 5, 5, 5, 8, 8]);
    }
}

#[test]
fn values_are_bytes_of_their_size_random_or_not() {
    for sizes in [
        DataSizes::Fixed(40),
        DataSizes::Fixed(0),
        DataSizes::Uniform(30, 50),
        DataSizes::ByKey(30, 50),
        DataSizes::Weighted(vec![(30, 1), (50, 1)]),
    ] {
        let plain = setting(sizes.clone(), |_| ());
        assert!(requests(&plain, 0, 30).iter().all(|words| words[2].bytes().all(|byte| byte == b'x')));
        let random = setting(sizes.clone(), |settings| settings.data.random = true);
        let values = |connection| requests(&random, connection, 30).into_iter().map(|words| words[2].clone());
        let different = |values: Vec<String>| values.into_iter().collect::<std::collections::BTreeSet<String>>().len();
        if sizes != DataSizes::Fixed(0) {
            assert!(different(values(0).collect()) > 28);
            assert!(values(0).ne(values(1)));
        }
        assert!(values(1).eq(values(1)));
        if !matches!(sizes, DataSizes::Uniform(..)) {
            assert_eq!(lengths(&plain, 0, 30), lengths(&random, 0, 30));
        }
        let one = setting(sizes, |settings| (settings.data.random, settings.one_stream) = (true, true));
        assert_eq!(requests(&one, 0, 30), requests(&one, 1, 30));
    }
}
