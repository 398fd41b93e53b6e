//! Keys that are not all equally likely.

use crate::support::load;
use crate::support::scripted::Scripted;

const REQUESTS: usize = 4_000;

/// So many keys of two connections.
fn drawn(pattern: &str, arguments: &[&str]) -> Vec<u64> {
    let server = Scripted::answering("+OK\r\n");
    let shape =
        ["-t", "1", "-c", "2", "-n", "2000", "--pipeline", "50", "--key-prefix", "", "--command", "GET __key__"];
    load(&server, &[&shape[..], &["--command-key-pattern", pattern], arguments].concat());
    let keys = server.keys("");
    assert_eq!(keys.len(), REQUESTS);
    keys
}

fn share(keys: &[u64], range: std::ops::RangeInclusive<u64>) -> f64 {
    keys.iter().filter(|key| range.contains(key)).count() as f64 / keys.len() as f64
}

fn mean(keys: &[u64]) -> f64 {
    keys.iter().sum::<u64>() as f64 / keys.len() as f64
}

/// That a share is the expected one, within 5 standard errors.
fn expect_share(share: f64, expected: f64) {
    let error = (expected * (1.0 - expected) / REQUESTS as f64).sqrt();
    assert!((share - expected).abs() < 5.0 * error, "{share} is not {expected}");
}

const THOUSAND: [&str; 4] = ["--key-minimum", "1001", "--key-maximum", "2000"];

#[test]
fn gaussian_keys_lie_around_the_middle_a_sixth_of_the_range_wide() {
    let keys = drawn("G", &THOUSAND);
    assert!((share(&keys, 1_001..=2_000) - 1.0).abs() < 1e-9, "within the range");
    assert!((mean(&keys) - 1_500.5).abs() < 5.0 * 167.0 / 63.0, "{}", mean(&keys));
    expect_share(share(&keys, 1_334..=1_667), 0.684);
}

#[test]
fn median_and_deviation_of_gaussian_keys_can_be_chosen() {
    let keys = drawn("G", &[&THOUSAND[..], &["--key-median", "1200", "--key-stddev", "10"]].concat());
    assert!((mean(&keys) - 1_200.0).abs() < 1.5, "{}", mean(&keys));
    expect_share(share(&keys, 1_190..=1_209), 0.683);
    let wide = drawn("G", &[&THOUSAND[..], &["--key-stddev", "40"]].concat());
    expect_share(share(&wide, 1_461..=1_540), 0.683);
    let at_the_end = drawn("G", &[&THOUSAND[..], &["--key-median", "2000", "--key-stddev", "5"]].concat());
    assert!(at_the_end.iter().all(|key| (1_970..=2_000).contains(key)), "never beyond the range");
}

#[test]
fn zipf_keys_are_the_likelier_the_nearer_to_the_first() {
    let keys = drawn("Z", &THOUSAND);
    assert!((share(&keys, 1_001..=2_000) - 1.0).abs() < 1e-9, "within the range");
    // The weights 1, 1/2, 1/3, ... 1/1000 add up to 7.4855.
    expect_share(share(&keys, 1_001..=1_001), 1.0 / 7.4855);
    expect_share(share(&keys, 1_002..=1_002), 1.0 / 2.0 / 7.4855);
    expect_share(share(&keys, 1_001..=1_010), 2.9290 / 7.4855);
}

#[test]
fn the_exponent_of_zipf_keys_can_be_chosen() {
    // 1 + 1/4 + 1/9 + ... = 1.6439.
    let steep = drawn("Z", &[&THOUSAND[..], &["--key-zipf-exp", "2"]].concat());
    expect_share(share(&steep, 1_001..=1_001), 1.0 / 1.6439);
    // The sum of d^-0.5 up to 1000 is 61.801.
    let flat = drawn("Z", &[&THOUSAND[..], &["--key-zipf-exp", "0.5"]].concat());
    expect_share(share(&flat, 1_001..=1_001), 1.0 / 61.801);
}

#[test]
fn key_pattern_spreads_the_keys_of_set_and_get() {
    let server = Scripted::answering("$-1\r\n");
    let keys = ["--key-minimum", "1", "--key-maximum", "1000", "--key-prefix", "", "--key-pattern", "G:Z"];
    let spread = ["--key-stddev", "20", "--key-zipf-exp", "1.5"];
    let shape = ["-t", "1", "-c", "1", "-n", "4000", "--ratio", "1:1", "--pipeline", "50"];
    load(&server, &[&shape[..], &keys, &spread].concat());
    let (sets, gets): (Vec<_>, Vec<_>) = server.requests().into_iter().partition(|request| request[0] == "SET");
    let numbers = |requests: Vec<Vec<String>>| -> Vec<u64> {
        requests.iter().map(|request| request[1].parse().expect("a number")).collect()
    };
    let (sets, gets) = (numbers(sets), numbers(gets));
    assert!((mean(&sets) - 500.5).abs() < 5.0 * 20.0 / 44.0, "{}", mean(&sets));
    // 1 / zeta(1.5), nearly: 0.39; half as many keys as elsewhere, hence twice the room.
    assert!((share(&gets, 1..=1) - 0.39).abs() < 0.08, "{}", share(&gets, 1..=1));
}
