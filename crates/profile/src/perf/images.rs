//! The programs and libraries that code was mapped from.

use std::collections::HashMap;
use std::path::Path;

use super::build_ids;
use super::error::StacksError;
use super::file::PerfFile;
use super::image::{self, Image};
use super::vdso;

/// Index into the images.
pub(super) type ImageId = usize;

/// All images together; a server can map any number of large files.
const LIMIT_BYTES: u64 = 2 << 30;
/// As the kernel calls memory without a file, such as that of code made at run time.
const ANONYMOUS: &str = "//anon";
const RUNNING_KERNEL: &str = "/proc/sys/kernel/osrelease";

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
    pub(super) fn of(file: &PerfFile) -> Result<Self, StacksError> {
        let running = std::fs::read_to_string(RUNNING_KERNEL).unwrap_or_default();
        let recorded = file.kernel_release()?;
        Ok(Self {
            ids: HashMap::new(),
            known: Vec::new(),
            build_ids: build_ids::parse(&file.build_ids()?),
            same_kernel: !recorded.is_empty() && recorded == running.trim_end(),
            bytes_left: LIMIT_BYTES,
        })
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
            vdso::NAME if self.same_kernel => vdso::read().ok()?,
            path if path.starts_with('/') => image::read_regular(Path::new(path), self.bytes_left)?,
            _ => return None,
        };
        let image = Image::parse(bytes).ok()?;
        let recorded = self.build_ids.get(path);
        let is_other = |recorded: &Vec<u8>| image.build_id().is_some_and(|found| !alike(recorded, &found));
        if recorded.is_some_and(is_other) { None } else { Some(image) }
    }
}

/// Old versions of perf do not say how long an id is and fill it up with zeros.
fn alike(recorded: &[u8], found: &[u8]) -> bool {
    let common = recorded.len().min(found.len());
    recorded[..common] == found[..common] && recorded[common..].iter().all(|byte| *byte == 0)
}
