//! What is written down of a run.

mod client;
mod document;
mod listeners;
mod memtier;
mod record;
mod schedule;
mod settings;
mod timeline;

pub use document::{Document, SCHEMA};
pub use memtier::configuration;
pub use record::{ResultRecord, SliceRecord};
pub use settings::SettingsRecord;
