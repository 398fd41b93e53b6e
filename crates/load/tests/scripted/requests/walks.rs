//! Sequential and parallel patterns.

use super::{keys, requests, settings};
use zerolap_load_requests::{KeyPattern, KeyRange};

#[test]
fn a_walk_wraps_after_the_last_key() {
    let arguments = "-t 2 -c 2 --key-minimum 5 --key-maximum 7 --command GET+__key__ --command-key-pattern S";
    assert_eq!(keys(&settings(arguments, |_| ()), 3, 7), [5, 6, 7, 5, 6, 7, 5]);
}

#[test]
fn the_last_id_there_can_be_is_no_trouble() {
    for pattern in [KeyPattern::Parallel, KeyPattern::Sequential, KeyPattern::Random, KeyPattern::Gaussian] {
        let settings = settings("-t 1 -c 2 --command GET+__key__", |settings| {
            settings.keys.range = KeyRange::new(u64::MAX, u64::MAX).expect("a range");
            settings.commands[0].pattern = pattern;
        });
        assert_eq!(keys(&settings, 1, 2), [u64::MAX; 2]);
    }
}

#[test]
fn connections_beyond_the_keys_share_them() {
    let arguments = "-t 1 -c 8 --key-minimum 1 --key-maximum 3 --command GET+__key__ --command-key-pattern P";
    let settings = settings(arguments, |_| ());
    let walked: Vec<Vec<u64>> = (0..8).map(|index| keys(&settings, index, 2)).collect();
    assert_eq!(walked, [[1, 1], [2, 2], [3, 3], [1, 1], [2, 2], [3, 3], [1, 1], [2, 2]]);
}

#[test]
fn each_command_walks_by_itself() {
    let arguments = "-t 1 -c 2 --key-minimum 1 --key-maximum 4 --key-prefix k --command-ratio 2";
    let commands = "--command SET+__key__+x --command-key-pattern P --command GET+__key__ --command-key-pattern S";
    let arguments = format!("{commands} {arguments}");
    let sent: Vec<String> =
        requests(&settings(&arguments, |_| ()), 1, 9).iter().map(|words| words[..2].join(" ")).collect();
    assert_eq!(sent, ["SET k3", "GET k1", "GET k2", "SET k4", "GET k3", "GET k4", "SET k3", "GET k1", "GET k2"]);
}
