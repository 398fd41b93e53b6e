//! Bytes of values.

use std::sync::Arc;

use crate::Settings;
use crate::random::{Purpose, Random};

/// How many different slices of a random pool there are.
const RANDOM_OFFSETS: usize = 1 << 16;

/// The bytes that all values are slices of, shared by all threads.
#[derive(Debug, Clone)]
pub(crate) struct DataPool {
    bytes: Arc<[u8]>,
    size: usize,
}

impl DataPool {
    pub(crate) fn new(settings: &Settings) -> Self {
        let size = settings.data.sizes.maximum();
        if !settings.data.random {
            return Self { bytes: vec![b'x'; size].into(), size };
        }
        let mut bytes = vec![0; size + RANDOM_OFFSETS - 1];
        Random::new(settings.seed, Purpose::Pool, 0, 0).fill(&mut bytes);
        Self { bytes: bytes.into(), size }
    }

    /// One value.
    pub(super) fn slice(&self, random: &mut Random) -> &[u8] {
        let offsets = self.bytes.len() - self.size + 1;
        let offset = if offsets == 1 { 0 } else { usize::try_from(random.below(offsets as u64)).unwrap_or(0) };
        &self.bytes[offset..offset + self.size]
    }
}
