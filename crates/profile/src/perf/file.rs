//! The file's header, and its sections.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::bytes::Bytes;
use super::error::StacksError;

const MAGIC: &[u8; 8] = b"PERFILE2";
/// The same, written by a machine of the other byte order.
const MAGIC_SWAPPED: &[u8; 8] = b"2ELIFREP";
/// `struct perf_file_header`.
const HEADER_BYTES: usize = 104;
/// `struct perf_pipe_file_header`, which perf writes to a pipe in the header's place.
const PIPE_HEADER_BYTES: u64 = 16;
/// `HEADER_FEAT_BITS`.
const FEATURES: u32 = 256;
const FEATURE_BUILD_ID: u32 = 2;
const FEATURE_OSRELEASE: u32 = 4;
const FEATURE_ARCH: u32 = 6;
/// Attributes and features are small; a section that states more is not read into memory.
const SECTION_LIMIT_BYTES: u64 = 16 << 20;

/// A part of the file, known to lie in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Section {
    pub(super) offset: u64,
    pub(super) size: u64,
}

pub(super) struct PerfFile {
    file: File,
    /// Bytes of one entry of the attributes.
    pub(super) attribute_size: u64,
    pub(super) attributes: Section,
    /// The records.
    pub(super) data: Section,
    /// Sections by the bit of their feature.
    features: Vec<(u32, Section)>,
}

impl PerfFile {
    pub(super) fn open(path: &Path) -> Result<Self, StacksError> {
        let mut file = File::open(path)?;
        let mut header = Vec::with_capacity(HEADER_BYTES);
        file.by_ref().take(HEADER_BYTES as u64).read_to_end(&mut header)?;
        let length = file.metadata()?.len();
        match header.get(..MAGIC.len()) {
            Some(magic) if magic == MAGIC => {}
            Some(magic) if magic == MAGIC_SWAPPED => return Err(StacksError::Unsupported("the other byte order")),
            _ => return Err(StacksError::NotPerfData),
        }
        let mut bytes = Bytes(&header[MAGIC.len()..]);
        if bytes.u64() == Some(PIPE_HEADER_BYTES) {
            return Err(StacksError::Unsupported("the form for pipes"));
        }
        let short = || StacksError::CutShort { part: "the header", end: HEADER_BYTES as u64, length };
        let attribute_size = bytes.u64().ok_or_else(short)?;
        let attributes = section(&mut bytes).ok_or_else(short)?.within(length, "the list of events")?;
        let data = section(&mut bytes).ok_or_else(short)?;
        section(&mut bytes).ok_or_else(short)?;
        let flags: Vec<u64> = (0..FEATURES / u64::BITS).map_while(|_| bytes.u64()).collect();
        if data.size == 0 {
            return Err(StacksError::Unfinished);
        }
        let data = data.within(length, "the records")?;
        let mut perf_file = Self { file, attribute_size, attributes, data, features: Vec::new() };
        perf_file.features = perf_file.feature_sections(&flags, length)?;
        Ok(perf_file)
    }

    /// Right behind the records lie the places of the features that the header has flags of.
    fn feature_sections(&self, flags: &[u64], length: u64) -> Result<Vec<(u32, Section)>, StacksError> {
        let flag =
            |bit: &u32| flags.get((bit / u64::BITS) as usize).is_some_and(|word| word >> (bit % u64::BITS) & 1 == 1);
        let present: Vec<u32> = (0..FEATURES).filter(flag).collect();
        let table = Section { offset: self.data.offset + self.data.size, size: 16 * present.len() as u64 };
        let table = self.bytes(table.within(length, "the list of features")?)?;
        let mut bytes = Bytes(&table);
        present
            .into_iter()
            .map(|bit| {
                let place = section(&mut bytes).ok_or(StacksError::Broken("the list of features"))?;
                Ok((bit, place.within(length, "a feature")?))
            })
            .collect()
    }

    /// The whole of a section other than the records.
    pub(super) fn bytes(&self, section: Section) -> Result<Vec<u8>, StacksError> {
        if section.size > SECTION_LIMIT_BYTES {
            return Err(StacksError::Broken("a section that is too large"));
        }
        let mut bytes = vec![0; usize::try_from(section.size).map_err(io::Error::other)?];
        self.file.read_exact_at(&mut bytes, section.offset)?;
        Ok(bytes)
    }

    pub(super) fn read_at(&self, bytes: &mut [u8], offset: u64) -> Result<(), StacksError> {
        Ok(self.file.read_exact_at(bytes, offset)?)
    }

    /// A reader from the first record on.
    pub(super) fn records(&self) -> Result<impl Read, StacksError> {
        use std::io::{BufReader, Seek, SeekFrom};

        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(self.data.offset))?;
        Ok(BufReader::with_capacity(1 << 18, file.take(self.data.size)))
    }

    /// The build ids that perf found in the files it had samples of.
    pub(super) fn build_ids(&self) -> Result<Vec<u8>, StacksError> {
        self.feature(FEATURE_BUILD_ID)
    }

    /// Release of the kernel, as `uname -r` says it; empty when unknown.
    pub(super) fn kernel_release(&self) -> Result<String, StacksError> {
        self.feature_text(FEATURE_OSRELEASE)
    }

    /// Architecture of the machine, as `uname -m` says it; empty when unknown.
    pub(super) fn architecture(&self) -> Result<String, StacksError> {
        self.feature_text(FEATURE_ARCH)
    }

    fn feature(&self, wanted: u32) -> Result<Vec<u8>, StacksError> {
        let section = self.features.iter().find(|(bit, _)| *bit == wanted);
        section.map_or_else(|| Ok(Vec::new()), |(_, section)| self.bytes(*section))
    }

    /// `struct perf_header_string`: a length, and text that zero bytes may follow.
    fn feature_text(&self, wanted: u32) -> Result<String, StacksError> {
        let section = self.feature(wanted)?;
        Ok(Bytes(section.get(4..).unwrap_or_default()).text())
    }
}

/// `struct perf_file_section`.
pub(super) fn section(bytes: &mut Bytes<'_>) -> Option<Section> {
    Some(Section { offset: bytes.u64()?, size: bytes.u64()? })
}

impl Section {
    fn within(self, length: u64, part: &'static str) -> Result<Self, StacksError> {
        let end = self.offset.checked_add(self.size).ok_or(StacksError::Broken(part))?;
        if end <= length { Ok(self) } else { Err(StacksError::CutShort { part, end, length }) }
    }
}
