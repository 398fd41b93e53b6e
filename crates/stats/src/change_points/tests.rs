use proptest::prelude::*;

use super::*;

/// Reproducible standard normal numbers.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn draw(&mut self) -> f64 {
        (-2.0 * (1.0 - self.uniform()).ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn series(seed: u64, points: usize) -> Vec<f64> {
        let mut noise = Self(seed);
        (0..points).map(|_| noise.draw()).collect()
    }
}

fn levels(values: &[f64]) -> Vec<SeriesPoint> {
    values.iter().map(|&value| SeriesPoint { value, variance: 1.0, penalty: 0.0 }).collect()
}

fn searched(points: &[SeriesPoint], known_variances: bool) -> ChangeSearch {
    let mut search = ChangeSearch::new(0.01, known_variances).expect("a level with thresholds");
    for &point in points {
        search.push(point).expect("a finite point");
    }
    search
}

fn changes(values: &[f64]) -> Changes {
    searched(&levels(values), false).changes()
}

fn with_step(mut values: Vec<f64>, at: usize, size: f64) -> Vec<f64> {
    values[at..].iter_mut().for_each(|value| *value += size);
    values
}

#[test]
fn a_step_is_named_with_its_place_and_size() {
    let found = changes(&with_step(Noise::series(1, 200), 120, 3.0));
    let [change] = found.changes.as_slice() else { panic!("{found:?}") };
    assert!(change.index.abs_diff(120) <= 1 && change.places.0 <= 120 && change.places.1 >= 120, "{change:?}");
    assert!(change.interval.0 < 3.0 && change.interval.1 > 3.0 && change.p < 1e-6, "{change:?}");
    assert_eq!(change.kind, Kind::Step);
}

#[test]
fn a_step_and_its_repair_are_two_changes() {
    let found = changes(&with_step(with_step(Noise::series(2, 200), 60, 4.0), 80, -4.0));
    let places: Vec<_> = found.changes.iter().map(|change| change.index).collect();
    assert_eq!(places.len(), 2, "{found:?}");
    assert!(places[0].abs_diff(60) <= 1 && places[1].abs_diff(80) <= 1, "{places:?}");
}

#[test]
fn spikes_are_no_change_however_large_and_as_last_points() {
    for spikes in 1..CONFIRMATION {
        for end in [50, 100] {
            let mut values = Noise::series(3, 100);
            values[end - spikes..end].fill(1e6);
            let found = changes(&values);
            assert_eq!(found.changes, [], "{spikes} spikes before {end}");
            assert_eq!(found.disturbed, []);
            assert_eq!(found.spikes, (end - spikes..end).collect::<Vec<_>>());
        }
    }
}

#[test]
fn there_is_no_change_where_the_code_is_identical() {
    let mut points = levels(&with_step(Noise::series(4, 100), 50, 6.0));
    for (index, point) in points.iter_mut().enumerate() {
        point.penalty = if index == 55 { 0.0 } else { f64::INFINITY };
    }
    let found = searched(&points, false).changes();
    assert_eq!(found.changes.iter().map(|change| change.index).collect::<Vec<_>>(), [55]);
}

#[test]
fn a_known_change_costs_nothing_and_keeps_its_place() {
    let mut points = levels(&with_step(Noise::series(9, 100), 50, 1.0));
    points[52].penalty = f64::NEG_INFINITY;
    let found = searched(&points, false).changes();
    assert_eq!(found.changes.iter().map(|change| change.index).collect::<Vec<_>>(), [52]);
}

#[test]
fn a_short_stretch_apart_is_as_sure_as_half_of_what_it_gains() {
    let found = changes(&with_step(with_step(Noise::series(11, 200), 100, 6.0), 106, -6.0));
    let [first, second] = found.changes.as_slice() else { panic!("{found:?}") };
    // Six points whose loss is bounded by 9 each cannot gain more for each of the two changes.
    assert!(first.gain <= 27.0 && (first.gain - second.gain).abs() < 1e-9, "{found:?}");
}

