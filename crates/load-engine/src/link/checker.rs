//! Compares values that are read with what was written, if anything was.

use zerolap_resp::ReplyKind;

use zerolap_load_measure::Request;
use zerolap_load_requests::Settings;
use zerolap_load_requests::{Command, MadeValues};

/// Bytes of the end of a line.
const LINE_END: &[u8] = b"\r\n";

/// The checker of one connection.
#[derive(Debug)]
pub(super) struct Checker {
    /// For each command whether its replies are values of its keys.
    is_checked: Vec<bool>,
    values: MadeValues,
    /// The beginning of a reply whose end was not read yet.
    begun: Vec<u8>,
}

impl Checker {
    /// A checker, if these settings ask for one.
    pub(super) fn new(settings: &Settings) -> Option<Box<Self>> {
        let is_checked = || settings.commands.iter().map(Command::reads_one_value).collect();
        settings
            .verify
            .then(|| Box::new(Self { is_checked: is_checked(), values: MadeValues::new(settings), begun: Vec::new() }))
    }

    /// Whether a reply, which ends with `piece`, is the value that belongs to its request, whose bytes are `sent`; none
    /// if there is nothing to compare.
    pub(super) fn check(
        &mut self,
        request: &Request,
        sent: Option<&[u8]>,
        kind: ReplyKind,
        piece: &[u8],
    ) -> Option<bool> {
        let reply = if self.begun.is_empty() {
            piece
        } else {
            self.begun.extend_from_slice(piece);
            &self.begun
        };
        let is_checked = self.is_checked.get(request.command as usize).is_some_and(|&is_checked| is_checked);
        let is_value = is_checked && !request.is_asking && kind == ReplyKind::Bulk;
        let pair = if is_value { sent.and_then(key).zip(body(reply)) } else { None };
        let is_match = pair.map(|(key, body)| self.values.of(key) == body);
        self.begun.clear();
        is_match
    }

    /// Takes the next piece of a reply that has not ended.
    pub(super) fn keep(&mut self, piece: &[u8]) {
        self.begun.extend_from_slice(piece);
    }

    /// Drops what was kept: it belonged to no request, or the connection is gone.
    pub(super) fn forget(&mut self) {
        self.begun.clear();
    }
}

/// The second of two arguments.
fn key(request: &[u8]) -> Option<&[u8]> {
    // Before it stand the number of arguments, the length of the first one, that one, and the key's length.
    (0..4).try_fold(request, |rest, _| after_line(rest))?.strip_suffix(LINE_END)
}

/// What is between the header of a bulk string and its end.
fn body(reply: &[u8]) -> Option<&[u8]> {
    after_line(reply.strip_prefix(b"$")?)?.strip_suffix(LINE_END)
}

fn after_line(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.windows(LINE_END.len()).position(|pair| pair == LINE_END)?;
    bytes.get(end + LINE_END.len()..)
}

#[cfg(test)]
mod tests {
    use super::{body, key};

    #[test]
    fn line_ends_within_keys_and_values_are_theirs() {
        assert_eq!(key(b"*2\r\n$3\r\nGET\r\n$6\r\n\r\na\r\nb\r\n"), Some(&b"\r\na\r\nb"[..]));
        assert_eq!(body(b"$4\r\n\r\n\r\n\r\n"), Some(&b"\r\n\r\n"[..]));
        assert_eq!(body(b"$0\r\n\r\n"), Some(&b""[..]));
        assert_eq!((key(b"*1\r\n$4\r\nPING\r\n"), body(b"+OK\r\n")), (None, None));
    }
}
