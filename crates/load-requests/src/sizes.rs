//! Lengths of values, one after the other.

use super::{DataSizes, KeyRange};
use crate::Settings;
use crate::random::Random;

/// The lengths of the values of one connection.
#[derive(Debug, Clone)]
pub(super) enum SizeSequence {
    Fixed(usize),
    Uniform { low: usize, choices: u64 },
    ByKey { low: usize, growth: usize, keys: KeyRange },
    Weighted(Turns),
}

/// Sizes in turn.
#[derive(Debug, Clone)]
pub(super) struct Turns {
    /// Sizes and how often each comes in its turn; at least one, none with 0.
    sizes: Vec<(usize, u64)>,
    /// Whose turn it is.
    index: usize,
    /// How often it came in this turn.
    given: u64,
}

impl SizeSequence {
    pub(super) fn new(settings: &Settings) -> Self {
        match &settings.data.sizes {
            &DataSizes::Fixed(size) => Self::Fixed(size),
            &DataSizes::Uniform(one, other) => {
                let (low, high) = (one.min(other), one.max(other));
                Self::Uniform { low, choices: (high - low) as u64 + 1 }
            }
            &DataSizes::ByKey(one, other) => {
                let (low, high) = (one.min(other), one.max(other));
                Self::ByKey { low, growth: high - low, keys: settings.keys.range }
            }
            DataSizes::Weighted(sizes) => {
                let sizes: Vec<(usize, u64)> = sizes.iter().copied().filter(|&(_, weight)| weight > 0).collect();
                if sizes.is_empty() { Self::Fixed(0) } else { Self::Weighted(Turns { sizes, index: 0, given: 0 }) }
            }
        }
    }

    /// The next length; `key` is the last one before the value in the same request.
    pub(super) fn next(&mut self, key: Option<u64>, random: &mut Random) -> usize {
        match self {
            Self::Fixed(size) => *size,
            Self::Uniform { low, choices } => *low + usize::try_from(random.below(*choices)).unwrap_or(0),
            Self::ByKey { low, growth, keys } => *low + key.map_or(0, |key| grown(*growth, key, *keys)),
            Self::Weighted(turns) => turns.next(),
        }
    }
}

impl Turns {
    fn next(&mut self) -> usize {
        let (size, weight) = self.sizes[self.index];
        self.given += 1;
        if self.given == weight {
            (self.index, self.given) = ((self.index + 1) % self.sizes.len(), 0);
        }
        size
    }
}

/// The part of `growth` that belongs to the place of the key in its range, rounded down.
fn grown(growth: usize, key: u64, keys: KeyRange) -> usize {
    let length = keys.maximum() - keys.minimum();
    let place = key.saturating_sub(keys.minimum()).min(length);
    let grown = (growth as u128 * u128::from(place)).checked_div(u128::from(length));
    grown.and_then(|grown| usize::try_from(grown).ok()).unwrap_or(0)
}
