//! How many requests make a pass over all keys.

use super::{Command, KeyPattern, KeyRange};
use crate::settings::share;
use crate::{Policy, Settings};

/// Requests with which connection `connection` (of all threads) does its share of a pass over all keys.
#[must_use]
pub fn requests_for_all_keys(settings: &Settings, connection: usize) -> u64 {
    match settings.policy {
        Policy::Lab => requests_for_walks(settings, connection)
            .unwrap_or_else(|| share(settings.keys.range.size(), connection, settings.connections())),
        Policy::Memtier => requests_of_memtier(settings),
    }
}

/// With commands that walk their keys: as many rotations as it takes until each of them has gone through the
/// connection's keys, so that one command with one key and the parallel pattern writes each key exactly once over all
/// connections. None if no command does.
fn requests_for_walks(settings: &Settings, connection: usize) -> Option<u64> {
    let range = settings.keys.range;
    let sent: Vec<&Command> = settings.commands.iter().filter(|command| command.ratio > 0).collect();
    let walk = |command: &&Command| match command.pattern {
        KeyPattern::Sequential => Some(range.size()),
        KeyPattern::Parallel => Some(range.part(connection, settings.connections()).map_or(0, KeyRange::size)),
        KeyPattern::Random | KeyPattern::Gaussian | KeyPattern::Zipf => None,
    };
    let keys_per_request = |command: &Command| (command.template.key_count() as u64).max(1);
    if let [command] = sent.as_slice() {
        return walk(command).map(|keys| keys.div_ceil(keys_per_request(command)));
    }
    let rotations = |command: &&Command| {
        let keys_per_rotation = command.ratio.saturating_mul(keys_per_request(command));
        walk(command).map(|keys| keys.div_ceil(keys_per_rotation))
    };
    let per_rotation = sent.iter().fold(0_u64, |sum, command| sum.saturating_add(command.ratio));
    sent.iter().filter_map(rotations).max().map(|most| most.saturating_mul(per_rotation))
}

/// As `config_init_defaults` of `memtier_benchmark`, version 2: the last key is left out, and only `--key-pattern P:P`
/// shares requests out. A count that comes to 0 is taken for one that was not given.
fn requests_of_memtier(settings: &Settings) -> u64 {
    let keys = settings.keys.range.maximum() - settings.keys.range.minimum();
    let is_shared = |command: &Command| command.is_default && command.pattern == KeyPattern::Parallel;
    if settings.commands.iter().all(is_shared) {
        return keys / (settings.connections() as u64).max(1) + 1;
    }
    if keys == 0 { 10_000 } else { keys }
}
