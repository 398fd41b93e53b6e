//! Debug information that a distribution keeps in a file of its own.

use std::fmt::Write as _;
use std::path::PathBuf;

use object::Object;

use crate::perf::image;

/// Where Debian, Fedora and their relatives put it, by build id.
const DIRECTORY: &str = "/usr/lib/debug/.build-id";
const LIMIT_BYTES: u64 = 1 << 30;

/// The file that belongs to this one; none when it is not installed.
pub(super) fn read(file: &object::File<'_>) -> Option<Vec<u8>> {
    let id = file.build_id().ok()??;
    let (first, rest) = id.split_first()?;
    let name = rest.iter().fold(String::new(), |mut name, byte| {
        // Writing to a String does not fail.
        let _ = write!(name, "{byte:02x}");
        name
    });
    let path: PathBuf = [DIRECTORY, &format!("{first:02x}"), &format!("{name}.debug")].iter().collect();
    let bytes = image::read_regular(&path, LIMIT_BYTES)?;
    let found = object::File::parse(&*bytes).ok()?;
    (found.build_id().ok()? == Some(id)).then_some(())?;
    Some(bytes)
}
