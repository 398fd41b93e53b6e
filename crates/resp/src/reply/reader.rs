//! The incremental reader.

use super::decimal::Decimal;
use super::error_text::ErrorText;
use super::nesting::Nesting;
use super::text::TextRule;
use super::{MalformedReply, Reply, ReplyKind};

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
    error: ErrorText,
}

/// What the next byte is part of.
#[derive(Debug, Clone, Copy)]
enum State {
    Marker,
    Number { meaning: Meaning, number: Decimal },
    Text { rule: TextRule, seen: u64 },
    LineFeed(Next),
    Body { remaining: u64, holds_error: bool },
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
    Body { length: u64, holds_error: bool },
    Values { count: u64, is_attribute: bool },
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
        let (nesting, error) = (Nesting::new(), ErrorText::new());
        Self { state: State::Marker, nesting, kind: ReplyKind::Nil, elements: 0, error }
    }

    /// Takes bytes off the front of `input` up to the end of the next top-level reply, and returns that reply; none
    /// when the input ends first. Push frames are returned too, see [`Reply::is_answer`].
    ///
    /// # Errors
    /// When the bytes are no reply.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<Reply<'_>>, MalformedReply> {
        while let Some((&byte, rest)) = input.split_first() {
            let is_complete = match self.state {
                State::Text { rule, seen } => {
                    *input = self.read_text(rule, seen, input)?;
                    false
                }
                State::Body { remaining, holds_error } => {
                    *input = self.skip_body(remaining, holds_error, input);
                    false
                }
                _ => {
                    *input = rest;
                    self.take_byte(byte)?
                }
            };
            if is_complete {
                return Ok(Some(self.reply()));
            }
        }
        Ok(None)
    }

    /// The complete reply.
    fn reply(&self) -> Reply<'_> {
        let (code, text): (&[u8], &[u8]) =
            if self.kind == ReplyKind::Error { (self.error.code(), self.error.as_bytes()) } else { (b"", b"") };
        Reply { kind: self.kind, code, text, elements: self.elements }
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
        let (kind, state) = match marker {
            b'+' => (ReplyKind::Status, text(TextRule::Free)),
            b'-' => (ReplyKind::Error, text(TextRule::Error)),
            b':' => (ReplyKind::Integer, number(Meaning::Value)),
            b'_' => (ReplyKind::Nil, text(TextRule::Empty)),
            b'#' => (ReplyKind::Boolean, text(TextRule::Boolean)),
            b',' => (ReplyKind::Double, text(TextRule::Double)),
            b'(' => (ReplyKind::BigNumber, text(TextRule::BigNumber)),
            other => return Err(MalformedReply::UnknownMarker(other)),
        };
        self.note(kind, 0);
        state
    }

    /// Remembers what the reply is, unless it lies inside another one.
    fn note(&mut self, kind: ReplyKind, elements: u64) {
        if self.nesting.is_empty() {
            self.kind = kind;
            self.elements = elements;
            self.error.clear();
        }
    }

    fn finish_number(&mut self, meaning: Meaning, value: i64) -> Result<Next, MalformedReply> {
        let count = u64::try_from(value);
        match (meaning, count) {
            (Meaning::Value, _) => Ok(Next::Done),
            (Meaning::BodyLength(kind), Ok(length)) => {
                self.note(kind, 0);
                Ok(Next::Body { length, holds_error: kind == ReplyKind::Error && self.nesting.is_empty() })
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
                Ok(Next::Done)
            }
            (_, Err(_)) => Err(MalformedReply::NegativeLength),
        }
    }

    fn follow(&mut self, next: Next) -> Result<bool, MalformedReply> {
        self.state = State::Marker;
        match next {
            Next::Body { length: 0, .. } => self.state = State::BodyReturn,
            Next::Body { length, holds_error } => self.state = State::Body { remaining: length, holds_error },
            Next::Values { count: 0, is_attribute: true } => {}
            Next::Done | Next::Values { count: 0, .. } => return Ok(self.finish_value()),
            Next::Values { count, is_attribute } => self.nesting.open(count, is_attribute)?,
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
    fn skip_body<'input>(&mut self, remaining: u64, holds_error: bool, input: &'input [u8]) -> &'input [u8] {
        let length = usize::try_from(remaining).unwrap_or(usize::MAX).min(input.len());
        let (body, rest) = input.split_at(length);
        if holds_error {
            self.error.extend(body);
        }
        let remaining = remaining - length as u64;
        self.state = if remaining == 0 { State::BodyReturn } else { State::Body { remaining, holds_error } };
        rest
    }
}
