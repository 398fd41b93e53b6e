//! Room for thousands of connections.

use rustix::process::{Resource, getrlimit, setrlimit};

use crate::Settings;
use crate::settings::Listening;

/// Files that are open beside connections: standard streams, event loops, results.
const OTHERS: u64 = 64;

/// Raises the soft limit of open files as far as all connections need it and the hard limit lets it. Where that is not
/// far enough, the connection that finds no room says so.
pub(super) fn make_room(settings: &Settings, listening: &Listening) {
    let connections = settings.connections() + settings.threads + listening.connections;
    let needed = OTHERS.saturating_add(connections as u64);
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < needed) {
        limit.current = Some(limit.maximum.map_or(needed, |maximum| maximum.min(needed)));
        // A refusal is told by the connection that finds no room.
        let _ = setrlimit(Resource::Nofile, limit);
    }
}
