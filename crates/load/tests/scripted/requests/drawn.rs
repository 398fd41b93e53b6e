//! Patterns that draw: random, gaussian, zipf.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;

use super::{counts, keys, settings};
use zerolap_load_requests::{KeyPattern, KeyRange, Policy, Settings};

const DRAWN: usize = 20_000;

/// One connection that draws keys from `minimum` to `maximum`.
fn drawing(pattern: KeyPattern, (minimum, maximum): (u64, u64), change: impl FnOnce(&mut Settings)) -> Arc<Settings> {
    settings("-t 1 -c 2 --command GET+__key__", |settings| {
        settings.commands[0].pattern = pattern;
        settings.keys.range = KeyRange::new(minimum, maximum).expect("a range");
        change(settings);
    })
}

/// Keys are independent, so the statistic is distributed as chi-square: its mean is one less than the number of classes
/// and its variance twice that. Classes too rare for this are taken together.
fn assert_distributed(counts: &[u64], weights: &[f64]) {
    assert_eq!(counts.len(), weights.len());
    let (drawn, weight) = (counts.iter().sum::<u64>() as f64, weights.iter().sum::<f64>());
    let (mut statistic, mut classes) = (0.0, 0.0);
    let mut add = |count: f64, expected: f64| {
        if expected > 0.0 {
            statistic += (count - expected).powi(2) / expected;
            classes += 1.0;
        } else {
            assert!(count == 0.0, "drawn though impossible");
        }
    };
    let mut rare = (0.0, 0.0);
    for (&count, share) in counts.iter().zip(weights) {
        let (count, expected) = (count as f64, drawn * share / weight);
        if expected < 10.0 {
            rare = (rare.0 + count, rare.1 + expected);
        } else {
            add(count, expected);
        }
    }
    add(rare.0, rare.1);
    let bound = classes - 1.0 + 5.0 * f64::sqrt(2.0 * classes);
    assert!(statistic < bound, "{statistic} of {classes} classes, at most {bound}: {counts:?}");
}

/// The integral of the normal density from `from` to `to`, by the trapezoidal rule.
fn normal_weight(median: f64, deviation: f64, from: f64, to: f64) -> f64 {
    let density = |at: f64| (-((at - median) / deviation).powi(2) / 2.0).exp();
    let step = (to - from) / 1000.0;
    (0..1000)
        .map(|index| from + step * f64::from(index))
        .map(|at| f64::midpoint(density(at), density(at + step)) * step)
        .sum()
}

#[test]
fn random_keys_come_alike() {
    let counts = counts(&keys(&drawing(KeyPattern::Random, (3, 40), |_| ()), 0, DRAWN), 40);
    assert_distributed(&counts, &[vec![0.0; 3], vec![1.0; 38]].concat());
}

#[test]
fn gaussian_keys_are_normal_within_the_range() {
    // The range, what is set, and what it means by memtier's defaults.
    let cases = [
        ((10, 40), (None, None), (25.5, 5.0)),
        ((0, 7), (None, None), (4.0, 7.0 / 6.0)),
        ((10, 40), (Some(12.0), None), (12.0, 5.0)),
        ((10, 40), (Some(40.0), Some(2.5)), (40.0, 2.5)),
        ((10, 40), (Some(5.0), Some(10.0)), (5.0, 10.0)),
        ((10, 40), (None, Some(40.0)), (25.5, 40.0)),
    ];
    for ((minimum, maximum), (set_median, set_deviation), (median, deviation)) in cases {
        let settings = drawing(KeyPattern::Gaussian, (minimum, maximum), |settings| {
            settings.keys.median = set_median;
            settings.keys.standard_deviation = set_deviation;
        });
        let weight = |key: u64| {
            let key_weight = normal_weight(median, deviation, key as f64, (key + 1) as f64);
            if key < minimum { 0.0 } else { key_weight }
        };
        let weights: Vec<f64> = (0..=maximum).map(weight).collect();
        assert_distributed(&counts(&keys(&settings, 1, DRAWN), maximum), &weights);
    }
}

