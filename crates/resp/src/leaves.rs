//! What the values in a reply are, as far as they can stand for something that is not there.

use std::ops::{BitOr, BitOrAssign};

/// The sorts of values that a reply holds, however deeply nested; none in an empty aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Leaves(u8);

impl Leaves {
    /// No value at all.
    pub const NONE: Self = Self(0);
    /// Nil of any form.
    pub const NIL: Self = Self(1);
    /// The integer 0, or false of RESP3.
    pub const ZERO: Self = Self(1 << 1);
    /// The integer -1.
    pub const MINUS_ONE: Self = Self(1 << 2);
    /// The integer -2.
    pub const MINUS_TWO: Self = Self(1 << 3);
    /// A bulk string of no bytes.
    pub const EMPTY_TEXT: Self = Self(1 << 4);
    /// The status `none`, which is no type.
    pub const NO_TYPE: Self = Self(1 << 5);
    /// The status `QUEUED`: the request is answered within a later reply.
    pub const QUEUED: Self = Self(1 << 6);
    /// Anything else.
    pub const VALUE: Self = Self(1 << 7);

    /// Those of either.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of these are among `others`; so it is of no value at all.
    #[must_use]
    pub const fn are_among(self, others: Self) -> bool {
        self.0 & !others.0 == 0
    }

    /// What an integer is.
    #[must_use]
    pub const fn integer(value: i64) -> Self {
        match value {
            0 => Self::ZERO,
            -1 => Self::MINUS_ONE,
            -2 => Self::MINUS_TWO,
            _ => Self::VALUE,
        }
    }

    /// What a bulk string of this length is.
    #[must_use]
    pub const fn text(length: u64) -> Self {
        if length == 0 { Self::EMPTY_TEXT } else { Self::VALUE }
    }

    /// What a status is.
    #[must_use]
    pub const fn status(text: &[u8]) -> Self {
        match text {
            b"none" => Self::NO_TYPE,
            b"QUEUED" => Self::QUEUED,
            _ => Self::VALUE,
        }
    }
}

impl BitOr for Leaves {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.and(other)
    }
}

impl BitOrAssign for Leaves {
    fn bitor_assign(&mut self, other: Self) {
        *self = self.and(other);
    }
}
