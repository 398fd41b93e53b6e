//! The JSON that others read.

mod document;
mod record;

pub use document::{Document, SCHEMA};
pub use record::ResultRecord;
