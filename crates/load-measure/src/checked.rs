//! Values that were compared with what they must be.

use serde::Serialize;

/// How many, of some requests.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct CheckedValues {
    /// All that were compared.
    pub compared: u64,
    /// Those that were something else.
    pub mismatches: u64,
}

impl CheckedValues {
    pub fn count(&mut self, is_match: bool) {
        self.compared += 1;
        self.mismatches += u64::from(!is_match);
    }

    pub fn merge(&mut self, other: Self) {
        self.compared += other.compared;
        self.mismatches += other.mismatches;
    }
}
