//! Values that were compared with what they must be.

use serde::Serialize;

/// How many, of some requests.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct CheckedValues {
    /// All that were compared.
    pub(crate) compared: u64,
    /// Those that were something else.
    pub(crate) mismatches: u64,
}

impl CheckedValues {
    pub(crate) fn count(&mut self, is_match: bool) {
        self.compared += 1;
        self.mismatches += u64::from(!is_match);
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.compared += other.compared;
        self.mismatches += other.mismatches;
    }
}
