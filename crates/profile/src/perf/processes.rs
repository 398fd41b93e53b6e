//! Processes and threads as they were when a sample was taken.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::bytes::Bytes;
use super::error::StacksError;
use super::images::Images;
use super::mappings::{Mapping, Mappings};
use super::records::{MMAP2, Record};

/// Code in all processes together; one process may have 65,530 mappings (`vm.max_map_count`).
const MAPPINGS_LIMIT: usize = 1 << 20;
/// `PERF_RECORD_MISC_CPUMODE_MASK` and its value of the kernel.
const MODE_MASK: u16 = 7;
const MODE_KERNEL: u16 = 1;
/// `PERF_RECORD_MISC_MMAP_DATA`, `PERF_RECORD_MISC_COMM_EXEC`, `PERF_RECORD_MISC_FORK_EXEC`: one bit that means another
/// thing in each kind.
const MAPS_DATA: u16 = 1 << 13;
const IS_EXEC: u16 = 1 << 13;
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

    /// `PERF_RECORD_COMM`: a thread has a name from now on.
    pub(super) fn name(&mut self, record: Record<'_>) -> Option<()> {
        let mut bytes = Bytes(record.body);
        let (process, thread) = (bytes.i32()?, bytes.i32()?);
        self.names.insert(thread, Rc::from(bytes.text()));
        if record.flags & IS_EXEC != 0 {
            self.children.remove(&process);
            if let Some(mappings) = self.mappings.get_mut(&process) {
                self.mapped -= mappings.len();
                mappings.clear();
            }
        }
        Some(())
    }

    /// `PERF_RECORD_FORK`: a new process or thread, with the name and the mappings of the one that it comes from.
    pub(super) fn fork(&mut self, record: Record<'_>) -> Option<Result<(), StacksError>> {
        let mut bytes = Bytes(record.body);
        let (process, parent) = (bytes.i32()?, bytes.i32()?);
        let (thread, parent_thread) = (bytes.i32()?, bytes.i32()?);
        if let Some(name) = self.names.get(&parent_thread).or_else(|| self.names.get(&parent)).cloned() {
            self.names.insert(thread, name);
        }
        // perf writes such a record too for every process that it finds running; that one is nobody's child.
        if process == parent || record.flags & IS_NO_FORK != 0 {
            return Some(Ok(()));
        }
        self.children.insert(process);
        let before = self.mappings.get(&process).map(|old| old.version);
        let new = self.mappings.get(&parent).unwrap_or(&Mappings::default()).inherited(before);
        self.mapped += new.len();
        if let Some(old) = self.mappings.insert(process, new) {
            self.mapped -= old.len();
        }
        Some(self.check())
    }

    /// `PERF_RECORD_MMAP`, `PERF_RECORD_MMAP2`: a file's code is mapped from now on.
    pub(super) fn map(&mut self, record: Record<'_>, images: &mut Images) -> Option<Result<(), StacksError>> {
        let mut bytes = Bytes(record.body);
        let (process, _thread) = (bytes.i32()?, bytes.i32()?);
        let (start, length, offset) = (bytes.u64()?, bytes.u64()?, bytes.u64()?);
        let mut has_code = record.flags & MAPS_DATA == 0;
        if record.kind == MMAP2 {
            // Device and inode, or the build id.
            bytes.take(24)?;
            has_code = bytes.u32()? & PROT_EXEC != 0;
            bytes.u32()?;
        }
        let path = bytes.text();
        if record.flags & MODE_MASK == MODE_KERNEL {
            if path.starts_with("[kernel.kallsyms]") {
                self.kernel_start.get_or_insert(offset);
            }
            return Some(Ok(()));
        }
        let end = start.checked_add(length).filter(|end| *end > start);
        let Some(end) = end.filter(|_| has_code) else { return Some(Ok(())) };
        let mappings = self.mappings.entry(process).or_default();
        let before = mappings.len();
        mappings.insert(Mapping { start, end, offset, image: images.id(&path) });
        self.mapped = self.mapped + mappings.len() - before;
        Some(self.check())
    }

    fn check(&self) -> Result<(), StacksError> {
        if self.mapped <= MAPPINGS_LIMIT {
            return Ok(());
        }
        Err(StacksError::TooMany { what: "mappings of code", limit: MAPPINGS_LIMIT })
    }
}
