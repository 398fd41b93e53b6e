//! Replies: their kinds, and the reader that skips over them.

mod decimal;
mod kept;
mod kind;
mod malformed;
mod nesting;
mod reader;
mod text;

pub use kind::{Reply, ReplyKind};
pub use malformed::MalformedReply;
pub use nesting::MAXIMUM_DEPTH;
pub use reader::ReplyReader;
