//! Which processors threads run on.

use std::io;

use rustix::thread::{CpuSet, sched_setaffinity};

use zerolap_load_measure::LoadError;

/// Reads a list such as `0,2,4-7`.
///
/// # Errors
/// A sentence, when it is no such list.
pub fn parse_cpus(text: &str) -> Result<Vec<usize>, String> {
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<usize>().ok().filter(|&cpu| cpu < CpuSet::MAX_CPU);
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => cpus.extend(first..=last),
            _ => return Err("expected processor numbers such as 0,2,4-7".to_owned()),
        }
    }
    Ok(cpus)
}

/// Pins the calling thread.
///
/// # Errors
/// When the system does not let it run there.
pub(crate) fn pin_thread(cpu: usize) -> Result<(), LoadError> {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(|error| LoadError::Pin { cpu, source: io::Error::from(error) })
}

#[cfg(test)]
mod tests {
    use super::parse_cpus;

    #[test]
    fn numbers_and_ranges_are_read() {
        assert_eq!(parse_cpus("3"), Ok(vec![3]));
        assert_eq!(parse_cpus("0,4-6,1"), Ok(vec![0, 4, 5, 6, 1]));
        for wrong in ["", "a", "1,", "3-1", "-1", "1000000"] {
            assert!(parse_cpus(wrong).is_err(), "{wrong:?}");
        }
    }
}
