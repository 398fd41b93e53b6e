//! What was sampled, and what a sample holds.

use super::bytes::Bytes;
use super::error::StacksError;
use super::file::PerfFile;

/// An entry of the list of events ends with the place of its ids, `struct perf_file_section`.
const IDS_BYTES: u64 = 16;
/// The smallest `struct perf_event_attr` with registers (`PERF_ATTR_SIZE_VER3`); Linux has written larger ones since 3.7.
const ATTRIBUTE_BYTES: usize = 96;
/// An event can have no more parts than a list that anyone would type.
const EVENTS_LIMIT: u64 = 64;

const TYPE_HARDWARE: u32 = 0;
const TYPE_SOFTWARE: u32 = 1;
const SOFTWARE_DUMMY: u64 = 9;
/// The upper half of a hardware event's number says which kind of core it counts on.
const HARDWARE_EVENT: u64 = u32::MAX as u64;
const SAMPLE_ID_ALL: u64 = 1 << 18;

/// The one event of the samples.
#[derive(Debug)]
pub(super) struct Event {
    /// As perf names it on its command line, without modifiers.
    pub(super) name: String,
    pub(super) layout: Layout,
}

/// What the records hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    /// Bits of `enum perf_event_sample_format`.
    pub(super) sample_type: u64,
    /// Bits of the registers in a sample, numbered as in `asm/perf_regs.h`.
    pub(super) user_registers: u64,
    /// Whether other records end with what identifies a sample.
    pub(super) identified: bool,
}

#[derive(Clone, Copy)]
struct Attribute {
    kind: u32,
    number: u64,
    layout: Layout,
}

/// The event. That perf splits one over two kinds of cores does not matter, nor its dummy event, which has no samples.
pub(super) fn read(file: &PerfFile) -> Result<Event, StacksError> {
    let broken = StacksError::Broken("the list of events");
    let Some(attribute_bytes) = file.attribute_size.checked_sub(IDS_BYTES).filter(|size| *size >= 8) else {
        return Err(broken);
    };
    if file.attributes.size / file.attribute_size > EVENTS_LIMIT {
        return Err(StacksError::SeveralEvents);
    }
    let bytes = file.bytes(file.attributes)?;
    let mut rest = Bytes(&bytes);
    let mut attributes = Vec::new();
    while let Some(entry) = rest.take_stated(attribute_bytes) {
        let known: Option<Attribute> = attribute(entry);
        attributes.push(known.ok_or(StacksError::Broken("the list of events"))?);
        rest.take_stated(IDS_BYTES).ok_or(StacksError::Broken("the list of events"))?;
    }
    let sampled = |attribute: &&Attribute| (attribute.kind, attribute.number) != (TYPE_SOFTWARE, SOFTWARE_DUMMY);
    let first = *attributes.iter().find(sampled).ok_or(broken)?;
    let alike =
        |other: &Attribute| (other.kind, other.number, other.layout) == (first.kind, first.number, first.layout);
    if !attributes.iter().filter(sampled).all(alike) {
        return Err(StacksError::SeveralEvents);
    }
    Ok(Event { name: name(first), layout: first.layout })
}

/// `struct perf_event_attr`.
fn attribute(entry: &[u8]) -> Option<Attribute> {
    if entry.len() < ATTRIBUTE_BYTES {
        return None;
    }
    let number_at = |offset: usize| Bytes(&entry[offset..]).u64();
    let kind = Bytes(entry).u32()?;
    let number = number_at(8)?;
    Some(Attribute {
        kind,
        number: if kind == TYPE_HARDWARE { number & HARDWARE_EVENT } else { number },
        layout: Layout {
            sample_type: number_at(24)?,
            user_registers: number_at(80)?,
            identified: number_at(40)? & SAMPLE_ID_ALL != 0,
        },
    })
}

/// Names of `enum perf_hw_id` and `enum perf_sw_ids`, by their numbers.
fn name(attribute: Attribute) -> String {
    const HARDWARE: [&str; 2] = ["cycles", "instructions"];
    const SOFTWARE: [&str; 3] = ["cpu-clock", "task-clock", "page-faults"];
    let names: &[&str] = match attribute.kind {
        TYPE_HARDWARE => &HARDWARE,
        TYPE_SOFTWARE => &SOFTWARE,
        _ => &[],
    };
    let known = usize::try_from(attribute.number).ok().and_then(|number| names.get(number));
    known.map_or_else(|| format!("{}:{:#x}", attribute.kind, attribute.number), |name| (*name).to_owned())
}
