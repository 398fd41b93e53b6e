//! The incremental reader.

mod header;
mod state;
mod whole;

use state::{KeptAs, Next, State};
use whole::{Whole, whole};

use super::kept::Kept;
use super::nesting::Nesting;
use super::text::TextRule;
use super::{MalformedReply, Reply, ReplyKind};

/// Longer error texts are cut.
const TEXT_CAPACITY: usize = 192;
/// Longer error codes are cut. The longest of Redis 7 has 11 bytes.
const CODE_CAPACITY: usize = 64;
/// Longer first elements are not kept. No 64-bit number is longer.
const FIRST_CAPACITY: usize = 20;

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
    /// Whether it is the integer 0.
    is_zero: bool,
    error: Kept<TEXT_CAPACITY>,
    first: Kept<FIRST_CAPACITY>,
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
        let (error, first) = (Kept::new(), Kept::new());
        Self { state: State::Marker, nesting, kind, elements: 0, is_zero: false, error, first }
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
            && let Some(Whole { kind, length, is_zero }) = whole(input)
        {
            *input = &input[length..];
            return Ok(Some(Reply { kind, code: b"", text: b"", elements: 0, first: b"", is_zero }));
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
                    if let Some(length) = self.whole_element(input) {
                        *input = &input[length..];
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

    /// The length of a whole element that comes next, unless it may have to be kept.
    fn whole_element(&self, input: &[u8]) -> Option<usize> {
        let is_next = matches!(self.state, State::Marker) && !self.nesting.is_empty() && !self.nesting.is_at_first();
        if is_next { whole(input).map(|whole| whole.length) } else { None }
    }

    /// The complete reply.
    fn reply(&self) -> Reply<'_> {
        let text = if self.kind == ReplyKind::Error { self.error.as_bytes() } else { b"" };
        let first = if self.kind.is_aggregate() { self.first.as_bytes() } else { b"" };
        Reply { kind: self.kind, code: code(text), text, elements: self.elements, first, is_zero: self.is_zero }
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
        self.nesting.finish_value()
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
        if rule == TextRule::Error && self.nesting.is_empty() {
            self.error.extend(text);
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
