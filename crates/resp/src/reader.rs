//! The incremental reader.

use crate::leaves::Leaves;
use crate::reply::{MalformedReply, Reply, ReplyKind};

/// Longer error texts are cut.
const TEXT_CAPACITY: usize = 192;
/// Longer error codes are cut. The longest of Redis 7 has 11 bytes.
const CODE_CAPACITY: usize = 64;
/// Longer first elements are not kept. No 64-bit number is longer.
const FIRST_CAPACITY: usize = 20;
/// One more byte than the statuses that stand for something else than themselves.
const STATUS_CAPACITY: usize = 7;

/// Reads replies from bytes that arrive in pieces of any size, without allocation.
///
/// Bodies are skipped by their length. After an error the place in the stream is lost: drop the reader.
#[derive(Debug, Clone)]
pub struct ReplyReader {
    state: State,
    nesting: Nesting,
    /// Kind and elements of the top-level reply that is being read.
    kind: ReplyKind,
    elements: u64,
    /// Of what was read of it, but for its first element once that is complete.
    leaves: Leaves,
    leaves_of_first: Leaves,
    /// Errors within the top-level reply that is being read.
    error_elements: u64,
    error: Kept<TEXT_CAPACITY>,
    first: Kept<FIRST_CAPACITY>,
    status: Kept<STATUS_CAPACITY>,
}

impl Default for ReplyReader {
    fn default() -> Self {
        Self::new()
    }
}

impl ReplyReader {
    /// A reader at the start of a stream.
    #[must_use]
    pub const fn new() -> Self {
        let (kind, nesting) = (ReplyKind::Nil, Nesting::new());
        Self {
            state: State::Marker,
            nesting,
            kind,
            elements: 0,
            leaves: Leaves::NONE,
            leaves_of_first: Leaves::NONE,
            error_elements: 0,
            error: Kept::new(),
            first: Kept::new(),
            status: Kept::new(),
        }
    }

