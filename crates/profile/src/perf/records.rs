//! The records, in the order of time.

use std::io::Read;

use super::bytes::Bytes;
use super::error::StacksError;
use super::event::Layout;
use super::file::PerfFile;
use super::sample;

/// `struct perf_event_header`.
const HEADER_BYTES: usize = 8;

// `enum perf_event_type`.
pub(super) const MMAP: u32 = 1;
pub(super) const LOST: u32 = 2;
pub(super) const COMM: u32 = 3;
pub(super) const FORK: u32 = 7;
pub(super) const SAMPLE: u32 = 9;
pub(super) const MMAP2: u32 = 10;
pub(super) const LOST_SAMPLES: u32 = 13;
// `enum perf_user_event_type`, written by perf itself.
const AUXTRACE: u32 = 71;
const COMPRESSED: u32 = 81;
const COMPRESSED2: u32 = 83;

/// Where a record lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Nanoseconds of perf's clock; 0 for what perf wrote down before it began to sample.
    time: u64,
    /// In bytes from the start of the file.
    pub(super) offset: u64,
}

/// A record without its header.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    /// `enum perf_event_type`.
    pub(super) kind: u32,
    /// Flags that depend on the kind.
    pub(super) flags: u16,
    pub(super) body: &'a [u8],
}

struct Header {
    kind: u32,
    flags: u16,
    /// Without the header's.
    body_bytes: usize,
}

/// The places of all records that matter here. perf writes the records of one processor after another, so that only
/// their times tell their order.
pub(super) fn in_order(file: &PerfFile, layout: &Layout) -> Result<Vec<Place>, StacksError> {
    let mut reader = file.records()?;
    let mut places = Vec::new();
    let mut body = Vec::new();
    let end = file.data.offset + file.data.size;
    let mut offset = file.data.offset;
    while offset < end {
        if end - offset < HEADER_BYTES as u64 {
            return Err(StacksError::Broken("the records end within one"));
        }
        let mut bytes = [0; HEADER_BYTES];
        reader.read_exact(&mut bytes)?;
        let header = header(bytes, offset)?;
        let size = (HEADER_BYTES + header.body_bytes) as u64;
        if size > end - offset {
            return Err(StacksError::Broken("the records end within one"));
        }
        body.resize(header.body_bytes, 0);
        reader.read_exact(&mut body)?;
        match header.kind {
            AUXTRACE => return Err(StacksError::Unsupported("traces of a processor")),
            COMPRESSED | COMPRESSED2 => return Err(StacksError::Unsupported("compressed records")),
            MMAP | LOST | COMM | FORK | SAMPLE | MMAP2 | LOST_SAMPLES => {
                let time = sample::time(header.kind == SAMPLE, &body, layout);
                let time = time.ok_or(StacksError::Record { kind: header.kind, offset })?;
                places.push(Place { time, offset });
            }
            _ => {}
        }
        offset += size;
    }
    places.sort_unstable();
    Ok(places)
}

/// The record at a place found by [`in_order`].
pub(super) fn read<'a>(file: &PerfFile, place: Place, body: &'a mut Vec<u8>) -> Result<Record<'a>, StacksError> {
    let mut bytes = [0; HEADER_BYTES];
    file.read_at(&mut bytes, place.offset)?;
    let Header { kind, flags, body_bytes } = header(bytes, place.offset)?;
    body.resize(body_bytes, 0);
    file.read_at(body, place.offset + HEADER_BYTES as u64)?;
    Ok(Record { kind, flags, body })
}

fn header(bytes: [u8; HEADER_BYTES], offset: u64) -> Result<Header, StacksError> {
    let mut bytes = Bytes(&bytes);
    let (Some(kind), Some(flags), Some(size)) = (bytes.u32(), bytes.u16(), bytes.u16()) else {
        return Err(StacksError::Broken("the header of a record"));
    };
    let body_bytes = usize::from(size).checked_sub(HEADER_BYTES);
    Ok(Header { kind, flags, body_bytes: body_bytes.ok_or(StacksError::Record { kind, offset })? })
}