#[test]
fn a_ramp_is_no_row_of_steps() {
    let ramp: Vec<_> = Noise::series(5, 200).iter().zip(0..).map(|(noise, at)| noise + 0.1 * f64::from(at)).collect();
    let found = changes(&ramp);
    assert!(found.changes.len() > 1 && found.changes.iter().all(|change| change.kind == Kind::Ramp), "{found:?}");
}

#[test]
fn a_stretch_without_a_level_is_disturbed() {
    let mut values = Noise::series(6, 200);
    let mut noise = Noise(7);
    values[90..100].iter_mut().for_each(|value| *value = 20.0 + 60.0 * noise.uniform());
    let found = changes(&values);
    let [stretch] = found.disturbed.as_slice() else { panic!("{found:?}") };
    assert!(stretch.start.abs_diff(90) <= 1 && stretch.end.abs_diff(100) <= 1, "{stretch:?}");
}

#[test]
fn a_series_without_noise_shows_its_steps_and_a_constant_one_none() {
    let mut values = vec![100.0; 40];
    assert_eq!(changes(&values).changes, []);
    values[20..].fill(101.0);
    assert_eq!(changes(&values).changes.iter().map(|change| change.index).collect::<Vec<_>>(), [20]);
}

#[test]
fn uncertain_levels_weigh_less() {
    // A run of levels that are known badly stands apart; where it is as certain as the others, it is a change.
    let values = with_step(with_step(Noise::series(8, 60), 30, 4.0), 40, -4.0);
    let mut points = levels(&values);
    assert_eq!(searched(&points, true).changes().changes.len(), 2);
    points[30..40].iter_mut().for_each(|point| point.variance = 100.0);
    assert_eq!(searched(&points, true).changes().changes, []);
}

#[test]
fn known_variances_that_are_too_small_are_not_believed() {
    let mut alarms = 0;
    for seed in 0..100 {
        let points: Vec<_> = Noise::series(100 + seed, 100)
            .into_iter()
            .map(|value| SeriesPoint { value, variance: 0.01, penalty: 0.0 })
            .collect();
        alarms += usize::from(!searched(&points, true).changes().changes.is_empty());
    }
    assert!(alarms <= 5, "{alarms}");
}

#[test]
fn p_values_of_series_without_changes_are_uniform_in_their_tail() {
    for (points, known_variances) in [(32, false), (32, true), (365, false)] {
        let mut small = [0; 2];
        let count = 2000;
        for seed in 0..count {
            let mut search = searched(&levels(&Noise::series(10_000 + seed, points)), known_variances);
            let p = thresholds::probability(search.critical_gain(thresholds::LEAST_GAIN), points, known_variances);
            for (limit, small) in [0.05, 0.01].into_iter().zip(&mut small) {
                *small += i32::from(p <= limit);
            }
        }
        // Five standard errors, and what a series of 365 gains by the thresholds of 384. Those of short series hold for
        // correlated points too, and independent ones gain so much less often.
        let fewest = if points < 365 { 0 } else { 3 };
        assert!(small[0] <= 150 && (fewest..=45).contains(&small[1]), "{points} {known_variances}: {small:?}");
    }
}

#[test]
fn short_correlated_series_without_a_change_rarely_have_one() {
    for points in [12, 24, 32, 50, 64, 100] {
        for correlation in [0.3, 0.5_f64] {
            let count = 1000;
            let alarms = (0..count)
                .filter(|seed| {
                    let mut value = 0.0;
                    let draws = Noise::series(1_000_000 + seed, points + 20);
                    let values: Vec<_> = draws
                        .into_iter()
                        .map(|draw| {
                            value = correlation * value + (1.0 - correlation * correlation).sqrt() * draw;
                            value
                        })
                        .skip(20)
                        .collect();
                    !changes(&values).changes.is_empty()
                })
                .count();
            assert!(alarms <= 50, "{points} {correlation}: {alarms} of {count}");
        }
    }
}

