//! A program or library as a file.

use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use gimli::SectionId;
use object::elf::PF_X;
use object::{Object, ObjectSection, ObjectSegment, SegmentFlags};

use crate::elf::{self, BinaryError};

/// An ELF file with what addresses need.
pub(super) struct Image {
    pub(super) bytes: Vec<u8>,
    segments: Vec<Segment>,
    pub(super) unwinding: Unwinding,
}

/// Code: where it is in the file, and the address that it was linked for.
struct Segment {
    offset: u64,
    size: u64,
    address: u64,
}

/// The sections that say how to get from a function to its caller.
#[derive(Clone, Default)]
pub(super) struct Unwinding {
    pub(super) eh_frame: Option<Placed>,
    pub(super) eh_frame_hdr: Option<Placed>,
    pub(super) debug_frame: Option<Placed>,
    pub(super) text_address: u64,
    pub(super) got_address: u64,
}

/// A section's bytes and the address that it was linked for.
#[derive(Clone)]
pub(super) struct Placed {
    pub(super) bytes: Arc<[u8]>,
    pub(super) address: u64,
}

impl Image {
    pub(super) fn parse(bytes: Vec<u8>) -> Result<Self, BinaryError> {
        let file = object::File::parse(&*bytes)?;
        let has_code = |flags| matches!(flags, SegmentFlags::Elf { p_flags, .. } if p_flags.contains(PF_X));
        let segments = (file.segments())
            .filter(|segment| has_code(segment.flags()))
            .map(|segment| {
                let (offset, size) = segment.file_range();
                Segment { offset, size, address: segment.address() }
            })
            .collect();
        let unwinding = unwinding(&file)?;
        Ok(Self { bytes, segments, unwinding })
    }

    /// The address that the code at this place of the file was linked for.
    pub(super) fn address(&self, offset: u64) -> Option<u64> {
        let segment = self.segments.iter().find(|segment| {
            offset.checked_sub(segment.offset).is_some_and(|into_segment| into_segment < segment.size)
        })?;
        segment.address.checked_add(offset - segment.offset)
    }

    /// What to take off addresses of a mapping to get those that its code was linked for.
    pub(super) fn bias(&self, start: u64, end: u64, offset: u64) -> Option<u64> {
        let length = end.checked_sub(start)?;
        let overlaps = |segment: &&Segment| {
            segment.offset < offset.saturating_add(length) && offset < segment.offset.saturating_add(segment.size)
        };
        let segment = self.segments.iter().find(overlaps)?;
        start.checked_add(segment.offset)?.checked_sub(offset)?.checked_sub(segment.address)
    }

    pub(super) fn build_id(&self) -> Option<Vec<u8>> {
        let file = object::File::parse(&*self.bytes).ok()?;
        file.build_id().ok()?.map(<[u8]>::to_vec)
    }
}

fn unwinding(file: &object::File<'_>) -> Result<Unwinding, BinaryError> {
    let address = |name: &str| file.section_by_name(name).map_or(0, |section| section.address());
    let placed = |id: SectionId| -> Result<Option<Placed>, BinaryError> {
        let bytes = elf::section(file, id)?;
        Ok((!bytes.is_empty()).then(|| Placed { bytes: Arc::from(&*bytes), address: address(id.name()) }))
    };
    Ok(Unwinding {
        eh_frame: placed(SectionId::EhFrame)?,
        eh_frame_hdr: placed(SectionId::EhFrameHdr)?,
        debug_frame: placed(SectionId::DebugFrame)?,
        text_address: address(".text"),
        got_address: address(".got"),
    })
}

/// The bytes of a regular file of at most `limit` bytes. The path comes from a program under test: it may name a device,
/// a pipe or a file without end, none of which may be opened or waited for.
pub(super) fn read_regular(path: &Path, limit: u64) -> Option<Vec<u8>> {
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let file: File = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path).ok()?;
    let metadata = file.metadata().ok()?;
    // Files below /proc state 0.
    if !metadata.is_file() || metadata.len() == 0 || metadata.len() > limit {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(metadata.len()).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
