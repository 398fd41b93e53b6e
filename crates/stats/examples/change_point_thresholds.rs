//! Computes the thresholds of change points, and prints the table of `src/change_points/thresholds.rs`:
//!
//!     cargo run --release --package zerolap-stats --example change_point_thresholds
//!
//! Series of independent normal points are searched in the way that all series are, their noise estimated; a threshold is
//! the quantile of the least penalty at which such a series has no change. Takes ten minutes.

use zerolap_stats::change_points::thresholds::{LEAST_GAIN, LENGTHS, TAILS};
use zerolap_stats::change_points::{ChangeError, ChangeSearch, SeriesPoint};

/// Points that are simulated for each length, in series of that length.
const POINTS: usize = 40_000_000;
const MOST_SERIES: usize = 200_000;
const SEED: u64 = 20_261_124;

fn main() -> Result<(), ChangeError> {
    for (name, known_variances) in [("ESTIMATED", false), ("KNOWN", true)] {
        println!("const {name}: Table = [");
        for points in LENGTHS {
            let mut normal = Normal(SEED ^ points as u64);
            let count = (POINTS / points).min(MOST_SERIES);
            let mut gains = Vec::with_capacity(count);
            for _ in 0..count {
                let mut search = ChangeSearch::new(TAILS[0], known_variances)?;
                for _ in 0..points {
                    search.push(SeriesPoint { value: normal.draw(), variance: 1.0, penalty: 0.0 })?;
                }
                gains.push(search.critical_gain(LEAST_GAIN));
            }
            gains.sort_by(f64::total_cmp);
            println!("    [{}], // {points}", TAILS.map(|tail| quantile(&gains, tail)).join(", "));
        }
        println!("];");
    }
    Ok(())
}

/// Of sorted gains, the one that a share of them exceeds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank between 0 and their number")]
fn quantile(gains: &[f64], tail: f64) -> String {
    format!("{:.2}", gains[gains.len() - 1 - (tail * gains.len() as f64) as usize])
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
