//! The build ids that perf noted down: they tell whether a file is still the one that ran.

use std::collections::HashMap;

use super::bytes::Bytes;

/// Bytes of `build_id_event` before the path, without the header.
const ID_BYTES: usize = 20;
/// `PERF_RECORD_MISC_BUILD_ID_SIZE`: the byte behind the id says how long it is.
const HAS_SIZE: u16 = 1 << 15;

/// By path. What is broken at the end is left out: nothing depends on the list but a check.
pub(super) fn parse(section: &[u8]) -> HashMap<String, Vec<u8>> {
    let mut bytes = Bytes(section);
    let mut found = HashMap::new();
    while let Some((path, id)) = next(&mut bytes) {
        found.insert(path, id);
    }
    found
}

fn next(bytes: &mut Bytes<'_>) -> Option<(String, Vec<u8>)> {
    let (_kind, flags, size) = (bytes.u32()?, bytes.u16()?, bytes.u16()?);
    let mut body = Bytes(bytes.take(usize::from(size).checked_sub(8)?)?);
    body.i32()?;
    let id = body.take(ID_BYTES)?;
    let stated = usize::from(*body.take(4)?.first()?);
    let length = if flags & HAS_SIZE != 0 { stated.min(ID_BYTES) } else { ID_BYTES };
    Some((body.text(), id[..length].to_vec()))
}