    /// Takes bytes off the front of `input` up to the end of the next top-level reply, and returns that reply; none
    /// when the input ends first. Push frames are returned too, see [`Reply::is_answer`].
    ///
    /// # Errors
    /// When the bytes are no reply.
    #[inline]
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<Reply<'_>>, MalformedReply> {
        if matches!(self.state, State::Marker)
            && self.nesting.is_empty()
            && let Some(Whole { kind, length, leaves }) = whole(input)
        {
            *input = &input[length..];
            let (code, text, first) = (b"", b"", b"");
            let leaves_after_first = Leaves::NONE;
            return Ok(Some(Reply {
                kind,
                code,
                text,
                elements: 0,
                first,
                leaves,
                leaves_after_first,
                error_elements: 0,
            }));
        }
        if self.read(input)? { Ok(Some(self.reply())) } else { Ok(None) }
    }

    /// Reads up to the end of a top-level reply, in any state; returns whether it has come.
    // Apart, so that little is left to be done for a whole reply.
    #[inline(never)]
    fn read(&mut self, input: &mut &[u8]) -> Result<bool, MalformedReply> {
        while let Some((&byte, rest)) = input.split_first() {
            let is_complete = match self.state {
                State::Text { rule, seen } => {
                    *input = self.read_text(rule, seen, input)?;
                    false
                }
                State::Body { remaining, kept_as } => {
                    *input = self.skip_body(remaining, kept_as, input);
                    false
                }
                _ => {
                    if self.passes_elements(input) {
                        false
                    } else if let Some(next) = self.whole_element(input) {
                        *input = &input[next.length..];
                        self.add_leaves(next.leaves_within());
                        self.finish_value()
                    } else {
                        *input = rest;
                        self.take_byte(byte)?
                    }
                }
            };
            if is_complete {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes whole elements off the front of `input`, but for the last one of their level; returns whether there were any.
    fn passes_elements(&mut self, input: &mut &[u8]) -> bool {
        if !matches!(self.state, State::Marker) || self.nesting.is_at_first() {
            return false;
        }
        let Some(missing) = self.nesting.missing_in_level() else { return false };
        let (before, mut leaves) = (*missing, Leaves::NONE);
        while *missing > 1
            && let Some(next) = whole(input)
        {
            *input = &input[next.length..];
            leaves |= next.leaves_within();
            *missing -= 1;
        }
        let has_passed = *missing < before;
        self.add_leaves(leaves);
        has_passed
    }

    /// A whole element that comes next, unless it may have to be kept.
    #[inline]
    fn whole_element(&self, input: &[u8]) -> Option<Whole> {
        let is_next = matches!(self.state, State::Marker) && !self.nesting.is_empty() && !self.nesting.is_at_first();
        if is_next { whole(input) } else { None }
    }

    /// The complete reply.
    fn reply(&self) -> Reply<'_> {
        let has_text = self.kind == ReplyKind::Error || self.error_elements > 0;
        let text = if has_text { self.error.as_bytes() } else { b"" };
        let first = if self.kind.is_aggregate() { self.first.as_bytes() } else { b"" };
        let is_status = self.kind == ReplyKind::Status;
        let has_more = self.kind.is_aggregate() && self.nesting.outermost > 1;
        let leaves_after_first = if has_more { self.leaves } else { Leaves::NONE };
        let leaves =
            if is_status { Leaves::status(self.status.as_bytes()) } else { self.leaves | self.leaves_of_first };
        let (kind, elements, error_elements) = (self.kind, self.elements, self.error_elements);
        Reply { kind, code: code(text), text, elements, first, leaves, leaves_after_first, error_elements }
    }

    /// Remembers of what sort a value is. What attributes hold is no part of the reply.
    #[inline]
    fn add_leaves(&mut self, leaves: Leaves) {
        if !self.nesting.is_in_attribute() {
            self.leaves |= leaves;
        }
    }

    /// Takes one byte that stands for itself; returns whether it completes a top-level reply.
    fn take_byte(&mut self, byte: u8) -> Result<bool, MalformedReply> {
        match self.state {
            State::Marker => self.state = self.begin(byte)?,
            State::Number { meaning, number } if byte == b'\r' => {
                let next = self.finish_number(meaning, number.finish()?)?;
                self.state = State::LineFeed(next);
            }
            State::Number { ref mut number, .. } => number.push(byte)?,
            State::LineFeed(next) if byte == b'\n' => return self.follow(next),
            State::BodyReturn if byte == b'\r' => self.state = State::BodyFeed,
            State::BodyFeed if byte == b'\n' => return Ok(self.finish_value()),
            State::BodyReturn | State::BodyFeed => return Err(MalformedReply::UnterminatedBody),
            State::LineFeed(_) | State::Text { .. } | State::Body { .. } => {
                return Err(MalformedReply::UnexpectedByte(byte));
            }
        }
        Ok(false)
    }

    fn finish_value(&mut self) -> bool {
        self.state = State::Marker;
        let is_complete = self.nesting.finish_value();
        if self.nesting.is_at_second() {
            self.leaves_of_first |= std::mem::take(&mut self.leaves);
        }
        is_complete
    }

    /// Takes the text before the next CR, and the CR; returns what is left.
    fn read_text<'input>(
        &mut self,
        rule: TextRule,
        seen: u64,
        input: &'input [u8],
    ) -> Result<&'input [u8], MalformedReply> {
        let end = input.iter().position(|&byte| byte == b'\r');
        let text = &input[..end.unwrap_or(input.len())];
        rule.check(text, seen)?;
        match rule {
            TextRule::Error if self.keeps_error() => self.error.extend(text),
            TextRule::Free if self.nesting.is_empty() => self.status.extend(text),
            TextRule::Boolean => match text {
                [] => {}
                [b'f', ..] => self.add_leaves(Leaves::ZERO),
                _ => self.add_leaves(Leaves::VALUE),
            },
            _ => {}
        }
        let seen = seen.saturating_add(text.len() as u64);
        let Some(end) = end else {
            self.state = State::Text { rule, seen };
            return Ok(&[]);
        };
        rule.finish(seen)?;
        self.state = State::LineFeed(Next::Done);
        Ok(&input[end + 1..])
    }

    /// Passes over body bytes; returns what is left.
    fn skip_body<'input>(&mut self, remaining: u64, kept_as: KeptAs, input: &'input [u8]) -> &'input [u8] {
        let length = usize::try_from(remaining).unwrap_or(usize::MAX).min(input.len());
        let (body, rest) = input.split_at(length);
        match kept_as {
            KeptAs::Nothing => {}
            KeptAs::Error => self.error.extend(body),
            KeptAs::First => self.first.extend(body),
        }
        let remaining = remaining - length as u64;
        self.state = if remaining == 0 { State::BodyReturn } else { State::Body { remaining, kept_as } };
        rest
    }
}

