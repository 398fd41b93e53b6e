//! RESP2 and RESP3: requests as bytes with holes, replies read without allocation.
//!
//! A load generator sends the same few command lines millions of times and looks at replies only to count them. So:
//!
//! * [`Template`] parses a command line once, by the quoting rules of redis-cli ([`split_words`]), and keeps it as RESP
//!   bytes with holes where `__key__` and `__data__` stood. Writing a request copies bytes and prints numbers.
//! * [`write_request`] encodes one request whose arguments are all known.
//! * [`ReplyReader`] takes bytes as they arrive, cut anywhere, and reports of each reply its kind, which error code
//!   it carries, how many elements it has and of what sorts its values are ([`Leaves`]). Bodies are skipped, and none is
//!   kept but the beginning of an error and a short first element.
//! * [`parse_value`] takes apart the few replies that have to be looked into before the load begins.
//! * [`cluster::key_slot`] returns the slot of a cluster that a key belongs to.
//!
//! Nothing here reads or writes a socket, and no input makes it panic.

pub mod cluster;
mod leaves;
mod reader;
mod reply;
mod request;

pub use leaves::Leaves;
pub use reader::{MAXIMUM_DEPTH, ReplyReader};
pub use reply::{MalformedReply, Reply, ReplyKind, Value, parse_value};
pub use request::{LineError, Template, TemplateError, Values, ValuesOfKeys, split_words, write_request};
