//! Gains that series without a change reach, by the length of the series: what a penalty and a p value come from.
//!
//! They are quantiles over simulated series of independent normal points. Of short series correlation is often not
//! seen, and runs of correlated noise then look like levels: up to 256 points a threshold is also no less than the
//! quantile at [`CORRELATED_RATE`] times its probability over autoregressions with coefficients up to 0.5, whichever is
//! largest, of this length and of the one before: series of the lengths between have these thresholds too.
//!
//! `cargo run --release --package zerolap-stats --example change_point_thresholds` computes the tables.

/// Lengths of the simulated series; a series has the thresholds of the next longer one.
pub const LENGTHS: [usize; 21] =
    [8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192];
/// Probabilities of a gain beyond the threshold.
pub const TAILS: [f64; 7] = [0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001];
/// No change gains less: two points that are as wild as can be are none.
pub const LEAST_GAIN: f64 = 9.0;
/// How much more often than by the level series without a change have one where their points are correlated, at most.
pub const CORRELATED_RATE: f64 = 4.0;
/// Of normal points: the logarithm of the probability falls by this for each unit of a large gain.
const MOST_DECAY: f64 = 0.5;

type Table = [[f64; TAILS.len()]; LENGTHS.len()];

/// Of series whose noise is estimated.
const ESTIMATED: Table = [
    [9.0, 9.0, 9.09, 11.43, 14.08, 17.74, 21.17],      // 8
    [9.0, 9.0, 11.85, 16.41, 20.72, 26.14, 30.61],     // 12
    [9.0, 9.09, 14.53, 20.04, 25.7, 31.87, 36.27],     // 16
    [9.0, 9.0, 14.53, 20.04, 25.7, 32.69, 38.55],      // 24
    [9.0, 9.2, 15.85, 21.63, 27.57, 35.27, 41.31],     // 32
    [9.0, 9.29, 15.85, 21.63, 27.57, 35.27, 41.31],    // 48
    [9.0, 9.37, 14.24, 19.96, 26.19, 35.16, 40.8],     // 64
    [9.0, 9.92, 12.83, 17.92, 23.74, 31.61, 37.41],    // 96
    [9.0, 9.92, 12.36, 15.74, 19.69, 25.78, 32.54],    // 128
    [9.0, 10.22, 12.1, 14.44, 17.33, 22.45, 26.47],    // 192
    [9.2, 10.48, 12.28, 13.67, 15.9, 19.79, 22.54],    // 256
    [9.5, 10.71, 12.35, 13.72, 15.2, 17.1, 18.69],     // 384
    [9.76, 10.92, 12.58, 13.95, 15.39, 17.34, 18.75],  // 512
    [10.12, 11.26, 12.87, 14.24, 15.72, 17.84, 19.28], // 768
    [10.31, 11.38, 12.93, 14.22, 15.66, 17.67, 18.75], // 1024
    [10.75, 11.8, 13.27, 14.5, 15.78, 17.53, 18.79],   // 1536
    [10.98, 12.04, 13.46, 14.55, 15.9, 17.32, 18.62],  // 2048
    [11.43, 12.46, 13.9, 15.08, 16.07, 17.91, 19.22],  // 3072
    [11.66, 12.59, 13.87, 14.88, 16.29, 17.54, 18.63], // 4096
    [12.07, 13.06, 14.43, 15.39, 16.76, 18.12, 19.01], // 6144
    [12.37, 13.37, 14.83, 16.16, 17.11, 19.41, 20.76], // 8192
];
/// Of series with known variances.
const KNOWN: Table = [
    [9.0, 9.0, 9.0, 9.0, 9.0, 9.09, 10.02],            // 8
    [9.0, 9.0, 9.0, 9.0, 9.39, 12.29, 14.44],          // 12
    [9.0, 9.0, 9.0, 9.09, 11.19, 14.44, 17.52],        // 16
    [9.0, 9.0, 9.0, 10.62, 13.43, 17.13, 20.12],       // 24
    [9.0, 9.0, 9.0, 11.31, 14.64, 18.48, 21.79],       // 32
    [9.0, 9.0, 9.35, 11.58, 14.64, 18.48, 21.79],      // 48
    [9.0, 9.0, 9.72, 11.58, 14.61, 18.34, 21.61],      // 64
    [9.0, 9.0, 10.29, 11.55, 13.75, 17.96, 20.84],     // 96
    [9.0, 9.0, 10.58, 11.86, 13.47, 16.28, 18.98],     // 128
    [9.0, 9.41, 11.03, 12.35, 13.69, 15.73, 18.15],    // 192
    [9.0, 9.75, 11.39, 12.69, 14.03, 15.77, 17.91],    // 256
    [9.09, 10.17, 11.69, 12.97, 14.27, 16.16, 17.61],  // 384
    [9.35, 10.46, 11.99, 13.27, 14.69, 16.43, 17.65],  // 512
    [9.77, 10.84, 12.38, 13.64, 15.19, 17.05, 18.37],  // 768
    [10.06, 11.08, 12.53, 13.79, 15.25, 16.89, 18.29], // 1024
    [10.48, 11.5, 12.93, 14.08, 15.35, 17.07, 18.44],  // 1536
    [10.78, 11.83, 13.19, 14.3, 15.57, 17.18, 18.37],  // 2048
    [11.2, 12.22, 13.6, 14.81, 15.76, 17.33, 18.97],   // 3072
    [11.49, 12.39, 13.65, 14.73, 15.94, 17.39, 18.34], // 4096
    [11.9, 12.9, 14.18, 15.22, 16.39, 17.84, 19.0],    // 6144
    [12.26, 13.24, 14.66, 15.89, 16.93, 19.22, 20.38], // 8192
];