/// The first word of an error's text.
fn code(text: &[u8]) -> &[u8] {
    let start = &text[..text.len().min(CODE_CAPACITY)];
    let end = start.iter().position(|&byte| byte == b' ');
    &start[..end.unwrap_or(start.len())]
}

impl ReplyReader {
    /// What follows a reply's first byte.
    fn begin(&mut self, marker: u8) -> Result<State, MalformedReply> {
        let number = |meaning| Ok(State::Number { meaning, number: Decimal::default() });
        let text = |rule| Ok(State::Text { rule, seen: 0 });
        match marker {
            b'$' => return number(Meaning::BodyLength(ReplyKind::Bulk)),
            b'=' => return number(Meaning::BodyLength(ReplyKind::Verbatim)),
            b'!' => return number(Meaning::BodyLength(ReplyKind::Error)),
            b'*' => return number(Meaning::Elements(ReplyKind::Array)),
            b'%' => return number(Meaning::Elements(ReplyKind::Map)),
            b'~' => return number(Meaning::Elements(ReplyKind::Set)),
            b'>' if self.nesting.is_empty() => return number(Meaning::Elements(ReplyKind::Push)),
            b'>' => return Err(MalformedReply::NestedPush),
            b'|' => return number(Meaning::Attributes),
            _ => {}
        }
        // Of integers and booleans it is known once they are read.
        let (kind, leaves, state) = match marker {
            b'+' => (ReplyKind::Status, Leaves::VALUE, text(TextRule::Free)),
            b'-' => (ReplyKind::Error, Leaves::VALUE, text(TextRule::Error)),
            b':' => (ReplyKind::Integer, Leaves::NONE, number(Meaning::Value)),
            b'_' => (ReplyKind::Nil, Leaves::NIL, text(TextRule::Empty)),
            b'#' => (ReplyKind::Boolean, Leaves::NONE, text(TextRule::Boolean)),
            b',' => (ReplyKind::Double, Leaves::VALUE, text(TextRule::Double)),
            b'(' => (ReplyKind::BigNumber, Leaves::VALUE, text(TextRule::BigNumber)),
            other => return Err(MalformedReply::UnknownMarker(other)),
        };
        self.note(kind, 0);
        self.add_leaves(leaves);
        state
    }

    /// Remembers what the reply is, unless it lies inside another one.
    fn note(&mut self, kind: ReplyKind, elements: u64) {
        if self.nesting.is_empty() {
            self.kind = kind;
            self.elements = elements;
            self.leaves = Leaves::NONE;
            self.leaves_of_first = Leaves::NONE;
            self.error_elements = 0;
            self.error.clear();
            self.first.clear();
            self.status.clear();
        } else if kind == ReplyKind::Error && !self.nesting.is_in_attribute() {
            self.error_elements += 1;
        }
    }

    /// Whether the error that is being read is the reply itself, or the first error in it.
    const fn keeps_error(&self) -> bool {
        self.nesting.is_empty() || (self.error_elements == 1 && !self.nesting.is_in_attribute())
    }

    /// What follows a line that holds this number.
    fn finish_number(&mut self, meaning: Meaning, value: i64) -> Result<Next, MalformedReply> {
        let count = u64::try_from(value);
        match (meaning, count) {
            (Meaning::Value, _) => {
                self.add_leaves(Leaves::integer(value));
                if self.nesting.is_at_first() {
                    self.first.extend(itoa::Buffer::new().format(value).as_bytes());
                }
                Ok(Next::Done)
            }
            (Meaning::BodyLength(kind), Ok(length)) => {
                self.note(kind, 0);
                self.add_leaves(if kind == ReplyKind::Bulk { Leaves::text(length) } else { Leaves::VALUE });
                Ok(Next::Body { length, kept_as: self.kept_as(kind, length) })
            }
            (Meaning::Elements(kind), Ok(count)) => {
                self.note(kind, count);
                let values = if kind == ReplyKind::Map { count.checked_mul(2) } else { Some(count) };
                let count = values.ok_or(MalformedReply::NumberOutOfRange)?;
                Ok(Next::Values { count, is_attribute: false })
            }
            (Meaning::Attributes, Ok(count)) => {
                let count = count.checked_mul(2).ok_or(MalformedReply::NumberOutOfRange)?;
                Ok(Next::Values { count, is_attribute: true })
            }
            (Meaning::BodyLength(ReplyKind::Bulk) | Meaning::Elements(ReplyKind::Array), Err(_)) if value == -1 => {
                self.note(ReplyKind::Nil, 0);
                self.add_leaves(Leaves::NIL);
                Ok(Next::Done)
            }
            (_, Err(_)) => Err(MalformedReply::NegativeLength),
        }
    }

