//! A recording as a file: its header, the event that was sampled, and its records, by the crate `linux-perf-data`.
//!
//! Code under test may have written the file, and the crate trusts what it states: it reserves memory for stated sizes,
//! and panics at some values. What it would trust is compared with the length of the file beforehand. Only the size of
//! unpacked records is not known before they are unpacked; that is bounded by the process that reads.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use linux_perf_data::linux_perf_event_reader::constants::PERF_RECORD_MISC_MMAP_BUILD_ID;
use linux_perf_data::linux_perf_event_reader::{
    EventRecord, HardwareEventId, PerfEventAttr, PerfEventType, RawEventRecord, RecordType, SampleFormat,
    SoftwareCounterType,
};
use linux_perf_data::{AttributeDescription, Feature, PerfFile, PerfFileReader, PerfFileRecord, PerfRecordIter};

use super::error::StacksError;

const MAGIC: &[u8; 8] = b"PERFILE2";
/// The same, written by a machine of the other byte order.
const MAGIC_SWAPPED: &[u8; 8] = b"2ELIFREP";
/// `struct perf_file_header`.
const HEADER_BYTES: usize = 104;
/// `struct perf_pipe_file_header`, which perf writes to a pipe in the header's place.
const PIPE_HEADER_BYTES: u64 = 16;
/// `struct perf_file_section`.
const SECTION_BYTES: usize = 16;
/// `struct perf_event_header`.
const RECORD_HEADER_BYTES: usize = 8;
/// `struct perf_file_attr`: an attribute, which has grown to 136 bytes over the years, and a section.
const ATTRIBUTE_BYTES_LIMIT: u64 = 1 << 12;
/// An event can have no more parts than a list that anyone would type.
const EVENTS_LIMIT: u64 = 64;
/// Attributes and features are small; a section that states more is not read into memory.
const SECTION_BYTES_LIMIT: u64 = 16 << 20;
/// From this feature on they are those of Android's simpleperf.
const SIMPLEPERF_FEATURES: usize = 128;
/// `PERF_RECORD_AUXTRACE`: what follows such a record is no record.
const AUXTRACE: u32 = 71;
/// Parts of a sample that are not read here, and lie before those that are.
const NOT_SUPPORTED: SampleFormat = SampleFormat::READ.union(SampleFormat::BRANCH_STACK);
/// The longest build id that fits into a record.
const BUILD_ID_BYTES: u8 = 20;

/// A whole recording of one event.
pub(super) struct Recording {
    file: PerfFile,
    records: PerfRecordIter<BufReader<File>>,
    /// The event, as perf names it on its command line, without modifiers.
    pub(super) event: String,
}

impl Recording {
    pub(super) fn open(path: &Path) -> Result<Self, StacksError> {
        let mut input = BufReader::with_capacity(1 << 18, File::open(path)?);
        check(&mut input)?;
        input.rewind()?;
        let PerfFileReader { perf_file, record_iter } = PerfFileReader::parse_file(input).map_err(of_crate)?;
        let event = event(perf_file.event_attributes())?;
        Ok(Self { file: perf_file, records: record_iter, event })
    }

    /// Hands over the kernel's records in the order of time, read and as they are in the file. What perf itself wrote
    /// down is left out.
    pub(super) fn each_record(
        &mut self,
        mut take: impl FnMut(&EventRecord<'_>, &RawEventRecord<'_>) -> Result<(), StacksError>,
    ) -> Result<(), StacksError> {
        while let Some(record) = self.records.next_record(&mut self.file).map_err(of_crate)? {
            if let PerfFileRecord::EventRecord { record, .. } = record {
                take(&parsed(&record)?, &record)?;
            }
        }
        Ok(())
    }

    /// Release of the kernel, as `uname -r` prints it; empty when unknown.
    pub(super) fn kernel_release(&self) -> Result<&str, StacksError> {
        Ok(self.file.os_release().map_err(of_crate)?.unwrap_or_default())
    }

    /// Architecture of the machine, as `uname -m` prints it; empty when unknown.
    pub(super) fn architecture(&self) -> Result<&str, StacksError> {
        Ok(self.file.arch().map_err(of_crate)?.unwrap_or_default())
    }

    /// Build ids of the files that samples lie in, by path.
    pub(super) fn build_ids(&self) -> Result<HashMap<String, Vec<u8>>, StacksError> {
        let files = self.file.build_ids().map_err(of_crate)?;
        Ok(files.into_values().map(|file| (text(&file.path), file.build_id)).collect())
    }
}

