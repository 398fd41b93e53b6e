//! What can be wrong with the bytes of a reply.

use thiserror::Error;

/// Why bytes are not replies. The reader cannot find its place again after one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MalformedReply {
    /// A reply starts with a byte that marks no kind.
    #[error("no reply starts with the byte 0x{0:02x}")]
    UnknownMarker(u8),
    /// A byte in a header line that cannot stand there.
    #[error("byte 0x{0:02x} cannot stand in the header line of a reply")]
    UnexpectedByte(u8),
    /// A header line is too short or too long for its kind.
    #[error("the header line of a reply is not complete")]
    IncompleteLine,
    /// A number that does not fit 64 bits.
    #[error("a number in a reply is out of range")]
    NumberOutOfRange,
    /// A length below zero that means no nil here.
    #[error("a length in a reply is negative")]
    NegativeLength,
    /// The two bytes after a bulk body are not CR LF.
    #[error("a bulk body is not followed by CR LF")]
    UnterminatedBody,
    /// A push frame inside another reply.
    #[error("a push frame lies inside another reply")]
    NestedPush,
    /// More nested aggregates than [`crate::MAXIMUM_DEPTH`].
    #[error("aggregates are nested more than {} deep", crate::MAXIMUM_DEPTH)]
    TooDeep,
}
