//! Where chance comes from, and whose oddities are kept.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use super::{UsageError, Warnings};
use zerolap_load_requests::Policy;

#[derive(Debug, Default)]
pub(in crate::arguments) struct ChanceDraft {
    pub(in crate::arguments) seed: Option<u64>,
    pub(in crate::arguments) randomize: bool,
    pub(in crate::arguments) compat: bool,
    pub(in crate::arguments) distinct_client_seed: bool,
}

impl ChanceDraft {
    /// The seed, whether all connections draw the same, and the policy.
    pub(super) fn finish(self, warnings: &mut Warnings) -> Result<(u64, bool, Policy), UsageError> {
        if self.seed.is_some() && self.randomize {
            return Err(UsageError::Conflict("--seed and --randomize exclude each other"));
        }
        warnings.without_effect(
            self.distinct_client_seed && !self.compat,
            "--distinct-client-seed",
            "each connection draws keys and values of its own anyway, unless --compat is given",
        );
        let seed = if self.randomize { random_seed() } else { self.seed.unwrap_or(1) };
        let policy = if self.compat { Policy::Memtier } else { Policy::Lab };
        Ok((seed, self.compat && !self.distinct_client_seed, policy))
    }
}

/// Another number in each run; one that a double holds exactly, so that every reader of the JSON can repeat the run.
fn random_seed() -> u64 {
    // The standard library asks the system for the keys of its hash tables.
    RandomState::new().hash_one(std::process::id()) >> 11
}
