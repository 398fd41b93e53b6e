//! Replies: their kinds, the reader that skips over them, and the parser that takes them apart.

mod decimal;
mod kept;
mod kind;
mod malformed;
mod nesting;
mod reader;
mod text;
mod value;

pub use kind::{Reply, ReplyKind};
pub use malformed::MalformedReply;
pub use nesting::MAXIMUM_DEPTH;
pub use reader::ReplyReader;
pub use value::{Value, parse_value};
