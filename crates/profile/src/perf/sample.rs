//! What a sample holds: `perf_event_open(2)`, `PERF_RECORD_SAMPLE`.

use super::bytes::Bytes;
use super::event::Layout;

// `enum perf_event_sample_format`.
const IP: u64 = 1 << 0;
const TID: u64 = 1 << 1;
const TIME: u64 = 1 << 2;
const ADDR: u64 = 1 << 3;
const READ: u64 = 1 << 4;
const CALLCHAIN: u64 = 1 << 5;
const ID: u64 = 1 << 6;
const CPU: u64 = 1 << 7;
const PERIOD: u64 = 1 << 8;
const STREAM_ID: u64 = 1 << 9;
const RAW: u64 = 1 << 10;
const BRANCH_STACK: u64 = 1 << 11;
const REGS_USER: u64 = 1 << 12;
const STACK_USER: u64 = 1 << 13;
const IDENTIFIER: u64 = 1 << 16;

/// What can lie before the parts that are needed here, and is not skipped.
const NOT_SUPPORTED: u64 = READ | BRANCH_STACK;

/// A sample's parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample<'a> {
    /// Where the processor was.
    pub(super) address: u64,
    pub(super) process: i32,
    pub(super) thread: i32,
    /// Addresses of 8 bytes from the leaf to the root, with marks of what follows: the kernel's or the program's.
    pub(super) call_chain: &'a [u8],
    pub(super) user: UserState<'a>,
}

/// The state of the program when a sample was taken; empty where it was not asked for, or a thread of the kernel ran.
#[derive(Debug, Clone, Copy)]
pub(super) struct UserState<'a> {
    /// Which registers there are.
    pub(super) mask: u64,
    /// 8 bytes for each; none of a program of 32 bits.
    pub(super) registers: &'a [u8],
    /// From the stack pointer upwards.
    pub(super) stack: &'a [u8],
}

/// Whether samples of this layout can be read.
pub(super) fn is_supported(layout: &Layout) -> bool {
    let needed = IP | TID;
    layout.sample_type & needed == needed && layout.sample_type & NOT_SUPPORTED == 0
}

/// The time of a record; 0 when the file has no times. None when it is too short.
pub(super) fn time(is_sample: bool, body: &[u8], layout: &Layout) -> Option<u64> {
    let fields = |mask: u64| (layout.sample_type & mask).count_ones() as usize * 8;
    if layout.sample_type & TIME == 0 || !(is_sample || layout.identified) {
        return Some(0);
    }
    let from = if is_sample {
        fields(IDENTIFIER | IP | TID)
    } else {
        // `struct sample_id` ends the record.
        body.len().checked_sub(fields(TIME | ID | STREAM_ID | CPU | IDENTIFIER))?
    };
    Bytes(body.get(from..)?).u64()
}

/// None when the body is too short for what it states.
pub(super) fn parse<'a>(body: &'a [u8], layout: &Layout) -> Option<Sample<'a>> {
    let has = |part: u64| layout.sample_type & part != 0;
    let mut bytes = Bytes(body);
    let skip = |bytes: &mut Bytes<'a>, part: u64| if has(part) { bytes.u64().map(drop) } else { Some(()) };
    skip(&mut bytes, IDENTIFIER)?;
    let address = bytes.u64()?;
    let (process, thread) = (bytes.i32()?, bytes.i32()?);
    for part in [TIME, ADDR, ID, STREAM_ID, CPU, PERIOD] {
        skip(&mut bytes, part)?;
    }
    let mut call_chain: &[u8] = &[];
    if has(CALLCHAIN) {
        let addresses = bytes.u64()?;
        call_chain = bytes.take_stated(addresses.checked_mul(8)?)?;
    }
    if has(RAW) {
        let size = bytes.u32()?;
        bytes.take_stated(u64::from(size))?;
    }
    let registers = if has(REGS_USER) { registers(&mut bytes, layout)? } else { &[] };
    let stack = if has(STACK_USER) { stack(&mut bytes)? } else { &[] };
    let user = UserState { mask: layout.user_registers, registers, stack };
    Some(Sample { address, process, thread, call_chain, user })
}

fn registers<'a>(bytes: &mut Bytes<'a>, layout: &Layout) -> Option<&'a [u8]> {
    const ABI_NONE: u64 = 0;
    const ABI_64_BIT: u64 = 2;
    let abi = bytes.u64()?;
    if abi == ABI_NONE {
        return Some(&[]);
    }
    let registers = bytes.take(layout.user_registers.count_ones() as usize * 8)?;
    Some(if abi == ABI_64_BIT { registers } else { &[] })
}

/// perf asks for a size, the kernel adds how much of it there was.
fn stack<'a>(bytes: &mut Bytes<'a>) -> Option<&'a [u8]> {
    let size = bytes.u64()?;
    let stack = bytes.take_stated(size)?;
    if stack.is_empty() {
        return Some(stack);
    }
    let used = bytes.u64()?;
    stack.get(..usize::try_from(used).ok()?)
}
