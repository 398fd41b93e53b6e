//! The programs and libraries that code was mapped from: which they are, and what of them addresses need.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use gimli::{BaseAddresses, EhFrameHdr, LittleEndian, SectionId};
use object::elf::PF_X;
use object::{Object, ObjectSection, ObjectSegment, SegmentFlags};

use crate::elf::{self, BinaryError};

/// Index into the images.
pub(super) type ImageId = usize;

/// All images together; a server can map any number of large files.
const LIMIT_BYTES: u64 = 2 << 30;
/// As the kernel calls memory without a file, such as that of code made at run time.
const ANONYMOUS: &str = "//anon";
const RUNNING_KERNEL: &str = "/proc/sys/kernel/osrelease";
/// The library that the kernel maps into every process, and that lies in no file.
const VDSO: &str = "[vdso]";
/// It is a few pages.
const VDSO_LIMIT_BYTES: u64 = 1 << 20;

pub(super) struct Images {
    ids: HashMap<String, ImageId>,
    known: Vec<Known>,
    build_ids: HashMap<String, Vec<u8>>,
    /// Whether the samples were taken under the kernel that runs now.
    same_kernel: bool,
    bytes_left: u64,
}

struct Known {
    path: String,
    file: FileState,
}

/// A file is read when it is first needed.
enum FileState {
    NotTried,
    Unreadable,
    Read(Box<Image>),
}

impl Images {
    /// Of a recording with these build ids by path, made under this release of the kernel.
    pub(super) fn new(build_ids: HashMap<String, Vec<u8>>, kernel_release: &str) -> Self {
        let running = fs::read_to_string(RUNNING_KERNEL).unwrap_or_default();
        Self {
            ids: HashMap::new(),
            known: Vec::new(),
            build_ids,
            same_kernel: !kernel_release.is_empty() && kernel_release == running.trim_end(),
            bytes_left: LIMIT_BYTES,
        }
    }

    pub(super) fn id(&mut self, path: &str) -> ImageId {
        if let Some(known) = self.ids.get(path) {
            return *known;
        }
        self.ids.insert(path.to_owned(), self.known.len());
        self.known.push(Known { path: path.to_owned(), file: FileState::NotTried });
        self.known.len() - 1
    }

    /// Base name of the path; a name in brackets for code that is in no file.
    pub(super) fn name(&self, id: ImageId) -> &str {
        let path = &*self.known[id].path;
        if path == ANONYMOUS { "[anon]" } else { path.rsplit('/').next().unwrap_or(path) }
    }

    /// None when the file cannot be read, or is not the one that ran.
    pub(super) fn get(&mut self, id: ImageId) -> Option<&Image> {
        if matches!(self.known[id].file, FileState::NotTried) {
            let image = self.read(&self.known[id].path);
            let bytes = image.as_ref().map_or(0, |image| image.bytes.len() as u64);
            self.bytes_left = self.bytes_left.saturating_sub(bytes);
            self.known[id].file = image.map_or(FileState::Unreadable, |image| FileState::Read(Box::new(image)));
        }
        match &self.known[id].file {
            FileState::Read(image) => Some(image),
            _ => None,
        }
    }

    fn read(&self, path: &str) -> Option<Image> {
        let bytes = match path {
            VDSO if self.same_kernel => read_vdso().ok()?,
            path if path.starts_with('/') => read_limited(Path::new(path), self.bytes_left)?,
            _ => return None,
        };
        let image = Image::parse(bytes).ok()?;
        let recorded = self.build_ids.get(path);
        let is_other = |recorded: &Vec<u8>| image.build_id().is_some_and(|found| !alike(recorded, &found));
        if recorded.is_some_and(is_other) { None } else { Some(image) }
    }
}

/// Old versions of perf do not record how long an id is and fill it up with zeros.
fn alike(recorded: &[u8], found: &[u8]) -> bool {
    let common = recorded.len().min(found.len());
    recorded[..common] == found[..common] && recorded[common..].iter().all(|byte| *byte == 0)
}

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

/// The sections that describe how to get from a function to its caller.
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
    // The registers of a program of 32 bits are others.
    if !file.is_64() {
        return Ok(Unwinding::default());
    }
    let address = |name: &str| file.section_by_name(name).map_or(0, |section| section.address());
    let placed = |id: SectionId| -> Result<Option<Placed>, BinaryError> {
        let bytes = elf::section(file, id)?;
        Ok((!bytes.is_empty()).then(|| Placed { bytes: Arc::from(&*bytes), address: address(id.name()) }))
    };
    let mut unwinding = Unwinding {
        eh_frame: placed(SectionId::EhFrame)?,
        eh_frame_hdr: placed(SectionId::EhFrameHdr)?,
        debug_frame: placed(SectionId::DebugFrame)?,
        text_address: address(".text"),
        got_address: address(".got"),
    };
    // Without the table one is made of what it is a table of.
    unwinding.eh_frame_hdr = unwinding.eh_frame_hdr.take().filter(|table| is_sound(table, &unwinding).unwrap_or(false));
    Ok(unwinding)
}

/// Whether all entries of the table lie in `.eh_frame`: the unwinder subtracts its start from them without a look.
fn is_sound(table: &Placed, unwinding: &Unwinding) -> Result<bool, gimli::Error> {
    const ADDRESS_BYTES: u8 = 8;
    let bases = BaseAddresses::default()
        .set_eh_frame_hdr(table.address)
        .set_text(unwinding.text_address)
        .set_got(unwinding.got_address);
    let header = EhFrameHdr::new(&table.bytes, LittleEndian).parse(&bases, ADDRESS_BYTES)?;
    let start = header.eh_frame_ptr().direct()?;
    let Some(entries) = header.table() else { return Ok(true) };
    let mut entries = entries.iter(&bases);
    while let Some((_, entry)) = entries.next()? {
        if entry.direct()? < start {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The bytes of a regular file of at most `limit` bytes; none when it cannot be read.
pub(super) fn read_limited(path: &Path, limit: u64) -> Option<Vec<u8>> {
    // Files below /proc state 0.
    let length = fs::metadata(path).ok()?.len();
    (0 < length && length <= limit).then(|| elf::read(path).ok())?
}

/// This process's own, which is that of all processes under this kernel.
fn read_vdso() -> io::Result<Vec<u8>> {
    let mappings = std::fs::read_to_string("/proc/self/maps")?;
    let (start, end) = mappings.lines().find_map(vdso_range).ok_or(io::ErrorKind::NotFound)?;
    let mut bytes = vec![0; usize::try_from(end - start).map_err(io::Error::other)?];
    File::open("/proc/self/mem")?.read_exact_at(&mut bytes, start)?;
    Ok(bytes)
}

/// Of a line such as `7ffd9b3fe000-7ffd9b400000 r-xp 00000000 00:00 0   [vdso]`.
fn vdso_range(line: &str) -> Option<(u64, u64)> {
    let (start, end) = line.strip_suffix(VDSO)?.split_whitespace().next()?.split_once('-')?;
    let (start, end) = (u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
    (start < end && end - start <= VDSO_LIMIT_BYTES).then_some((start, end))
}