    /// What becomes of a body of this kind and length that comes next.
    fn kept_as(&self, kind: ReplyKind, length: u64) -> KeptAs {
        match kind {
            ReplyKind::Error if self.keeps_error() => KeptAs::Error,
            ReplyKind::Bulk if length <= FIRST_CAPACITY as u64 && self.nesting.is_at_first() => KeptAs::First,
            _ => KeptAs::Nothing,
        }
    }

    /// Goes on after a header line; returns whether it completes a top-level reply.
    fn follow(&mut self, next: Next) -> Result<bool, MalformedReply> {
        self.state = State::Marker;
        match next {
            Next::Body { length: 0, .. } => self.state = State::BodyReturn,
            Next::Body { length, kept_as } => self.state = State::Body { remaining: length, kept_as },
            Next::Values { count: 0, is_attribute: true } => {}
            Next::Done | Next::Values { count: 0, .. } => return Ok(self.finish_value()),
            Next::Values { count, is_attribute } => self.nesting.open(count, is_attribute)?,
        }
        Ok(false)
    }
}

/// What the next byte is part of.
#[derive(Debug, Clone, Copy)]
enum State {
    Marker,
    Number { meaning: Meaning, number: Decimal },
    Text { rule: TextRule, seen: u64 },
    LineFeed(Next),
    Body { remaining: u64, kept_as: KeptAs },
    BodyReturn,
    BodyFeed,
}

/// What a header's number stands for.
#[derive(Debug, Clone, Copy)]
enum Meaning {
    Value,
    BodyLength(ReplyKind),
    Elements(ReplyKind),
    Attributes,
}

/// What follows a header line.
#[derive(Debug, Clone, Copy)]
enum Next {
    Done,
    Body { length: u64, kept_as: KeptAs },
    Values { count: u64, is_attribute: bool },
}

/// What becomes of a body.
#[derive(Debug, Clone, Copy)]
enum KeptAs {
    Nothing,
    Error,
    First,
}

/// Longer numbers are unusual. The end of a body of that length fits `usize` everywhere.
const MAXIMUM_DIGITS: usize = 9;

/// A reply of which nothing else is reported.
#[derive(Debug, Clone, Copy)]
struct Whole {
    kind: ReplyKind,
    /// Its bytes, the end of its last line included.
    length: usize,
    leaves: Leaves,
}

impl Whole {
    /// What it is within another reply, where statuses stand for nothing else.
    const fn leaves_within(self) -> Leaves {
        if matches!(self.kind, ReplyKind::Status) { Leaves::VALUE } else { self.leaves }
    }
}

/// The reply at the start of `input`. None when it is incomplete, faulty, of another kind or in any way unusual: it has
/// to be read byte by byte then, which would give the same result for all others.
#[inline]
fn whole(input: &[u8]) -> Option<Whole> {
    let (&marker, rest) = input.split_first()?;
    match marker {
        b'$' if rest.starts_with(b"-1\r\n") => Some(Whole { kind: ReplyKind::Nil, length: 5, leaves: Leaves::NIL }),
        b'$' => bulk(rest),
        b'+' if rest.starts_with(b"OK\r\n") => {
            Some(Whole { kind: ReplyKind::Status, length: 5, leaves: Leaves::VALUE })
        }
        b'+' => status(rest),
        b':' => integer(rest),
        _ => None,
    }
}

#[inline]
fn bulk(input: &[u8]) -> Option<Whole> {
    let (body_length, digits) = number(input)?;
    let end = digits + 2 + body_length;
    let is_sound = input.get(end..)?.starts_with(b"\r\n");
    let leaves = if body_length == 0 { Leaves::EMPTY_TEXT } else { Leaves::VALUE };
    is_sound.then_some(Whole { kind: ReplyKind::Bulk, length: 1 + end + 2, leaves })
}

fn status(input: &[u8]) -> Option<Whole> {
    let end = input.iter().position(|byte| matches!(byte, b'\r' | b'\n'))?;
    let leaves = Leaves::status(&input[..end]);
    input[end..].starts_with(b"\r\n").then_some(Whole { kind: ReplyKind::Status, length: 1 + end + 2, leaves })
}

