//! What a rate has to meet.

use std::fmt;
use std::time::Duration;

/// A percentile of response times, and what it has to stay below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slo {
    /// Which percentile.
    pub percentile: Percentile,
    /// Its limit.
    pub limit: Duration,
}

/// Percentiles that can have a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Percentile {
    /// The median.
    P50,
    /// 90 %
    P90,
    /// 95 %
    P95,
    /// 99 %
    P99,
    /// 99.9 %
    P99_9,
    /// 99.99 %
    P99_99,
    /// The slowest response.
    Max,
}

impl Percentile {
    /// All of them.
    pub const ALL: [Self; 7] = [Self::P50, Self::P90, Self::P95, Self::P99, Self::P99_9, Self::P99_99, Self::Max];

    /// The word for it on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::P99_9 => "p99.9",
            Self::P99_99 => "p99.99",
            Self::Max => "max",
        }
    }

    /// How many of a hundred responses are not slower.
    #[must_use]
    pub const fn percent(self) -> f64 {
        match self {
            Self::P50 => 50.0,
            Self::P90 => 90.0,
            Self::P95 => 95.0,
            Self::P99 => 99.0,
            Self::P99_9 => 99.9,
            Self::P99_99 => 99.99,
            Self::Max => 100.0,
        }
    }
}

impl fmt::Display for Slo {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.limit.as_secs_f64();
        let (number, unit) = match self.limit.as_micros() {
            0..1_000 => (seconds * 1e6, "us"),
            1_000..1_000_000 => (seconds * 1e3, "ms"),
            _ => (seconds, "s"),
        };
        // Without the noise of binary fractions.
        let number = (number * 1e3).round() / 1e3;
        write!(formatter, "{}<{number}{unit}", self.percentile.name())
    }
}
