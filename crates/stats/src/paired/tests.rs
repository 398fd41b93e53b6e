#![expect(clippy::float_cmp, reason = "values that must be the same, not close")]

use proptest::prelude::*;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{PairedChange, PairedError, paired_change};

fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1e-3), "{found} is not {expected}");
}

fn assert_change(found: Result<PairedChange, PairedError>, expected: PairedChange) {
    let found = found.unwrap_or_else(|error| panic!("{error}"));
    assert_close(found.change, expected.change);
    assert_close(found.low, expected.low);
    assert_close(found.high, expected.high);
    assert_close(found.p, expected.p);
    assert_close(found.sd, expected.sd);
    assert_close(found.detectable, expected.detectable);
    assert_eq!(found.pairs, expected.pairs);
}

/// With scipy 1.17.1, `d = numpy.log(head) - numpy.log(base)`, `se = d.std(ddof=1) / sqrt(5)`:
/// `expm1(d.mean())`; `expm1(d.mean() + [-1, 1] * scipy.stats.t.ppf(0.975, 4) * se)`;
/// `scipy.stats.ttest_rel(numpy.log(head), numpy.log(base)).pvalue`; `d.std(ddof=1)`;
/// `expm1((scipy.stats.t.ppf(0.975, 4) + scipy.stats.t.ppf(0.9, 4)) * se)`.
#[test]
fn five_pairs() {
    let change = paired_change(&[100.0, 102.0, 98.0, 101.0, 99.0], &[103.0, 104.5, 101.5, 103.0, 102.5], 0.0, 0.95);
    let expected = PairedChange {
        change: 0.029_057_320_136_987_71,
        low: 0.020_501_146_706_819_077,
        high: 0.037_685_230_971_865_17,
        p: 0.000_678_359_721_304_145_3,
        sd: 0.006_724_309_535_048_724,
        detectable: 0.013_044_339_734_911_908,
        pairs: 5,
    };
    assert_change(change, expected);
}

/// The same calls as for five pairs with `se = 0.001 / sqrt(3)` and 0.995 in place of 0.975, and for p
/// `2 * scipy.stats.t.sf(d.mean() / se, 2)`.
#[test]
fn pairs_that_agree_better_than_the_instrument() {
    let change = paired_change(&[11201.4, 11203.1, 11199.8], &[13087.2, 13088.0, 13086.1], 0.001, 0.99);
    let expected = PairedChange {
        change: 0.168_341_557_911_219_02,
        low: 0.161_665_975_402_271_57,
        high: 0.175_055_502_051_459_23,
        p: 1.376_996_420_985_221_5e-5,
        sd: 0.001,
        detectable: 0.006_842_073_765_006_854_5,
        pairs: 3,
    };
    assert_change(change, expected);
}

/// `scipy.stats.t.ppf(p, df)`, scipy 1.17.1.
#[test]
fn quantiles_of_the_distribution() {
    for (degrees, probability, expected) in [
        (1.0, 0.9, 3.077_683_537_175_254_4),
        (1.0, 0.9995, 636.619_248_768_789_7),
        (2.0, 0.995, 9.924_843_200_918_287),
        (4.0, 0.975, 2.776_445_105_197_793_4),
        (9.0, 0.995, 3.249_835_541_592_126),
        (29.0, 0.9, 1.311_433_647_301_551),
        (200.0, 0.9995, 3.339_835_406_275_710_7),
    ] {
        let student = StudentsT::new(0.0, 1.0, degrees).unwrap_or_else(|error| panic!("{error}"));
        assert_close(student.inverse_cdf(probability), expected);
    }
}

/// `2 * scipy.stats.t.sf(t, df)`, scipy 1.17.1.
#[test]
fn tails_of_the_distribution() {
    for (t, degrees, expected) in [
        (1.0, 1.0, 0.5),
        (3.0, 2.0, 0.095_465_966_266_709_13),
        (50.0, 2.0, 0.000_399_760_159_888_080_57),
        (12.0, 9.0, 7.699_886_222_985_653e-7),
        (400.0, 4.0, 2.343_652_346_954_249e-10),
    ] {
        let student = StudentsT::new(0.0, 1.0, degrees).unwrap_or_else(|error| panic!("{error}"));
        let found: f64 = 2.0 * student.cdf(-t);
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} is not {expected}");
    }
}

#[test]
fn identical_samples_are_as_sure_as_the_instrument() {
    let change = paired_change(&[10.0, 10.0, 10.0], &[10.0, 10.0, 10.0], 0.002, 0.99);
    assert!(
        change.is_ok_and(|change| change.change == 0.0 && change.p == 1.0 && change.low < -0.01 && change.high > 0.01)
    );
}