fn integer(input: &[u8]) -> Option<Whole> {
    let sign = usize::from(input.first() == Some(&b'-'));
    let (value, digits) = number(&input[sign..])?;
    let leaves = if value > 2 { Leaves::VALUE } else { small_integer(sign, value) };
    Some(Whole { kind: ReplyKind::Integer, length: 1 + sign + digits + 2, leaves })
}

#[cold]
const fn small_integer(sign: usize, value: usize) -> Leaves {
    match (sign, value) {
        (_, 0) => Leaves::ZERO,
        (1, 1) => Leaves::MINUS_ONE,
        (1, 2) => Leaves::MINUS_TWO,
        _ => Leaves::VALUE,
    }
}

/// The number at the start of `input`, and how many digits it has, if the end of the line follows.
fn number(input: &[u8]) -> Option<(usize, usize)> {
    let mut number = 0;
    for (index, &byte) in input.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return (index > 0 && input[index..].starts_with(b"\r\n")).then_some((number, index));
        }
        if index == MAXIMUM_DIGITS {
            break;
        }
        number = number * 10 + usize::from(digit);
    }
    None
}

/// Deepest nesting of aggregates and attributes that is read.
pub const MAXIMUM_DEPTH: usize = 64;

/// A stack of open aggregates and attributes, without heap.
#[derive(Debug, Clone)]
struct Nesting {
    /// Values that each open level still lacks.
    missing: [u64; MAXIMUM_DEPTH],
    /// Bit N is set if level N is open and an attribute.
    attributes: u64,
    depth: usize,
    /// Values that the outermost aggregate has in all; 0 for an attribute.
    outermost: u64,
}

const _: () = assert!(MAXIMUM_DEPTH <= u64::BITS as usize, "one bit for each level");

impl Nesting {
    const fn new() -> Self {
        Self { missing: [0; MAXIMUM_DEPTH], attributes: 0, depth: 0, outermost: 0 }
    }

    const fn is_empty(&self) -> bool {
        self.depth == 0
    }

    /// Whether the next value is the first one of a top-level aggregate.
    const fn is_at_first(&self) -> bool {
        self.depth == 1 && self.missing[0] == self.outermost
    }

    /// Whether the next value is the second one of a top-level aggregate.
    const fn is_at_second(&self) -> bool {
        self.depth == 1 && self.missing[0] + 1 == self.outermost
    }

    /// Whether the next value lies inside an attribute.
    const fn is_in_attribute(&self) -> bool {
        self.attributes != 0
    }

    /// Opens a level of `values` values, at least one.
    fn open(&mut self, values: u64, is_attribute: bool) -> Result<(), MalformedReply> {
        let missing = self.missing.get_mut(self.depth).ok_or(MalformedReply::TooDeep)?;
        *missing = values;
        let bit: u64 = 1 << self.depth;
        self.attributes |= if is_attribute { bit } else { 0 };
        if self.depth == 0 {
            self.outermost = if is_attribute { 0 } else { values };
        }
        self.depth += 1;
        Ok(())
    }

    /// Values that the innermost level lacks; none outside of all.
    fn missing_in_level(&mut self) -> Option<&mut u64> {
        self.depth.checked_sub(1).and_then(|level| self.missing.get_mut(level))
    }

    /// Counts a complete value and closes the levels that it completes. Returns whether a top-level reply is complete.
    /// An attribute completes nothing: the value that it describes is still to come.
    fn finish_value(&mut self) -> bool {
        while let Some(level) = self.depth.checked_sub(1) {
            self.missing[level] -= 1;
            if self.missing[level] > 0 {
                return false;
            }
            self.depth = level;
            if self.attributes >> level & 1 == 1 {
                self.attributes &= !(1 << level);
                return false;
            }
        }
        true
    }
}

/// What a line must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextRule {
    /// Anything.
    Free,
    /// An error's line; its first word is the code.
    Error,
    /// Nothing at all.
    Empty,
    /// `t` or `f`.
    Boolean,
    /// Digits, a sign, a point, an exponent, `inf` or `nan`.
    Double,
    /// Digits, perhaps after a sign.
    BigNumber,
}

