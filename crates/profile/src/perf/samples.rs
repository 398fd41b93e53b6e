//! Samples as stacks of places in programs, libraries and the kernel.

use std::collections::HashMap;

use linux_perf_data::linux_perf_event_reader::{
    ContextSwitchRecord, CpuMode, EventRecord, RawDataU64, RawEventRecord, RecordType, SampleRecord,
};

use super::error::StacksError;
use super::images::{ImageId, Images};
use super::processes::{Mapped, Processes};
use super::recording::{Recording, u64_at};
use super::unwind::{Stackwalk, UserState};
use super::waits::Waits;
use crate::stacks::OFF_PROCESSOR;

/// Of a longer stack only this many places next to the leaf are kept. The kernel's limit is 127 unless an administrator
/// raises it.
const PLACES_LIMIT: usize = 1024;
/// `PERF_CONTEXT_MAX`: addresses from here on mark whose addresses follow.
const CONTEXTS: u64 = (-4095_i64).cast_unsigned();
const CONTEXT_KERNEL: u64 = (-128_i64).cast_unsigned();
const CONTEXT_USER: u64 = (-512_i64).cast_unsigned();
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

/// Where a sample was taken: the index of the thread's name, and places from the leaf to the root.
pub(super) type Sampled = (usize, Box<[Code]>);

/// All samples.
pub(super) struct Collected {
    pub(super) event: String,
    /// Names of threads.
    pub(super) threads: Vec<String>,
    /// Number of samples, or of nanoseconds off the processor.
    pub(super) samples: HashMap<Sampled, u64>,
    pub(super) lost: u64,
    pub(super) images: Images,
    pub(super) kernel_start: Option<u64>,
}

/// With `waits`, a sample counts as many nanoseconds as its thread then was off the processor.
pub(super) fn collect(mut recording: Recording, waits: Option<Waits>) -> Result<Collected, StacksError> {
    let mut collector = Collector {
        processes: Processes::default(),
        images: Images::new(recording.build_ids()?, recording.kernel_release()?),
        stackwalk: Stackwalk::on(recording.architecture()?),
        thread_ids: HashMap::new(),
        samples: HashMap::new(),
        lost: 0,
        lost_samples: 0,
        waits,
    };
    recording.each_record(|record, raw| collector.take(record, raw))?;
    Ok(collector.finish(recording.event))
}

struct Collector {
    processes: Processes,
    images: Images,
    stackwalk: Stackwalk,
    thread_ids: HashMap<String, usize>,
    samples: HashMap<Sampled, u64>,
    lost: u64,
    lost_samples: u64,
    waits: Option<Waits>,
}

impl Collector {
    fn take(&mut self, record: &EventRecord<'_>, raw: &RawEventRecord<'_>) -> Result<(), StacksError> {
        match record {
            EventRecord::Mmap(record) => self.processes.map(&Mapped::from(record), &mut self.images)?,
            EventRecord::Mmap2(record) => self.processes.map(&Mapped::from(record), &mut self.images)?,
            EventRecord::Fork(record) => self.processes.fork(record, raw.misc)?,
            EventRecord::Comm(record) => self.processes.name(record),
            EventRecord::Lost(record) => self.lost = self.lost.saturating_add(record.count),
            EventRecord::Raw(record) if record.record_type == RecordType::LOST_SAMPLES && raw.misc & FILTERED == 0 => {
                let lost = u64_at(&record.data.as_slice(), 0);
                let lost = lost.ok_or(StacksError::Record { kind: RecordType::LOST_SAMPLES.0 })?;
                self.lost_samples = self.lost_samples.saturating_add(lost);
            }
            EventRecord::Sample(record) => self.sample(record)?,
            EventRecord::ContextSwitch(switch) => self.switch(*switch, raw)?,
            _ => {}
        }
        Ok(())
    }

