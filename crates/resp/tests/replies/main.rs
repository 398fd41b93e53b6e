//! The reader and the parser against known replies, any split, and garbage.

mod known;
mod properties;
mod seen;
mod valid;
mod values;