impl TextRule {
    /// Whether `text` may stand in a line after `seen` earlier bytes.
    fn check(self, text: &[u8], seen: u64) -> Result<(), MalformedReply> {
        let allowed = |index: usize, byte: u8| match self {
            Self::Free | Self::Error => byte != b'\n',
            Self::Empty => false,
            Self::Boolean => seen == 0 && index == 0 && matches!(byte, b't' | b'f'),
            Self::Double => byte.is_ascii_digit() || b"+-.eEinfaINFA".contains(&byte),
            Self::BigNumber => byte.is_ascii_digit() || (seen == 0 && index == 0 && matches!(byte, b'+' | b'-')),
        };
        match text.iter().enumerate().find(|&(index, &byte)| !allowed(index, byte)) {
            Some((_, &byte)) => Err(MalformedReply::UnexpectedByte(byte)),
            None => Ok(()),
        }
    }

    /// Whether a line of `seen` bytes is complete.
    fn finish(self, seen: u64) -> Result<(), MalformedReply> {
        let needs_text = matches!(self, Self::Boolean | Self::Double | Self::BigNumber);
        if needs_text && seen == 0 { Err(MalformedReply::IncompleteLine) } else { Ok(()) }
    }
}

/// The digits so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Decimal {
    /// Magnitude of the number.
    magnitude: u64,
    negative: bool,
    signed: bool,
    has_digits: bool,
}

impl Decimal {
    pub(crate) fn push(&mut self, byte: u8) -> Result<(), MalformedReply> {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            let magnitude = self.magnitude.checked_mul(10).and_then(|tens| tens.checked_add(u64::from(digit)));
            self.magnitude = magnitude.ok_or(MalformedReply::NumberOutOfRange)?;
            self.has_digits = true;
            return Ok(());
        }
        if !matches!(byte, b'+' | b'-') || self.signed || self.has_digits {
            return Err(MalformedReply::UnexpectedByte(byte));
        }
        self.signed = true;
        self.negative = byte == b'-';
        Ok(())
    }

    /// The number, once its line has ended.
    pub(crate) fn finish(self) -> Result<i64, MalformedReply> {
        if !self.has_digits {
            return Err(MalformedReply::IncompleteLine);
        }
        let value =
            if self.negative { 0_i64.checked_sub_unsigned(self.magnitude) } else { i64::try_from(self.magnitude).ok() };
        value.ok_or(MalformedReply::NumberOutOfRange)
    }
}

/// Collects bytes up to its capacity; further ones are dropped.
#[derive(Debug, Clone)]
struct Kept<const CAPACITY: usize> {
    bytes: [u8; CAPACITY],
    length: usize,
}

impl<const CAPACITY: usize> Kept<CAPACITY> {
    const fn new() -> Self {
        Self { bytes: [0; CAPACITY], length: 0 }
    }

    fn clear(&mut self) {
        self.length = 0;
    }

    /// Takes the next piece of the text.
    fn extend(&mut self, text: &[u8]) {
        let taken = text.len().min(CAPACITY - self.length);
        self.bytes[self.length..self.length + taken].copy_from_slice(&text[..taken]);
        self.length += taken;
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::{Decimal, MalformedReply};

    fn parse(text: &str) -> Result<i64, MalformedReply> {
        let mut decimal = Decimal::default();
        for byte in text.bytes() {
            decimal.push(byte)?;
        }
        decimal.finish()
    }

    #[test]
    fn the_whole_range_is_read() {
        for value in [0, 1, -1, 42, i64::MAX, i64::MIN] {
            assert_eq!(parse(&value.to_string()), Ok(value));
        }
        assert_eq!(parse("+7"), Ok(7));
        assert_eq!(parse("007"), Ok(7));
    }

    #[test]
    fn other_text_is_refused() {
        assert_eq!(parse("9223372036854775808"), Err(MalformedReply::NumberOutOfRange));
        assert_eq!(parse("-9223372036854775809"), Err(MalformedReply::NumberOutOfRange));
        assert_eq!(parse("99999999999999999999999"), Err(MalformedReply::NumberOutOfRange));
        assert_eq!(parse(""), Err(MalformedReply::IncompleteLine));
        assert_eq!(parse("-"), Err(MalformedReply::IncompleteLine));
        assert_eq!(parse("--1"), Err(MalformedReply::UnexpectedByte(b'-')));
        assert_eq!(parse("1-"), Err(MalformedReply::UnexpectedByte(b'-')));
        assert_eq!(parse("?"), Err(MalformedReply::UnexpectedByte(b'?')));
    }
}
