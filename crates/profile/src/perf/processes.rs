//! Processes and threads as they were when a sample was taken: their names, and which file's code lies where in them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use linux_perf_data::linux_perf_event_reader::{
    CommOrExecRecord, CpuMode, ForkOrExitRecord, Mmap2Record, MmapRecord, RawData,
};

use super::error::StacksError;
use super::images::{ImageId, Images};
use super::recording::text;

/// Code in all processes together; one process may have 65,530 mappings (`vm.max_map_count`).
const MAPPINGS_LIMIT: usize = 1 << 20;
/// `PERF_RECORD_MISC_FORK_EXEC`.
const IS_NO_FORK: u16 = 1 << 13;
const PROT_EXEC: u32 = 4;
const UNKNOWN: &str = "[unknown]";

#[derive(Default)]
pub(super) struct Processes {
    names: HashMap<i32, Rc<str>>,
    /// Processes that others forked, and that did not become another program.
    children: HashSet<i32>,
    mappings: HashMap<i32, Mappings>,
    mapped: usize,
    /// Where the kernel's code began, as perf read it.
    pub(super) kernel_start: Option<u64>,
}

impl Processes {
    pub(super) fn mappings(&self, process: i32) -> Option<&Mappings> {
        self.mappings.get(&process)
    }

    /// The thread's name. A child has the name of the server's main thread, but its work is not the server's.
    pub(super) fn thread_name(&self, process: i32, thread: i32) -> String {
        let name = self.names.get(&thread).or_else(|| self.names.get(&process)).map_or(UNKNOWN, |name| &**name);
        if self.children.contains(&process) { format!("{name} (child)") } else { name.to_owned() }
    }

    /// A thread has a name from now on.
    pub(super) fn name(&mut self, record: &CommOrExecRecord<'_>) {
        self.names.insert(record.tid, Rc::from(text(&record.name.as_slice())));
        if record.is_execve {
            self.children.remove(&record.pid);
            if let Some(mappings) = self.mappings.get_mut(&record.pid) {
                self.mapped -= mappings.len();
                mappings.clear();
            }
        }
    }

    /// A new process or thread, with the name and the mappings of the one that it comes from.
    pub(super) fn fork(&mut self, record: &ForkOrExitRecord, flags: u16) -> Result<(), StacksError> {
        let (process, parent) = (record.pid, record.ppid);
        if let Some(name) = self.names.get(&record.ptid).or_else(|| self.names.get(&parent)).cloned() {
            self.names.insert(record.tid, name);
        }
        // perf writes such a record too for every process that it finds running; that one is nobody's child.
        if process == parent || flags & IS_NO_FORK != 0 {
            return Ok(());
        }
        self.children.insert(process);
        let before = self.mappings.get(&process).map(|old| old.version);
        let new = self.mappings.get(&parent).unwrap_or(&Mappings::default()).inherited(before);
        self.mapped += new.len();
        if let Some(old) = self.mappings.insert(process, new) {
            self.mapped -= old.len();
        }
        self.check()
    }

    /// A file's code is mapped from now on.
    pub(super) fn map(&mut self, mapped: &Mapped<'_>, images: &mut Images) -> Result<(), StacksError> {
        let path = text(&mapped.path.as_slice());
        if mapped.mode == CpuMode::Kernel {
            if path.starts_with("[kernel.kallsyms]") {
                self.kernel_start.get_or_insert(mapped.offset);
            }
            return Ok(());
        }
        let start = mapped.start;
        let end = start.checked_add(mapped.bytes).filter(|end| *end > start);
        let Some(end) = end.filter(|_| mapped.has_code) else { return Ok(()) };
        let mappings = self.mappings.entry(mapped.process).or_default();
        let before = mappings.len();
        mappings.insert(Mapping { start, end, offset: mapped.offset, image: images.id(&path) });
        self.mapped = self.mapped + mappings.len() - before;
        self.check()
    }

    fn check(&self) -> Result<(), StacksError> {
        if self.mapped <= MAPPINGS_LIMIT {
            return Ok(());
        }
        Err(StacksError::TooMany { what: "mappings of code", limit: MAPPINGS_LIMIT })
    }
}