/// The gain that a series without a change reaches with a probability between the largest and the smallest of [`TAILS`].
pub(super) fn gain(level: f64, points: usize, known_variances: bool) -> f64 {
    let (gains, excess) = row(points, known_variances);
    let tail = (level / excess).ln();
    for (gain, tails) in gains.windows(2).zip(TAILS.windows(2)) {
        if tail >= tails[1].ln() {
            let share = (tails[0].ln() - tail) / (tails[0].ln() - tails[1].ln());
            return gain[0] + share.max(0.0) * (gain[1] - gain[0]);
        }
    }
    gains[TAILS.len() - 1] + (TAILS[TAILS.len() - 1].ln() - tail) / decay(gains)
}

/// The probability that a series without a change reaches a gain; 1 where it is more than the largest of [`TAILS`].
pub(super) fn probability(gain: f64, points: usize, known_variances: bool) -> f64 {
    let (gains, excess) = row(points, known_variances);
    if gain < gains[0] || gain <= LEAST_GAIN {
        return 1.0;
    }
    let last = TAILS.len() - 1;
    let below = (0..last).find(|&index| gain < gains[index + 1]);
    let logarithm = below.map_or_else(
        || TAILS[last].ln() - (gain - gains[last]) * decay(gains),
        |index| {
            let share = (gain - gains[index]) / (gains[index + 1] - gains[index]);
            TAILS[index].ln() + share * (TAILS[index + 1].ln() - TAILS[index].ln())
        },
    );
    (logarithm.exp() * excess).min(1.0)
}

/// The thresholds for a length, and how many times longer a series is than the longest of them: its chances add up.
fn row(points: usize, known_variances: bool) -> (&'static [f64; TAILS.len()], f64) {
    static TABLES: [&Table; 2] = [&ESTIMATED, &KNOWN];
    let last = LENGTHS.len() - 1;
    let index = LENGTHS.partition_point(|&length| length < points).min(last);
    (&TABLES[usize::from(known_variances)][index], (points as f64 / LENGTHS[last] as f64).max(1.0))
}

/// By how much the logarithm of the probability falls for each unit beyond the last threshold: as it does before that.
fn decay(gains: &[f64; TAILS.len()]) -> f64 {
    let (middle, last) = (TAILS.len() / 2, TAILS.len() - 1);
    ((TAILS[middle] / TAILS[last]).ln() / (gains[last] - gains[middle])).min(MOST_DECAY)
}
