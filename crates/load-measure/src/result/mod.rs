//! What is written down of a run.

mod document;
mod memtier;
mod record;
mod settings;

pub use document::{Document, SCHEMA};
pub use memtier::configuration;
pub use record::{ResultRecord, SliceRecord};
pub use settings::SettingsRecord;
