//! What is written down of a run.

mod client;
mod document;
mod memtier;
mod record;
mod schedule;
mod settings;
mod timeline;

pub use document::{Document, SCHEMA};
pub use record::ResultRecord;
