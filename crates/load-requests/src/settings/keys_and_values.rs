//! Which keys and values requests hold.

use crate::KeyRange;

/// Which keys.
#[derive(Debug, Clone)]
pub struct KeySettings {
    /// Ids of keys.
    pub range: KeyRange,
    /// Text before the id of a key.
    pub prefix: String,
    /// Id that the gaussian pattern is centred on; the middle of the range if none.
    pub median: Option<f64>,
    /// Standard deviation of the gaussian pattern, in ids; a sixth of the range if none.
    pub standard_deviation: Option<f64>,
    /// Exponent of the zipf pattern.
    pub zipf_exponent: f64,
}

/// Which values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataSettings {
    /// Their lengths.
    pub sizes: DataSizes,
    /// Whether they are random bytes; all x otherwise.
    pub random: bool,
    /// Where in a string values are written, which is in the lines of the default commands already.
    pub offset: u64,
}

/// Lengths of values in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataSizes {
    /// All the same.
    Fixed(usize),
    /// From the first to the second, both included, all equally likely.
    Uniform(usize, usize),
    /// From the first to the second, in proportion to the place of the key in its range.
    ByKey(usize, usize),
    /// Each size as many times in turn as its weight says.
    Weighted(Vec<(usize, u64)>),
}

impl DataSizes {
    /// The longest.
    #[must_use]
    pub fn maximum(&self) -> usize {
        match self {
            Self::Fixed(size) => *size,
            Self::Uniform(low, high) | Self::ByKey(low, high) => *low.max(high),
            Self::Weighted(sizes) => sizes.iter().map(|&(size, _)| size).max().unwrap_or(0),
        }
    }
}
