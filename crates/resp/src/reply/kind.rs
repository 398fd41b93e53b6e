//! What is reported of a reply.

/// What kind of reply it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReplyKind {
    /// `+`
    Status,
    /// `-`, or `!` of RESP3
    Error,
    /// `:`
    Integer,
    /// `$`
    Bulk,
    /// `$-1`, `*-1`, or `_` of RESP3
    Nil,
    /// `*`
    Array,
    /// `%`
    Map,
    /// `~`
    Set,
    /// `,`
    Double,
    /// `#`
    Boolean,
    /// `(`
    BigNumber,
    /// `=`
    Verbatim,
    /// `>`; answers no request
    Push,
}

impl ReplyKind {
    /// All kinds, in the order of their discriminants.
    pub const ALL: [Self; 13] = [
        Self::Status,
        Self::Error,
        Self::Integer,
        Self::Bulk,
        Self::Nil,
        Self::Array,
        Self::Map,
        Self::Set,
        Self::Double,
        Self::Boolean,
        Self::BigNumber,
        Self::Verbatim,
        Self::Push,
    ];

    /// The word for it in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Error => "error",
            Self::Integer => "integer",
            Self::Bulk => "bulk",
            Self::Nil => "nil",
            Self::Array => "array",
            Self::Map => "map",
            Self::Set => "set",
            Self::Double => "double",
            Self::Boolean => "boolean",
            Self::BigNumber => "big_number",
            Self::Verbatim => "verbatim",
            Self::Push => "push",
        }
    }

    /// Whether it holds other replies.
    #[must_use]
    pub const fn is_aggregate(self) -> bool {
        matches!(self, Self::Array | Self::Map | Self::Set | Self::Push)
    }
}

/// One top-level reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply<'reader> {
    /// What kind of reply it is.
    pub kind: ReplyKind,
    /// The first word of an error, for example `WRONGTYPE`, cut after 64 bytes; empty for other kinds.
    pub code: &'reader [u8],
    /// The text of an error, code included, for example `MOVED 3999 127.0.0.1:6381`, cut after 192 bytes; empty for
    /// other kinds.
    pub text: &'reader [u8],
    /// Elements of an aggregate (pairs of a map); 0 for other kinds.
    pub elements: u64,
    /// The first element of an aggregate (the first key of a map) if that is a bulk string of at most 20 bytes, or an
    /// integer, then in decimal; otherwise empty. The cursor of `SCAN` is one.
    pub first: &'reader [u8],
    /// Whether it is the integer 0, as `SISMEMBER` answers where there is no such member.
    pub is_zero: bool,
}

impl Reply<'_> {
    /// Whether it answers a request. Push frames come unasked.
    #[must_use]
    pub const fn is_answer(&self) -> bool {
        !matches!(self.kind, ReplyKind::Push)
    }

    /// Whether it is an aggregate without elements.
    #[must_use]
    pub const fn is_empty_aggregate(&self) -> bool {
        self.kind.is_aggregate() && self.elements == 0
    }
}
