//! Requests as bytes: RESP2 arrays of bulk strings.

use std::ops::Range;

/// A complete request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// Where its first word is.
    pub(crate) name: Range<usize>,
    /// Where the next request begins.
    pub(crate) end: usize,
}

/// These bytes are no request.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {marker:?} and a number of at most 9 digits in a request")]
pub(crate) struct MalformedRequest {
    marker: char,
}

/// A number's digits and the end of its line: more are no beginning of a line.
const LONGEST_NUMBER: usize = 9 + 2;

/// The request that begins at `start`; none where the rest of it has not arrived.
///
/// # Errors
/// When what has arrived is no request.
pub(crate) fn parse_request(bytes: &[u8], start: usize) -> Result<Option<Request>, MalformedRequest> {
    let Some((words, mut end)) = parse_header(bytes, start, b'*')? else { return Ok(None) };
    let mut name = end..end;
    for index in 0..words {
        let Some((length, word)) = parse_header(bytes, end, b'$')? else { return Ok(None) };
        if index == 0 {
            name = word..word + length;
        }
        end = word + length + 2;
    }
    Ok((end <= bytes.len()).then_some(Request { name, end }))
}

/// The number in the line that begins at `start` with `marker`, and where the next line begins.
fn parse_header(bytes: &[u8], start: usize, marker: u8) -> Result<Option<(usize, usize)>, MalformedRequest> {
    let malformed = MalformedRequest { marker: char::from(marker) };
    let Some((&first, line)) = bytes.get(start..).and_then(<[u8]>::split_first) else { return Ok(None) };
    if first != marker {
        return Err(malformed);
    }
    let mut number = 0;
    for (index, &byte) in line.iter().take(LONGEST_NUMBER).enumerate() {
        match byte {
            b'0'..=b'9' if index < LONGEST_NUMBER - 2 => number = 10 * number + usize::from(byte - b'0'),
            b'\r' if index > 0 => return Ok(Some((number, start + 1 + index + 2))),
            _ => return Err(malformed),
        }
    }
    Ok(None)
}
