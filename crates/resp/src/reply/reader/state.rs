//! Where a reader is within a reply.

use crate::reply::ReplyKind;
use crate::reply::decimal::Decimal;
use crate::reply::text::TextRule;

/// What the next byte is part of.
#[derive(Debug, Clone, Copy)]
pub(super) enum State {
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
pub(super) enum Meaning {
    Value,
    BodyLength(ReplyKind),
    Elements(ReplyKind),
    Attributes,
}

/// What follows a header line.
#[derive(Debug, Clone, Copy)]
pub(super) enum Next {
    Done,
    Body { length: u64, kept_as: KeptAs },
    Values { count: u64, is_attribute: bool },
}

/// What becomes of a body.
#[derive(Debug, Clone, Copy)]
pub(super) enum KeptAs {
    Nothing,
    Error,
    First,
}
