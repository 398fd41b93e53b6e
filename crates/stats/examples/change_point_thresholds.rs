//! Computes the thresholds of change points, and prints the tables of `src/change_points/thresholds.rs`:
//!
//!     cargo run --release --package zerolap-stats --example change_point_thresholds
//!
//! Series without a change are searched in the way that all series are, their noise estimated; their gain is the least
//! penalty at which such a series has no change. A threshold is the quantile of the gains of independent normal points.
//! Short series that are correlated often look as if they were not: there it is also no less than the quantile of the
//! gains of autoregressions, at [`CORRELATED_RATE`] times the probability. With a length as an argument, rows of longer
//! series are left out. Takes ten minutes of two processors.

use std::env;
use std::thread;

use zerolap_stats::change_points::thresholds::{CORRELATED_RATE, LEAST_GAIN, LENGTHS, TAILS};
use zerolap_stats::change_points::{ChangeError, ChangeSearch, SeriesPoint};

/// Points that are simulated for each length, in series of that length.
const POINTS: usize = 40_000_000;
const MOST_SERIES: usize = 200_000;
/// Of each autoregression; those that are looked for are more frequent.
const MOST_CORRELATED_SERIES: usize = 20_000;
/// Coefficients of autoregressions of order one.
const CORRELATIONS: [f64; 4] = [0.2, 0.3, 0.4, 0.5];
/// The correlation of longer series is known well enough: they stay below the rate by the thresholds of independent
/// points.
const LONGEST_CORRELATED: usize = 256;
const SEED: u64 = 20_261_124;

fn main() {
    let longest = env::args().nth(1).map_or(usize::MAX, |length| length.parse().expect("a length"));
    thread::scope(|threads| {
        let tables = [("ESTIMATED", false), ("KNOWN", true)]
            .map(|(name, known_variances)| threads.spawn(move || table(name, known_variances, longest)));
        for table in tables {
            println!("{}", table.join().expect("a table").expect("a level with thresholds"));
        }
    });
}

fn table(name: &str, known_variances: bool, longest: usize) -> Result<String, ChangeError> {
    let mut rows = vec![format!("const {name}: Table = [")];
    let mut shorter = [LEAST_GAIN; TAILS.len()];
    for points in LENGTHS.into_iter().filter(|&points| points <= longest) {
        let count = (POINTS / points).min(MOST_SERIES);
        let independent = gains(points, known_variances, 0.0, count, SEED)?;
        let mut thresholds = TAILS.map(|tail| quantile(&independent, tail));
        if points <= LONGEST_CORRELATED {
            let correlated = correlated(points, known_variances)?;
            for (index, threshold) in thresholds.iter_mut().enumerate() {
                *threshold = threshold.max(correlated[index]).max(shorter[index]);
            }
            shorter = correlated;
        }
        let row = thresholds.map(|threshold| format!("{:?}", (threshold * 100.0).round() / 100.0)).join(", ");
        rows.push(format!("    [{row}], // {points}"));
    }
    rows.push("];".to_owned());
    Ok(rows.join("\n"))
}

/// The thresholds of correlated series: those of the autoregression that gains most.
fn correlated(points: usize, known_variances: bool) -> Result<[f64; TAILS.len()], ChangeError> {
    let mut thresholds = [LEAST_GAIN; TAILS.len()];
    for (correlation, seed) in CORRELATIONS.into_iter().zip(SEED + 1..) {
        let gains = gains(points, known_variances, correlation, MOST_CORRELATED_SERIES, seed)?;
        for (threshold, tail) in thresholds.iter_mut().zip(TAILS) {
            *threshold = threshold.max(quantile(&gains, CORRELATED_RATE * tail));
        }
    }
    Ok(thresholds)
}

/// The gains of series without a change, sorted.
fn gains(
    points: usize,
    known_variances: bool,
    correlation: f64,
    count: usize,
    seed: u64,
) -> Result<Vec<f64>, ChangeError> {
    let mut normal = Normal(seed ^ points as u64);
    let mut gains = Vec::with_capacity(count);
    for _ in 0..count {
        let mut search = ChangeSearch::new(TAILS[0], known_variances)?;
        let mut value = 0.0;
        for index in 0..points {
            // The standard deviation is 1 from the first point on.
            let share = if index == 0 { 1.0 } else { (1.0 - correlation * correlation).sqrt() };
            value = correlation * value + share * normal.draw();
            search.push(SeriesPoint { value, variance: 1.0, penalty: 0.0 })?;
        }
        gains.push(search.critical_gain(LEAST_GAIN));
    }
    gains.sort_by(f64::total_cmp);
    Ok(gains)
}

/// Of sorted gains, the one that a share of them exceeds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank between 0 and their number")]
fn quantile(gains: &[f64], tail: f64) -> f64 {
    gains[gains.len() - 1 - (tail * gains.len() as f64) as usize]
}

/// Standard normal numbers: splitmix64 (Steele, Lea & Flood 2014) and the transform of Box & Muller (1958).
struct Normal(u64);

impl Normal {
    fn draw(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