/// Bytes as text, whatever they are.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn parsed<'a>(record: &RawEventRecord<'a>) -> Result<EventRecord<'a>, StacksError> {
    let broken = || StacksError::Record { kind: record.record_type.0 };
    let bytes = record.data.as_slice();
    let fits = match record.record_type {
        RecordType::SAMPLE => sample_fits(record.parse_info.sample_format, &bytes),
        RecordType::MMAP2 if record.misc & PERF_RECORD_MISC_MMAP_BUILD_ID != 0 => {
            // Process, thread, address, length and offset lie before the id's length.
            bytes.get(32).is_some_and(|length| *length <= BUILD_ID_BYTES)
        }
        _ => true,
    };
    if !fits {
        return Err(broken());
    }
    record.parse().map_err(|_| broken())
}

/// Whether a sample has the addresses that it states to have.
fn sample_fits(format: SampleFormat, bytes: &[u8]) -> bool {
    if format.intersects(NOT_SUPPORTED) {
        return false;
    }
    if !format.contains(SampleFormat::CALLCHAIN) {
        return true;
    }
    let before = SampleFormat::IDENTIFIER
        | SampleFormat::IP
        | SampleFormat::TID
        | SampleFormat::TIME
        | SampleFormat::ADDR
        | SampleFormat::ID
        | SampleFormat::STREAM_ID
        | SampleFormat::CPU
        | SampleFormat::PERIOD;
    let before = (format & before).bits().count_ones() as usize * 8;
    u64_at(bytes, before).is_some_and(|addresses| addresses <= bytes.len() as u64 / 8)
}

fn of_crate(error: linux_perf_data::Error) -> StacksError {
    match error {
        linux_perf_data::Error::IoError(error) if error.raw_os_error().is_some() => StacksError::Io(error),
        error => StacksError::Format(error),
    }
}

/// The one event. That perf splits one over two kinds of cores does not matter, nor its dummy event, which has no
/// samples.
fn event(attributes: &[AttributeDescription]) -> Result<String, StacksError> {
    let is_sampled = |event: &&AttributeDescription| {
        !matches!(event.attr.type_, PerfEventType::Software(SoftwareCounterType::Dummy))
    };
    let mut sampled = attributes.iter().filter(is_sampled);
    let first = sampled.next().ok_or(StacksError::Broken("the list of events"))?;
    let layout = |attr: &PerfEventAttr| (attr.sample_format, attr.sample_regs_user);
    if !sampled.all(|other| name(other) == name(first) && layout(&other.attr) == layout(&first.attr)) {
        return Err(StacksError::SeveralEvents);
    }
    let format = first.attr.sample_format;
    if !format.contains(SampleFormat::IP | SampleFormat::TID) || format.intersects(NOT_SUPPORTED) {
        return Err(StacksError::Unsupported("samples without addresses or with branches"));
    }
    Ok(name(first))
}

fn name(event: &AttributeDescription) -> String {
    let known = match event.attr.type_ {
        PerfEventType::Hardware(HardwareEventId::CpuCycles, _) => Some("cycles"),
        PerfEventType::Hardware(HardwareEventId::Instructions, _) => Some("instructions"),
        PerfEventType::Software(SoftwareCounterType::CpuClock) => Some("cpu-clock"),
        PerfEventType::Software(SoftwareCounterType::TaskClock) => Some("task-clock"),
        PerfEventType::Software(SoftwareCounterType::PageFaults) => Some("page-faults"),
        _ => event.name.as_deref(),
    };
    known.map_or_else(|| format!("{:?}", event.attr.type_), str::to_owned)
}

/// A part of the file.
#[derive(Clone, Copy)]
struct Section {
    offset: u64,
    size: u64,
}

impl Section {
    fn at(bytes: &[u8], offset: usize) -> Option<Self> {
        Some(Self { offset: u64_at(bytes, offset)?, size: u64_at(bytes, offset + 8)? })
    }

    fn within(self, length: u64, part: &'static str) -> Result<Self, StacksError> {
        let end = self.offset.checked_add(self.size).ok_or(StacksError::Broken(part))?;
        if end <= length { Ok(self) } else { Err(StacksError::CutShort { part, end, length }) }
    }

