//! Linux, by `perf_event_open(2)`.

use std::fs;
use std::hint::black_box;
use std::io;
use std::os::unix::process::parent_id;

use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Hardware, Software};
use perf_event::{Builder, Counter, ReadFormat};

use crate::event::{Event, Level};
use crate::machine::{GroupReading, Machine};

/// This machine.
#[derive(Clone, Copy, Debug)]
pub struct Linux;

const EXERCISE_PAGES: usize = 4096;
const PAGE_BYTES: usize = 4096;
const EXERCISE_CALLS: usize = 1000;

fn builder(event: Event) -> Builder<'static> {
    let mut builder = match event {
        Event::Instructions | Event::KernelInstructions => Builder::new(Hardware::INSTRUCTIONS),
        Event::Cycles | Event::KernelCycles => Builder::new(Hardware::CPU_CYCLES),
        Event::BranchMisses => Builder::new(Hardware::BRANCH_MISSES),
        Event::CacheMisses => Builder::new(Hardware::CACHE_MISSES),
        Event::TlbMisses => {
            Builder::new(Cache { which: CacheId::DTLB, operation: CacheOp::READ, result: CacheResult::MISS })
        }
        Event::TaskClock => Builder::new(Software::TASK_CLOCK),
        Event::PageFaults => Builder::new(Software::PAGE_FAULTS),
        Event::ContextSwitches => Builder::new(Software::CONTEXT_SWITCHES),
    };
    builder.exclude_user(event.level() == Level::Kernel);
    builder.exclude_kernel(event.level() == Level::User);
    builder.inherit(true);
    builder.read_format(ReadFormat::GROUP | ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING);
    builder
}

fn observing(event: Event, thread: u32) -> io::Result<Builder<'static>> {
    let mut builder = builder(event);
    if thread != 0 {
        builder.observe_pid(thread.try_into().map_err(|_| io::Error::from_raw_os_error(libc::ESRCH))?);
    }
    Ok(builder)
}

impl Machine for Linux {
    type Counter = Counter;

    fn threads(&self, process: u32) -> io::Result<Vec<u32>> {
        let mut threads = Vec::new();
        for entry in fs::read_dir(format!("/proc/{process}/task"))? {
            threads.extend(entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok()));
        }
        Ok(threads)
    }

    fn open_leader(&self, event: Event, thread: u32, pinned: bool) -> io::Result<Counter> {
        observing(event, thread)?.pinned(pinned).build()
    }

    fn open_member(&self, event: Event, thread: u32, leader: &mut Counter) -> io::Result<Counter> {
        // It counts whenever its leader does, which is not enabled yet.
        observing(event, thread)?.enabled(true).build_with_group(leader)
    }

    fn enable(&self, leader: &mut Counter) -> io::Result<()> {
        leader.enable()
    }

    fn read(&self, leader: &mut Counter) -> io::Result<GroupReading> {
        let group = leader.read_group()?;
        let nanoseconds = |time: Option<std::time::Duration>| {
            let time = time.ok_or_else(|| io::Error::other("the kernel returned no times of a group"))?;
            u64::try_from(time.as_nanos()).map_err(io::Error::other)
        };
        Ok(GroupReading {
            enabled_ns: nanoseconds(group.time_enabled())?,
            running_ns: nanoseconds(group.time_running())?,
            values: group.iter().map(|entry| entry.value()).collect(),
        })
    }

    fn exercise(&self) {
        // Fresh pages in an order that no prefetcher follows, branches that depend on the data, and system calls.
        let mut memory = vec![0_u8; EXERCISE_PAGES * PAGE_BYTES];
        let mut random = 1_usize;
        for _ in 0..EXERCISE_PAGES * 4 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let place = (random >> 33) % memory.len();
            memory[place] = if memory[place] & 1 == 0 { memory[place].wrapping_add(3) } else { 0 };
        }
        black_box(&memory);
        for _ in 0..EXERCISE_CALLS {
            black_box(parent_id());
        }
    }
}
