//! What all threads share: bytes of values, and the place in a recording.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Settings;
use crate::random::{Purpose, Random};

/// How many different slices of a random pool the longest value can be.
const RANDOM_OFFSETS: usize = 1 << 16;

/// The bytes that all values are slices of, and how many recorded commands were sent in their order.
#[derive(Debug, Clone)]
pub struct DataPool {
    bytes: Arc<[u8]>,
    is_random: bool,
    recorded: Arc<AtomicU64>,
}

impl DataPool {
    /// The pool that these settings ask for.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let maximum = settings.data.sizes.maximum();
        if !settings.data.random {
            return Self { bytes: vec![b'x'; maximum].into(), is_random: false, recorded: Arc::default() };
        }
        let mut bytes = vec![0; maximum + RANDOM_OFFSETS - 1];
        Random::new(settings.seed, Purpose::Pool, 0, 0).fill(&mut bytes);
        Self { bytes: bytes.into(), is_random: true, recorded: Arc::default() }
    }

    /// The place in a recording that is next over all connections.
    pub(super) fn next_place(&self) -> u64 {
        self.recorded.fetch_add(1, Ordering::Relaxed)
    }

    /// One value of `size` bytes, which is at most the maximum of the settings.
    pub(super) fn slice(&self, size: usize, random: &mut Random) -> &[u8] {
        if !self.is_random {
            return &self.bytes[..size];
        }
        let offsets = self.bytes.len() - size + 1;
        let offset = usize::try_from(random.below(offsets as u64)).unwrap_or(0);
        &self.bytes[offset..offset + size]
    }
}
