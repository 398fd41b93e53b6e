//! The processors that threads run on, and the limit of open files.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_setaffinity};

use zerolap_load_measure::LoadError;

/// Files that may be open besides: event loops, files of keys and certificates, results.
const OTHERS: u64 = 64;
/// Files that are taken to be open where the system does not report their number.
const USUAL: u64 = 16;

/// Pins the calling thread.
///
/// # Errors
/// When the system does not let it run there.
pub(crate) fn pin_thread(cpu: usize) -> Result<(), LoadError> {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(|error| LoadError::Pin { cpu, source: io::Error::from(error) })
}

/// Raises the soft limit of open files where `connections` more need it, as far as the hard limit goes.
///
/// # Errors
/// When that is not far enough.
pub(crate) fn make_room(connections: usize) -> Result<(), LoadError> {
    let open = std::fs::read_dir("/proc/self/fd").map_or(USUAL, |files| files.count() as u64);
    let limit = getrlimit(Resource::Nofile);
    if let Some(raised) = raised(&limit, open.saturating_add(OTHERS).saturating_add(connections as u64))? {
        // Where the system refuses, the connection that finds no room fails with an error.
        let _ = setrlimit(Resource::Nofile, raised);
    }
    Ok(())
}

/// The limit that has room for `needed` files; none where there is room already.
fn raised(limit: &Rlimit, needed: u64) -> Result<Option<Rlimit>, LoadError> {
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(None);
    }
    match limit.maximum {
        Some(allowed) if allowed < needed => Err(LoadError::OpenFiles { needed, allowed }),
        maximum => Ok(Some(Rlimit { current: Some(needed), maximum })),
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::Rlimit;

    use super::raised;

    #[test]
    fn the_limit_is_raised_only_as_far_as_needed_and_allowed() {
        let limit = |current, maximum| Rlimit { current, maximum };
        assert_eq!(raised(&limit(Some(1024), Some(4096)), 1024).ok(), Some(None));
        assert_eq!(raised(&limit(None, None), u64::MAX).ok(), Some(None));
        let of = |current, maximum, needed| raised(&limit(current, maximum), needed).ok().flatten();
        assert_eq!(of(Some(1024), Some(4096), 2074).map(|limit| limit.current), Some(Some(2074)));
        assert_eq!(of(Some(1024), None, 2074).map(|limit| limit.current), Some(Some(2074)));
        let refused = raised(&limit(Some(1024), Some(2000)), 2074).expect_err("no room").to_string();
        assert!(refused.contains("2074 open files are needed and 2000 are allowed"), "{refused}");
        assert!(refused.contains("ulimit -n 2074"), "{refused}");
    }
}