#[test]
fn without_a_floor_identical_ratios_are_certain() {
    let change = paired_change(&[1.0, 1.0], &[2.0, 2.0], 0.0, 0.99);
    assert!(change.is_ok_and(|change| change.p == 0.0 && change.low == change.high));
}

#[test]
fn zero_on_both_sides_is_no_change() {
    let expected = PairedChange { change: 0.0, low: 0.0, high: 0.0, p: 1.0, sd: 0.0, detectable: 0.0, pairs: 2 };
    assert_eq!(paired_change(&[0.0, 0.0], &[0.0, 0.0], 0.01, 0.99), Ok(expected));
}

#[test]
fn zero_on_one_side_is_left_to_the_caller() {
    assert_eq!(paired_change(&[0.0, 0.0], &[1.0, 2.0], 0.01, 0.99), Err(PairedError::ZeroSide));
    assert_eq!(paired_change(&[1.0, 2.0], &[0.0, 0.0], 0.01, 0.99), Err(PairedError::ZeroSide));
}

#[test]
fn what_makes_no_ratio_is_refused() {
    let refused = |base: &[f64], head: &[f64], floor, confidence| paired_change(base, head, floor, confidence).err();
    assert_eq!(refused(&[1.0, 0.0], &[1.0, 1.0], 0.0, 0.9), Some(PairedError::NotPositive { index: 1, value: 0.0 }));
    assert_eq!(refused(&[0.0, 0.0], &[1.0, 0.0], 0.0, 0.9), Some(PairedError::NotPositive { index: 1, value: 0.0 }));
    assert_eq!(refused(&[1.0, 1.0], &[-2.0, 1.0], 0.0, 0.9), Some(PairedError::NotPositive { index: 0, value: -2.0 }));
    assert!(matches!(
        refused(&[1.0, f64::NAN], &[1.0, 1.0], 0.0, 0.9),
        Some(PairedError::NotPositive { index: 1, .. })
    ));
    assert!(matches!(refused(&[1.0, f64::INFINITY], &[1.0, 1.0], 0.0, 0.9), Some(PairedError::NotPositive { .. })));
    assert_eq!(refused(&[1.0], &[1.0], 0.0, 0.9), Some(PairedError::TooFew { pairs: 1 }));
    assert_eq!(refused(&[1.0, 1.0], &[1.0], 0.0, 0.9), Some(PairedError::Lengths { base: 2, head: 1 }));
    assert_eq!(refused(&[1.0, 1.0], &[1.0, 1.0], 0.0, 1.0), Some(PairedError::Confidence(1.0)));
    assert_eq!(refused(&[1.0, 1.0], &[1.0, 1.0], -1.0, 0.9), Some(PairedError::Floor(-1.0)));
}

fn samples() -> impl Strategy<Value = Vec<(f64, f64)>> {
    prop::collection::vec((0.1..1e6_f64, 0.1..1e6_f64), 2..30)
}

proptest! {
    #[test]
    fn the_interval_holds_the_estimate_and_agrees_with_p(pairs in samples(), confidence in 0.5..0.999) {
        let (base, head): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let change = paired_change(&base, &head, 1e-3, confidence);
        prop_assert!(change.is_ok());
        if let Ok(change) = change {
            prop_assert!(change.low < change.change && change.change < change.high);
            prop_assert!((0.0..=1.0).contains(&change.p) && change.detectable > 0.0);
            let excludes_zero = change.low > 0.0 || change.high < 0.0;
            prop_assert!(excludes_zero == (change.p < 1.0 - confidence) || (change.p - (1.0 - confidence)).abs() < 1e-9);
        }
    }

    #[test]
    fn exchanging_the_sides_turns_the_ratio_over(pairs in samples()) {
        let (base, head): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let there = paired_change(&base, &head, 1e-3, 0.99);
        let back = paired_change(&head, &base, 1e-3, 0.99);
        prop_assert!(there.is_ok() && back.is_ok());
        if let (Ok(there), Ok(back)) = (there, back) {
            prop_assert!(((1.0 + there.change) * (1.0 + back.change) - 1.0).abs() < 1e-9);
            prop_assert!((there.p - back.p).abs() < 1e-9);
        }
    }

    #[test]
    fn a_larger_floor_never_makes_surer(pairs in samples(), floor in 0.0..2.0, more in 0.0..2.0) {
        let (base, head): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        if let (Ok(less), Ok(more)) =
            (paired_change(&base, &head, floor, 0.99), paired_change(&base, &head, floor + more, 0.99))
        {
            prop_assert!(more.p >= less.p - 1e-12 && more.detectable >= less.detectable);
        }
    }
}