/// What both kinds of records of a mapping hold.
pub(super) struct Mapped<'a> {
    process: i32,
    start: u64,
    bytes: u64,
    offset: u64,
    has_code: bool,
    mode: CpuMode,
    path: RawData<'a>,
}

impl<'a> From<&MmapRecord<'a>> for Mapped<'a> {
    fn from(record: &MmapRecord<'a>) -> Self {
        let MmapRecord { pid, address, length, page_offset, is_executable, cpu_mode, path, .. } = *record;
        let (process, start, bytes, offset) = (pid, address, length, page_offset);
        Self { process, start, bytes, offset, has_code: is_executable, mode: cpu_mode, path }
    }
}

impl<'a> From<&Mmap2Record<'a>> for Mapped<'a> {
    fn from(record: &Mmap2Record<'a>) -> Self {
        let Mmap2Record { pid, address, length, page_offset, protection, cpu_mode, path, .. } = *record;
        let (process, start, bytes, offset) = (pid, address, length, page_offset);
        Self { process, start, bytes, offset, has_code: protection & PROT_EXEC != 0, mode: cpu_mode, path }
    }
}

/// A mapped part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mapping {
    pub(super) start: u64,
    /// Behind the last byte.
    pub(super) end: u64,
    /// Place of `start` in the file, in bytes.
    pub(super) offset: u64,
    pub(super) image: ImageId,
}

/// The mappings of a process, none over another.
#[derive(Debug, Clone, Default)]
pub(super) struct Mappings {
    by_start: BTreeMap<u64, Mapping>,
    /// Counts the changes.
    pub(super) version: u64,
}

impl Mappings {
    pub(super) fn len(&self) -> usize {
        self.by_start.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Mapping> {
        self.by_start.values()
    }

    pub(super) fn find(&self, address: u64) -> Option<&Mapping> {
        let (_, mapping) = self.by_start.range(..=address).next_back()?;
        (address < mapping.end).then_some(mapping)
    }

    /// Maps over what was there before, as mmap(2) does: what reaches beyond the new mapping stays.
    pub(super) fn insert(&mut self, new: Mapping) {
        let before = self.by_start.range(..new.start).next_back().map(|(_, mapping)| *mapping);
        let covered: Vec<Mapping> = self.by_start.range(new.start..new.end).map(|(_, mapping)| *mapping).collect();
        for old in before.into_iter().filter(|old| old.end > new.start).chain(covered) {
            self.by_start.remove(&old.start);
            if old.start < new.start {
                self.by_start.insert(old.start, Mapping { end: new.start, ..old });
            }
            if old.end > new.end {
                let offset = old.offset.wrapping_add(new.end - old.start);
                self.by_start.insert(new.end, Mapping { start: new.end, offset, ..old });
            }
        }
        self.by_start.insert(new.start, new);
        self.version += 1;
    }

    /// For another process, which had that version before; none where it is new.
    pub(super) fn inherited(&self, version_before: Option<u64>) -> Self {
        let version = self.version.max(version_before.map_or(0, |version| version + 1));
        Self { by_start: self.by_start.clone(), version }
    }

    pub(super) fn clear(&mut self) {
        self.by_start.clear();
        self.version += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{Mapping, Mappings};

    fn mapping(start: u64, end: u64, image: usize) -> Mapping {
        Mapping { start, end, offset: start, image }
    }

    #[test]
    fn a_new_mapping_cuts_what_it_covers() {
        let mut mappings = Mappings::default();
        for new in [mapping(10, 50, 0), mapping(60, 70, 1), mapping(20, 30, 2), mapping(45, 80, 3)] {
            mappings.insert(new);
        }
        let found: Vec<_> = mappings.iter().copied().collect();
        assert_eq!(found, [mapping(10, 20, 0), mapping(20, 30, 2), mapping(30, 45, 0), mapping(45, 80, 3)]);
        assert_eq!(mappings.find(29).map(|found| found.image), Some(2));
        assert_eq!(mappings.find(9), None);
        assert_eq!(mappings.find(80), None);
    }
}
