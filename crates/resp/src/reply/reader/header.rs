//! What header lines mean.

use super::state::{KeptAs, Meaning, Next, State};
use super::{FIRST_CAPACITY, ReplyReader};
use crate::reply::decimal::Decimal;
use crate::reply::text::TextRule;
use crate::reply::{MalformedReply, ReplyKind};

impl ReplyReader {
    /// What follows a reply's first byte.
    pub(super) fn begin(&mut self, marker: u8) -> Result<State, MalformedReply> {
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
            self.is_zero = false;
            self.error.clear();
            self.first.clear();
        }
    }

    /// What follows a line that holds this number.
    pub(super) fn finish_number(&mut self, meaning: Meaning, value: i64) -> Result<Next, MalformedReply> {
        let count = u64::try_from(value);
        match (meaning, count) {
            (Meaning::Value, _) => {
                if self.nesting.is_empty() {
                    self.is_zero = value == 0;
                }
                if self.nesting.is_at_first() {
                    self.first.extend(itoa::Buffer::new().format(value).as_bytes());
                }
                Ok(Next::Done)
            }
            (Meaning::BodyLength(kind), Ok(length)) => {
                self.note(kind, 0);
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
                Ok(Next::Done)
            }
            (_, Err(_)) => Err(MalformedReply::NegativeLength),
        }
    }

    /// What becomes of a body of this kind and length that comes next.
    fn kept_as(&self, kind: ReplyKind, length: u64) -> KeptAs {
        match kind {
            ReplyKind::Error if self.nesting.is_empty() => KeptAs::Error,
            ReplyKind::Bulk if length <= FIRST_CAPACITY as u64 && self.nesting.is_at_first() => KeptAs::First,
            _ => KeptAs::Nothing,
        }
    }

    /// Goes on after a header line; returns whether it completes a top-level reply.
    pub(super) fn follow(&mut self, next: Next) -> Result<bool, MalformedReply> {
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
