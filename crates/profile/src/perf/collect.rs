//! Samples as stacks of places in programs, libraries and the kernel.

use std::collections::HashMap;

use super::bytes::Bytes;
use super::error::StacksError;
use super::event::{Event, Layout};
use super::file::PerfFile;
use super::images::{ImageId, Images};
use super::processes::Processes;
use super::records::{self, COMM, FORK, LOST, LOST_SAMPLES, MMAP, MMAP2, Record, SAMPLE};
use super::sample::{self, Sample};
use super::unwind::Stackwalk;

/// Of a longer stack only this many places next to the leaf are kept. The kernel's limit is 127 unless an administrator
/// raises it.
const PLACES_LIMIT: usize = 1024;
/// `PERF_CONTEXT_MAX`: addresses from here on say whose addresses follow.
const CONTEXTS: u64 = (-4095_i64).cast_unsigned();
const CONTEXT_KERNEL: u64 = (-128_i64).cast_unsigned();
const CONTEXT_USER: u64 = (-512_i64).cast_unsigned();
/// `PERF_RECORD_MISC_CPUMODE_MASK` and its value of a program.
const MODE_MASK: u16 = 7;
const MODE_USER: u16 = 2;
/// `PERF_RECORD_MISC_LOST_SAMPLES_BPF`: left out by a filter, not lost.
const FILTERED: u16 = 1 << 15;

/// Where an instruction lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Code {
    Kernel(u64),
    /// With the address that it was linked for; none when the file could not be read.
    Image(ImageId, Option<u64>),
    /// In nothing that was mapped from a file.
    Unknown,
}

/// All samples.
pub(super) struct Collected {
    pub(super) event: String,
    /// Names of threads.
    pub(super) threads: Vec<String>,
    /// Number of samples by thread and places from the leaf to the root.
    pub(super) samples: HashMap<(usize, Box<[Code]>), u64>,
    pub(super) lost: u64,
    pub(super) images: Images,
    pub(super) kernel_start: Option<u64>,
}

pub(super) fn collect(file: &PerfFile, event: &Event) -> Result<Collected, StacksError> {
    if !sample::is_supported(&event.layout) {
        return Err(StacksError::Unsupported("samples without addresses or with branches"));
    }
    let mut collector = Collector {
        layout: event.layout,
        processes: Processes::default(),
        images: Images::of(file)?,
        stackwalk: Stackwalk::on(&file.architecture()?),
        thread_ids: HashMap::new(),
        samples: HashMap::new(),
        lost: 0,
        lost_samples: 0,
    };
    let mut body = Vec::new();
    for place in records::in_order(file, &event.layout)? {
        let record = records::read(file, place, &mut body)?;
        collector.take(record).ok_or(StacksError::Record { kind: record.kind, offset: place.offset })??;
    }
    Ok(collector.finish(event))
}

struct Collector {
    layout: Layout,
    processes: Processes,
    images: Images,
    stackwalk: Stackwalk,
    thread_ids: HashMap<String, usize>,
    samples: HashMap<(usize, Box<[Code]>), u64>,
    lost: u64,
    lost_samples: u64,
}

impl Collector {
    /// None when the record is too short.
    fn take(&mut self, record: Record<'_>) -> Option<Result<(), StacksError>> {
        let mut bytes = Bytes(record.body);
        match record.kind {
            MMAP | MMAP2 => return self.processes.map(record, &mut self.images),
            FORK => return self.processes.fork(record),
            COMM => self.processes.name(record)?,
            LOST => {
                let (_event, lost) = (bytes.u64()?, bytes.u64()?);
                self.lost = self.lost.saturating_add(lost);
            }
            LOST_SAMPLES if record.flags & FILTERED == 0 => {
                self.lost_samples = self.lost_samples.saturating_add(bytes.u64()?);
            }
            SAMPLE => self.sample(sample::parse(record.body, &self.layout)?, record.flags),
            _ => {}
        }
        Some(Ok(()))
    }

    fn sample(&mut self, sample: Sample<'_>, flags: u16) {
        let mut stack = self.kernel_and_called(&sample);
        if !sample.user.stack.is_empty()
            && let Some(mappings) = self.processes.mappings(sample.process)
        {
            let addresses = self.stackwalk.walk(sample.process, sample.user, mappings, &mut self.images);
            if !addresses.is_empty() {
                stack.retain(|code| matches!(code, Code::Kernel(_)));
                for address in addresses {
                    let code = self.user_code(sample.process, address);
                    stack.push(code);
                }
            }
        }
        if stack.is_empty() {
            let in_program = flags & MODE_MASK == MODE_USER;
            stack.push(if in_program {
                self.user_code(sample.process, sample.address)
            } else {
                Code::Kernel(sample.address)
            });
        }
        stack.truncate(PLACES_LIMIT);
        let name = self.processes.thread_name(sample.process, sample.thread);
        let next = self.thread_ids.len();
        let thread = *self.thread_ids.entry(name).or_insert(next);
        *self.samples.entry((thread, stack.into_boxed_slice())).or_default() += 1;
    }

    /// The places of the chain of addresses that the kernel made.
    fn kernel_and_called(&mut self, sample: &Sample<'_>) -> Vec<Code> {
        let mut stack = Vec::new();
        let mut bytes = Bytes(sample.call_chain);
        let mut context = 0;
        let mut is_first = true;
        while let Some(address) = bytes.u64() {
            if address >= CONTEXTS {
                (context, is_first) = (address, true);
                continue;
            }
            // All but the first are where a call returns to: the call itself lies before.
            let called_from = if is_first { address } else { address.saturating_sub(1) };
            is_first = false;
            match context {
                CONTEXT_KERNEL => stack.push(Code::Kernel(called_from)),
                CONTEXT_USER => stack.push(self.user_code(sample.process, called_from)),
                _ => {}
            }
        }
        stack
    }

    fn user_code(&mut self, process: i32, address: u64) -> Code {
        let mapping = self.processes.mappings(process).and_then(|mappings| mappings.find(address));
        let Some(mapping) = mapping else { return Code::Unknown };
        let offset = (address - mapping.start).checked_add(mapping.offset);
        let image = self.images.get(mapping.image);
        Code::Image(mapping.image, image.zip(offset).and_then(|(image, offset)| image.address(offset)))
    }

    fn finish(self, event: &Event) -> Collected {
        let mut threads = vec![String::new(); self.thread_ids.len()];
        for (name, id) in self.thread_ids {
            threads[id] = name;
        }
        Collected {
            event: event.name.clone(),
            threads,
            samples: self.samples,
            // Newer versions of perf write the samples among the lost records once more at the end.
            lost: self.lost.max(self.lost_samples),
            images: self.images,
            kernel_start: self.processes.kernel_start,
        }
    }
}
