use super::{
    MOST_DEGREES, ModeratedError, SeenVariance, VariancePrior, fit_prior, inverse_trigamma, moderated_change,
    sample_variance, tetragamma, trigamma, trimmed_mean, variances_agree,
};
use crate::paired::paired_change;

fn close(one: f64, other: f64, tolerance: f64) {
    assert!((one - other).abs() <= tolerance * other.abs().max(1e-300), "{one} is not {other}");
}

#[test]
fn polygamma_functions_have_their_known_values() {
    let pi = std::f64::consts::PI;
    close(trigamma(1.0), pi * pi / 6.0, 1e-10);
    close(trigamma(0.5), pi * pi / 2.0, 1e-10);
    // -2 zeta(3)
    close(tetragamma(1.0), -2.404_113_806_319_188_6, 1e-8);
    for x in [0.05, 0.7, 1.5, 30.0] {
        close(inverse_trigamma(trigamma(x)), x, 1e-6);
    }
}

#[test]
fn one_wild_value_does_not_move_the_trimmed_mean() {
    assert_eq!(trimmed_mean(&[]), None);
    assert_eq!(trimmed_mean(&[3.0]), Some(3.0));
    assert_eq!(trimmed_mean(&[1.0, 2.0, 3.0, 2.0, 1e9]), Some(7.0 / 3.0));
}

#[test]
fn without_a_prior_it_is_the_paired_t() {
    let (base, head) = ([1.0, 1.1, 0.9, 1.05], [1.2, 1.25, 1.1, 1.3]);
    let ratios: Vec<f64> = base.iter().zip(head).map(|(base, head): (&f64, f64)| (head / base).ln()).collect();
    let moderated = moderated_change(&ratios, None, 0.0, 0.99).expect("computable");
    let paired = paired_change(&base, &head, 0.0, 0.99).expect("computable");
    for (one, other) in [(moderated.low, paired.low), (moderated.high, paired.high), (moderated.p, paired.p)] {
        close(one, other, 1e-9);
    }
}

#[test]
fn a_prior_lets_few_samples_speak() {
    let prior = VariancePrior { variance: 1e-4, degrees: 30.0 };
    let alone = moderated_change(&[0.05, 0.06], None, 0.0, 0.99).expect("computable");
    let helped = moderated_change(&[0.05, 0.06], Some(prior), 0.0, 0.99).expect("computable");
    assert!(alone.low < 0.0 && helped.low > 0.0);
    assert_eq!(moderated_change(&[0.05], None, 0.0, 0.99), Err(ModeratedError::TooFew { samples: 1 }));
    assert!(moderated_change(&[0.05], Some(prior), 0.0, 0.99).is_ok());
    assert!(matches!(moderated_change(&[f64::NAN, 1.0], None, 0.0, 0.99), Err(ModeratedError::NotANumber(_))));
    assert_eq!(moderated_change(&[0.0, 1.0], None, 0.0, 1.0), Err(ModeratedError::Confidence(1.0)));
}

#[test]
fn alike_variances_make_a_strong_prior_and_unlike_ones_a_weak_one() {
    let seen = |values: &[f64]| -> Vec<SeenVariance> {
        values.iter().map(|&variance| SeenVariance { variance, degrees: 3.0 }).collect()
    };
    let alike = fit_prior(&seen(&[1.0, 1.1, 0.9, 1.05])).expect("fits");
    close(alike.degrees, 9.0, 1e-9);
    let many = fit_prior(&seen(&[1.0; 100])).expect("fits");
    close(many.degrees, MOST_DEGREES, 1e-9);
    let unlike = fit_prior(&seen(&[0.001, 1.0, 100.0, 0.1])).expect("fits");
    assert!(unlike.degrees < 2.0);
    assert_eq!(fit_prior(&seen(&[1.0])), None);
    assert_eq!(fit_prior(&seen(&[1.0, 0.0])), None);
}

/// Normal numbers by the method of Box and Muller, always the same.
fn normal_numbers() -> impl FnMut() -> f64 {
    let mut state = 1_u64;
    let mut uniform = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    };
    move || (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos()
}

/// How many cases of `comparisons` of nothing with nothing have p below 1 %, by case; `deviations` are the cases' own.
fn alarms(comparisons: usize, starts: usize, deviations: &[f64]) -> Vec<usize> {
    let mut normal = normal_numbers();
    let mut alarms = vec![0; deviations.len()];
    for _ in 0..comparisons {
        let samples: Vec<Vec<f64>> =
            deviations.iter().map(|deviation| (0..starts).map(|_| deviation * normal()).collect()).collect();
        let seen: Vec<SeenVariance> = samples.iter().filter_map(|starts| sample_variance(starts)).collect();
        let prior = fit_prior(&seen);
        for (case, starts) in samples.iter().enumerate() {
            let change = moderated_change(starts, prior, 0.0, 0.99).expect("computable");
            alarms[case] += usize::from(change.p < 0.01);
        }
    }
    alarms
}

#[test]
fn false_alarms_keep_to_their_rate() {
    let many = alarms(1, 4, &[0.01; 2000]);
    let count: usize = many.iter().sum();
    assert!((8..=36).contains(&count), "{count} of 2000");
}

#[test]
fn few_cases_and_noisy_ones_among_quiet_raise_few_false_alarms() {
    for deviations in [&[1.0, 1.0][..], &[1.0, 1.0, 3.0], &[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 3.0, 3.0]]
    {
        let found = alarms(2000, 6, deviations);
        assert!(found.iter().all(|&count| count <= 40), "{found:?} of 2000 each");
    }
}

#[test]
fn variances_agree_unless_one_kind_is_larger() {
    let seen = |variance: f64, count: usize| vec![SeenVariance { variance, degrees: 5.0 }; count];
    assert!(variances_agree(&seen(1.0, 12), &seen(1.2, 12)));
    assert!(!variances_agree(&seen(1.0, 12), &seen(4.0, 12)));
    assert!(!variances_agree(&seen(4.0, 12), &seen(1.0, 12)));
    // A single variance of five degrees of freedom varies more than that by chance.
    assert!(variances_agree(&seen(1.0, 12), &seen(3.0, 1)));
    assert!(variances_agree(&[], &seen(9.0, 12)));
    assert!(variances_agree(&seen(1.0, 12), &seen(0.0, 12)));
}