    fn sample(&mut self, sample: &SampleRecord<'_>) -> Result<(), StacksError> {
        let (Some(process), Some(thread), Some(address)) = (sample.pid, sample.tid, sample.ip) else {
            return Err(StacksError::Record { kind: RecordType::SAMPLE.0 });
        };
        let mut stack = sample.callchain.map(|chain| self.kernel_and_called(process, chain)).unwrap_or_default();
        if let Some(state) = user_state(sample)?
            && let Some(mappings) = self.processes.mappings(process)
        {
            let addresses = self.stackwalk.walk(process, &state, mappings, &mut self.images);
            if !addresses.is_empty() {
                stack.retain(|code| matches!(code, Code::Kernel(_)));
                for address in addresses {
                    let code = self.user_code(process, address);
                    stack.push(code);
                }
            }
        }
        if stack.is_empty() {
            let in_program = sample.cpu_mode == CpuMode::User;
            stack.push(if in_program { self.user_code(process, address) } else { Code::Kernel(address) });
        }
        stack.truncate(PLACES_LIMIT);
        let name = self.processes.thread_name(process, thread);
        let next = self.thread_ids.len();
        let named = *self.thread_ids.entry(name).or_insert(next);
        let sampled = (named, stack.into_boxed_slice());
        match &mut self.waits {
            None => *self.samples.entry(sampled).or_default() += 1,
            Some(waits) => {
                let at = sample.timestamp.ok_or(StacksError::Record { kind: RecordType::SAMPLE.0 })?;
                waits.begin(thread, at, sampled);
            }
        }
        Ok(())
    }

    fn switch(&mut self, switch: ContextSwitchRecord, raw: &RawEventRecord<'_>) -> Result<(), StacksError> {
        let Some(waits) = &mut self.waits else { return Ok(()) };
        let of_record = raw.common_data().ok().and_then(|common| common.tid.zip(common.timestamp));
        let (thread, at) = of_record.ok_or(StacksError::Record { kind: RecordType::SWITCH.0 })?;
        match switch {
            ContextSwitchRecord::Out { .. } => waits.leave(thread),
            ContextSwitchRecord::In { .. } => {
                if let Some((sampled, ns)) = waits.end(thread, at) {
                    let sum = self.samples.entry(sampled).or_default();
                    *sum = sum.saturating_add(ns);
                }
            }
        }
        Ok(())
    }

    /// The places of the chain of addresses that the kernel made.
    fn kernel_and_called(&mut self, process: i32, chain: RawDataU64<'_>) -> Vec<Code> {
        let mut stack = Vec::new();
        let mut context = 0;
        let mut is_first = true;
        for address in (0..chain.len()).filter_map(|index| chain.get(index)) {
            if address >= CONTEXTS {
                (context, is_first) = (address, true);
                continue;
            }
            // All but the first are where a call returns to: the call itself lies before.
            let called_from = if is_first { address } else { address.saturating_sub(1) };
            is_first = false;
            match context {
                CONTEXT_KERNEL => stack.push(Code::Kernel(called_from)),
                CONTEXT_USER => stack.push(self.user_code(process, called_from)),
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

    fn finish(self, event: String) -> Collected {
        let mut threads = vec![String::new(); self.thread_ids.len()];
        for (name, id) in self.thread_ids {
            threads[id] = name;
        }
        let unended = self.waits.as_ref().map_or(0, |waits| waits.lost);
        Collected {
            event: if self.waits.is_some() { OFF_PROCESSOR.to_owned() } else { event },
            threads,
            samples: self.samples,
            // Newer versions of perf write the samples among the lost records once more at the end.
            lost: self.lost.max(self.lost_samples).saturating_add(unended),
            images: self.images,
            kernel_start: self.processes.kernel_start,
        }
    }
}

/// What to unwind; none where the state was not asked for, or a thread of the kernel ran.
fn user_state<'a>(sample: &SampleRecord<'a>) -> Result<Option<UserState<'a>>, StacksError> {
    let (Some(registers), Some((stack, used))) = (&sample.user_regs, sample.user_stack) else { return Ok(None) };
    if stack.is_empty() {
        return Ok(None);
    }
    // perf asks for a size, the kernel adds how much of it there was.
    let used = usize::try_from(used).ok().and_then(|used| stack.get(0..used));
    let stack = used.ok_or(StacksError::Record { kind: RecordType::SAMPLE.0 })?.as_slice();
    Ok(Some(UserState { registers: registers.clone(), stack }))
}
