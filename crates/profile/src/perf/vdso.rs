//! The library that the kernel maps into every process, and that lies in no file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// As the kernel calls it in mappings.
pub(super) const NAME: &str = "[vdso]";
/// It is a few pages.
const LIMIT_BYTES: u64 = 1 << 20;

/// This process's own, which is that of all processes under this kernel.
pub(super) fn read() -> io::Result<Vec<u8>> {
    let mappings = std::fs::read_to_string("/proc/self/maps")?;
    let (start, end) = mappings.lines().find_map(range).ok_or(io::ErrorKind::NotFound)?;
    let mut bytes = vec![0; usize::try_from(end - start).map_err(io::Error::other)?];
    File::open("/proc/self/mem")?.read_exact_at(&mut bytes, start)?;
    Ok(bytes)
}

/// Of a line such as `7ffd9b3fe000-7ffd9b400000 r-xp 00000000 00:00 0   [vdso]`.
fn range(line: &str) -> Option<(u64, u64)> {
    let (start, end) = line.strip_suffix(NAME)?.split_whitespace().next()?.split_once('-')?;
    let (start, end) = (u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
    (start < end && end - start <= LIMIT_BYTES).then_some((start, end))
}