#[test]
fn a_gaussian_far_from_the_range_comes_to_an_end() {
    let drawn = |median, deviation| {
        let settings = drawing(KeyPattern::Gaussian, (100, 120), |settings| {
            settings.keys.median = median;
            settings.keys.standard_deviation = deviation;
        });
        keys(&settings, 0, 2000)
    };
    assert!(drawn(Some(1e9), Some(1.0)).iter().all(|&key| key == 120));
    assert!(drawn(Some(0.0), Some(1.0)).iter().all(|&key| key == 100));
    assert!(drawn(Some(110.0), Some(0.0)).iter().all(|&key| key == 110));
    // A very wide one is as good as uniform, not a heap at the ends.
    assert_eq!(drawn(None, Some(1e12)).into_iter().collect::<BTreeSet<u64>>(), (100..=120).collect());
}

#[test]
fn zipf_keys_have_the_weights_of_their_ranks() {
    for exponent in [0.2, 0.99, 1.0, 1.000_01, 1.5, 4.9] {
        for (range, policy) in [
            ((1, 60), Policy::Lab),
            ((0, 60), Policy::Lab),
            ((20, 60), Policy::Lab),
            ((7, 7), Policy::Lab),
            ((1, 60), Policy::Memtier),
            ((0, 60), Policy::Memtier),
            ((20, 60), Policy::Memtier),
            ((0, 0), Policy::Memtier),
        ] {
            let settings = drawing(KeyPattern::Zipf, range, |settings| {
                settings.keys.zipf_exponent = exponent;
                settings.policy = policy;
            });
            let (minimum, maximum) = match policy {
                Policy::Lab => range,
                Policy::Memtier => (range.0.max(1), range.1.max(1)),
            };
            let rank = |key: u64| if policy == Policy::Lab { key - minimum + 1 } else { key };
            let weight = |key: u64| if key < minimum { 0.0 } else { (rank(key) as f64).powf(-exponent) };
            let weights: Vec<f64> = (0..=maximum).map(weight).collect();
            assert_distributed(&counts(&keys(&settings, 0, DRAWN), maximum), &weights);
        }
    }
}

#[test]
fn zipf_ranks_that_are_large_are_nearly_alike() {
    let first = 1_000_000_000_000_000_000;
    let settings = drawing(KeyPattern::Zipf, (first, first + 19), |settings| settings.policy = Policy::Memtier);
    let distances: Vec<u64> = keys(&settings, 0, DRAWN).iter().map(|key| key - first).collect();
    assert_distributed(&counts(&distances, 19), &[1.0; 20]);
}

#[test]
fn connections_draw_their_own_keys_unless_there_is_one_stream() {
    for pattern in [KeyPattern::Random, KeyPattern::Gaussian, KeyPattern::Zipf] {
        let drawn = |seed: u64, one_stream: bool, connection: usize| {
            let change = |settings: &mut Settings| (settings.seed, settings.one_stream) = (seed, one_stream);
            keys(&drawing(pattern, (1, 1000), change), connection, 50)
        };
        assert_eq!(drawn(1, false, 1), drawn(1, false, 1));
        assert_ne!(drawn(1, false, 1), drawn(2, false, 1));
        assert_ne!(drawn(1, false, 0), drawn(1, false, 1));
        assert_eq!(drawn(1, true, 0), drawn(1, true, 1));
        assert_eq!(drawn(1, true, 1), drawn(1, false, 0));
    }
}

proptest! {
    #[test]
    fn keys_stay_in_the_range(
        minimum: u64,
        more in prop_oneof![0_u64..1000, 0..u64::MAX],
        seed: u64,
        pattern in prop::sample::select(vec![KeyPattern::Random, KeyPattern::Gaussian, KeyPattern::Zipf]),
        median in prop::option::of(0.0..1e20),
        standard_deviation in prop::option::of(0.0..1e20),
        zipf_exponent in 0.001..4.999,
        is_lab: bool,
    ) {
        let Some(range) = KeyRange::new(minimum, minimum.saturating_add(more)) else { return Ok(()) };
        let settings = drawing(pattern, (range.minimum(), range.maximum()), |settings| {
            settings.seed = seed;
            settings.keys.median = median;
            settings.keys.standard_deviation = standard_deviation;
            settings.keys.zipf_exponent = zipf_exponent;
            settings.policy = if is_lab { Policy::Lab } else { Policy::Memtier };
        });
        for key in keys(&settings, 0, 20) {
            prop_assert!(range.minimum() <= key && key <= range.maximum());
        }
    }
}