    fn read(self, input: &mut BufReader<File>) -> Result<Vec<u8>, StacksError> {
        let mut bytes = vec![0; usize::try_from(self.size).unwrap_or(0)];
        input.seek(SeekFrom::Start(self.offset))?;
        input.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// Whether the file is whole, and all that it states of sizes fits into it.
fn check(input: &mut BufReader<File>) -> Result<(), StacksError> {
    let length = input.get_ref().metadata()?.len();
    let mut header = Vec::with_capacity(HEADER_BYTES);
    input.by_ref().take(HEADER_BYTES as u64).read_to_end(&mut header)?;
    match header.get(..MAGIC.len()) {
        Some(magic) if magic == MAGIC => {}
        Some(magic) if magic == MAGIC_SWAPPED => return Err(StacksError::Unsupported("the other byte order")),
        _ => return Err(StacksError::NotPerfData),
    }
    if u64_at(&header, 8) == Some(PIPE_HEADER_BYTES) {
        return Err(StacksError::Unsupported("the form for pipes"));
    }
    let short = || StacksError::CutShort { part: "the header", end: HEADER_BYTES as u64, length };
    let attribute_bytes = u64_at(&header, 16).ok_or_else(short)?;
    let [attributes, data, event_types] = [24, 40, 56].map(|offset| Section::at(&header, offset));
    let attributes = attributes.ok_or_else(short)?.within(length, "the list of events")?;
    let data = data.ok_or_else(short)?;
    if event_types.ok_or_else(short)?.size > 0 {
        return Err(StacksError::Unsupported("a list of event types, as perf wrote it before Linux 3.3"));
    }
    let flags = header.get(72..).filter(|flags| flags.len() == 32).ok_or_else(short)?;
    if data.size == 0 {
        return Err(StacksError::Unfinished);
    }
    let data = data.within(length, "the records")?;
    if !(SECTION_BYTES as u64..=ATTRIBUTE_BYTES_LIMIT).contains(&attribute_bytes) {
        return Err(StacksError::Broken("the list of events"));
    }
    if attributes.size / attribute_bytes > EVENTS_LIMIT {
        return Err(StacksError::SeveralEvents);
    }
    check_features(input, flags, data, length)?;
    check_records(input, data)
}

/// Right behind the records lie the places of the features that the header has flags of.
fn check_features(input: &mut BufReader<File>, flags: &[u8], data: Section, length: u64) -> Result<(), StacksError> {
    let present: Vec<usize> = (0..8 * flags.len()).filter(|bit| flags[bit / 8] >> (bit % 8) & 1 == 1).collect();
    if present.iter().any(|bit| *bit >= SIMPLEPERF_FEATURES) {
        return Err(StacksError::Unsupported("features of simpleperf"));
    }
    let table = Section { offset: data.offset + data.size, size: (SECTION_BYTES * present.len()) as u64 };
    let table = table.within(length, "the list of features")?.read(input)?;
    for (bit, place) in present.iter().zip(table.chunks_exact(SECTION_BYTES)) {
        let place = Section::at(place, 0).ok_or(StacksError::Broken("the list of features"))?;
        let place = place.within(length, "a feature")?;
        if place.size > SECTION_BYTES_LIMIT {
            return Err(StacksError::Broken("a section that is too large"));
        }
        if *bit == Feature::EVENT_DESC.0 as usize {
            let events = place.read(input)?;
            check_event_descriptions(&events).ok_or(StacksError::Broken("the list of events"))?;
        }
    }
    Ok(())
}

/// `HEADER_EVENT_DESC`: for each event its attribute, its name and its ids.
fn check_event_descriptions(section: &[u8]) -> Option<()> {
    let (events, attribute_bytes) = (u32_at(section, 0)?, u32_at(section, 4)? as usize);
    let mut at: usize = 8;
    for _ in 0..events {
        let ids = at.checked_add(attribute_bytes)?;
        let name = ids + 4;
        let (ids, name_bytes) = (u32_at(section, ids)? as usize, u32_at(section, name)? as usize);
        at = name + 4 + name_bytes + 8 * ids;
        section.get(..at)?;
    }
    (u64::from(events) <= EVENTS_LIMIT).then_some(())
}

fn check_records(input: &mut BufReader<File>, data: Section) -> Result<(), StacksError> {
    let cut = || StacksError::Broken("the records end within one");
    let mut left = data.size;
    input.seek(SeekFrom::Start(data.offset))?;
    while left > 0 {
        let mut header = [0; RECORD_HEADER_BYTES];
        left = left.checked_sub(RECORD_HEADER_BYTES as u64).ok_or_else(cut)?;
        input.read_exact(&mut header)?;
        let kind = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
        if kind == AUXTRACE {
            return Err(StacksError::Unsupported("traces of a processor"));
        }
        let bytes = u64::from(u16::from_le_bytes([header[6], header[7]]));
        let body = bytes.checked_sub(RECORD_HEADER_BYTES as u64).ok_or(StacksError::Record { kind })?;
        left = left.checked_sub(body).ok_or_else(cut)?;
        input.seek_relative(body.cast_signed())?;
    }
    Ok(())
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes.get(offset..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

/// A number of 8 bytes, little-endian; none when there are too few.
pub(super) fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    bytes.get(offset..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}
