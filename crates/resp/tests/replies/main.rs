//! The reader against known replies, any split, and garbage.

mod known;
mod properties;
mod seen;
mod valid;
