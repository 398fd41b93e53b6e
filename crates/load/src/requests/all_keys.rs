//! How many requests make a pass over all keys.

use super::{Command, KeyPattern};
use crate::Settings;

/// Requests with which connection `connection` (of all threads) goes through its keys once.
///
/// With commands of the parallel pattern: as many rotations as it takes until each such command has gone through the
/// connection's part of the range, so that one command with one key writes each key exactly once over all connections.
/// With other patterns: as many requests as there are keys.
pub(crate) fn requests_for_all_keys(settings: &Settings, connection: usize) -> u64 {
    let is_parallel = |command: &&Command| command.pattern == KeyPattern::Parallel && command.ratio > 0;
    let parallel: Vec<&Command> = settings.commands.iter().filter(is_parallel).collect();
    if parallel.is_empty() {
        return settings.keys.range.size();
    }
    let Some(part) = settings.keys.range.part(connection, settings.connections()) else { return 0 };
    let rotations = |command: &&Command| {
        let keys_per_rotation = command.ratio.saturating_mul((command.template.key_count() as u64).max(1));
        part.size().div_ceil(keys_per_rotation)
    };
    if let ([command], 1) = (parallel.as_slice(), settings.commands.len()) {
        return part.size().div_ceil((command.template.key_count() as u64).max(1));
    }
    let per_rotation = settings.commands.iter().fold(0_u64, |sum, command| sum.saturating_add(command.ratio));
    parallel.iter().map(rotations).max().unwrap_or(0).saturating_mul(per_rotation)
}
