//! Compares values that are read with what was written, if anything was.

use zerolap_resp::ReplyKind;

use zerolap_load_measure::Request;
use zerolap_load_requests::{Command, DataSizes, MadeValues, Settings};

/// Bytes of the end of a line.
const LINE_END: &[u8] = b"\r\n";
/// Most bytes of a bulk string that are not its body: a marker, the digits of a length, two ends of lines.
const FRAME_BYTES: usize = 25;

/// The checker of one connection.
#[derive(Debug)]
pub(super) struct Checker {
    /// For each command whether its replies are values of its keys.
    is_checked: Vec<bool>,
    values: MadeValues,
    /// Most bytes that a reply with the right value has.
    longest: usize,
    /// The beginning of a reply whose end was not read yet; of a reply that is too long, or that is not checked, not all
    /// that was read.
    begun: Vec<u8>,
    /// Whether `begun` lacks something.
    is_cut: bool,
}

impl Checker {
    /// A checker, if these settings ask for one.
    pub(super) fn new(settings: &Settings) -> Option<Box<Self>> {
        let is_checked = settings.commands.iter().map(Command::reads_one_value);
        settings.verify.then(|| Box::new(Self::of(is_checked.collect(), &settings.data.sizes)))
    }

    fn of(is_checked: Vec<bool>, sizes: &DataSizes) -> Self {
        let longest = sizes.maximum().saturating_add(FRAME_BYTES);
        Self { is_checked, values: MadeValues::new(sizes), longest, begun: Vec::new(), is_cut: false }
    }

    fn is_checked(&self, request: &Request) -> bool {
        !request.is_preparation && self.is_checked.get(request.command as usize).is_some_and(|&is_checked| is_checked)
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
        let is_match = if !self.is_checked(request) || kind != ReplyKind::Bulk {
            None
        } else if self.begun.is_empty() && !self.is_cut {
            self.compare(sent, piece)
        } else {
            self.keep(Some(request), piece);
            let reply = std::mem::take(&mut self.begun);
            if self.is_cut { reply.starts_with(b"$").then_some(false) } else { self.compare(sent, &reply) }
        };
        self.forget();
        is_match
    }

    /// Whether a whole reply is the value of the key in the request.
    fn compare(&mut self, sent: Option<&[u8]>, reply: &[u8]) -> Option<bool> {
        let (key, body) = sent.and_then(key).zip(body(reply))?;
        Some(self.values.of(key) == body)
    }

    /// Takes the next piece of a reply that has not ended; `request` is the oldest one without a reply. Only what may be
    /// the right value is kept, so that no server can make it grow.
    pub(super) fn keep(&mut self, request: Option<&Request>, piece: &[u8]) {
        let is_checked = request.is_some_and(|request| self.is_checked(request));
        let room = if is_checked && !self.is_cut { self.longest - self.begun.len() } else { 0 };
        self.is_cut |= piece.len() > room;
        self.begun.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    /// Drops what was kept: it belonged to no request, or the connection is gone.
    pub(super) fn forget(&mut self) {
        self.begun.clear();
        self.is_cut = false;
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
    use zerolap_load_measure::Request;
    use zerolap_load_requests::DataSizes;
    use zerolap_resp::ReplyKind;

    use super::{Checker, FRAME_BYTES, body, key};

    const VALUE_BYTES: usize = 100;
    const SENT: &[u8] = b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n";

    /// Of two commands, of which the first is checked.
    fn checker() -> Checker {
        Checker::of(vec![true, false], &DataSizes::Fixed(VALUE_BYTES))
    }

    /// Has the request's reply arrive in pieces; returns what is concluded, and the most bytes that were kept of it.
    fn arrive(checker: &mut Checker, request: &Request, pieces: &[&[u8]]) -> (Option<bool>, usize) {
        let (last, pieces) = pieces.split_last().expect("a piece");
        for piece in pieces {
            checker.keep(Some(request), piece);
        }
        let kept = checker.begun.capacity();
        (checker.check(request, Some(SENT), ReplyKind::Bulk, last), kept)
    }

    #[test]
    fn no_more_is_kept_than_a_right_value_has() {
        let mut checker = checker();
        let value = checker.values.of(b"a").to_vec();
        let right = [b"$100\r\n", value.as_slice(), b"\r\n"].concat();
        let body = vec![b'x'; 1 << 20];
        let long: Vec<&[u8]> = [b"$104857600\r\n".as_slice()].into_iter().chain([body.as_slice(); 100]).collect();
        let get = Request::default();
        for _ in 0..2 {
            let (is_match, kept) = arrive(&mut checker, &get, &[&long[..], &[b"\r\n"]].concat());
            assert_eq!(is_match, Some(false));
            assert!(kept <= 2 * (VALUE_BYTES + FRAME_BYTES), "{kept}");
            let pieces: Vec<&[u8]> = right.chunks(1).collect();
            assert_eq!(arrive(&mut checker, &get, &pieces).0, Some(true), "the next reply is another one");
        }
    }

    #[test]
    fn replies_that_are_not_checked_are_not_kept() {
        for request in
            [Request { command: 1, ..Request::default() }, Request { is_preparation: true, ..Request::default() }]
        {
            let mut checker = checker();
            assert_eq!(arrive(&mut checker, &request, &[b"$9\r\n12345", b"6789\r\n"]), (None, 0));
        }
        let mut checker = checker();
        checker.keep(None, b">2\r\n+invalidate\r\n");
        assert_eq!(checker.begun.capacity(), 0);
    }

    #[test]
    fn line_ends_within_keys_and_values_are_theirs() {
        assert_eq!(key(b"*2\r\n$3\r\nGET\r\n$6\r\n\r\na\r\nb\r\n"), Some(&b"\r\na\r\nb"[..]));
        assert_eq!(body(b"$4\r\n\r\n\r\n\r\n"), Some(&b"\r\n\r\n"[..]));
        assert_eq!(body(b"$0\r\n\r\n"), Some(&b""[..]));
        assert_eq!((key(b"*1\r\n$4\r\nPING\r\n"), body(b"+OK\r\n")), (None, None));
    }
}