#[test]
fn thresholds_and_probabilities_agree() {
    for points in [8, 100, 365, 5000, 20_000] {
        for level in [0.05, 0.01, 0.003, 0.001] {
            let gain = thresholds::gain(level, points, false);
            let p = thresholds::probability(gain, points, false);
            let is_least = gain <= thresholds::LEAST_GAIN;
            assert!(is_least || (p / level).ln().abs() < 0.3, "{points} {level} {gain} {p}");
        }
        assert!(thresholds::probability(1000.0, points, true) < 1e-9);
    }
}

#[test]
fn what_is_no_number_is_refused_and_leaves_the_series_as_it_was() {
    let mut search = searched(&levels(&[1.0, 2.0]), false);
    let point = SeriesPoint { value: 1.0, variance: 1.0, penalty: 0.0 };
    assert!(matches!(search.push(SeriesPoint { value: f64::NAN, ..point }), Err(ChangeError::Value(_))));
    assert_eq!(search.push(SeriesPoint { variance: 0.0, ..point }), Err(ChangeError::Variance(0.0)));
    assert_eq!(search.push(SeriesPoint { penalty: f64::NAN, ..point }), Err(ChangeError::Penalty));
    assert_eq!(search.len(), 2);
    assert_eq!(ChangeSearch::new(0.2, false).err(), Some(ChangeError::SearchLevel(0.2)));
}

/// Series of several levels with spikes; some of them rounded, so that values are equal.
fn stepping() -> impl Strategy<Value = Vec<f64>> {
    let segment = (1..40_usize, -8.0..8.0_f64);
    (prop::collection::vec(segment, 1..6), any::<u64>(), any::<bool>()).prop_map(|(segments, seed, rounded)| {
        let mut noise = Noise(seed);
        let mut values = Vec::new();
        for (length, level) in segments {
            for _ in 0..length {
                let spike = if noise.uniform() < 0.03 { 20.0 } else { 0.0 };
                let value = level + noise.draw() + spike;
                values.push(if rounded { value.round() } else { value });
            }
        }
        values
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn point_by_point_and_in_bulk_give_the_same(values in stepping()) {
        let points = levels(&values);
        let mut growing = ChangeSearch::new(0.01, false).expect("a level with thresholds");
        for (index, point) in points.iter().enumerate() {
            growing.push(*point).expect("a finite point");
            let whole = searched(&points[..=index], false).changes();
            prop_assert_eq!(growing.changes(), whole, "after {} points", index + 1);
        }
    }

    #[test]
    fn a_mirrored_series_has_mirrored_changes(values in stepping()) {
        let mirrored: Vec<_> = values.iter().map(|value| -value).collect();
        let (found, other) = (changes(&values), changes(&mirrored));
        prop_assert_eq!(&found.spikes, &other.spikes);
        prop_assert_eq!(&found.disturbed, &other.disturbed);
        let back: Vec<_> = other.changes.iter().map(|change| ChangePoint {
            before: -change.before, after: -change.after, interval: (-change.interval.1, -change.interval.0), ..*change
        }).collect();
        prop_assert_eq!(found.changes, back);
    }

    #[test]
    fn the_unit_of_the_values_does_not_matter(values in stepping(), exponent in -20..20_i32) {
        // Powers of two: multiplication by them is exact.
        let unit = 2.0_f64.powi(exponent);
        let scaled: Vec<_> = values.iter().map(|value| value * unit).collect();
        let (found, other) = (changes(&values), changes(&scaled));
        prop_assert_eq!(&found.spikes, &other.spikes);
        let indices = |changes: &Changes| changes.changes.iter().map(|change| (change.index, change.places)).collect::<Vec<_>>();
        prop_assert_eq!(indices(&found), indices(&other));
        for (change, other) in found.changes.iter().zip(&other.changes) {
            prop_assert!((change.after * unit - other.after).abs() <= 1e-9 * unit * (1.0 + change.after.abs()));
            prop_assert!((change.gain - other.gain).abs() <= 1e-6 * change.gain);
        }
    }

    #[test]
    fn every_change_is_worth_its_penalty(values in stepping()) {
        let threshold = thresholds::gain(0.01, values.len(), false);
        for change in changes(&values).changes {
            prop_assert!(change.gain >= threshold - 1e-6, "{:?}", change);
            prop_assert!(change.p <= 0.0101);
        }
    }
}
