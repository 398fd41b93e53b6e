//! What a load generator writes.
//!
//! [`Document`] is the JSON of some runs: memtier's layout first, then what memtier does not report. [`SliceRecord`] is
//! the JSON of one piece of work, [`write_summary`] the table for people.

mod differences;
mod document;
mod memtier;
mod record;
mod report_settings;
mod settings;
mod summary;

pub use document::Document;
pub use record::SliceRecord;
pub use report_settings::ReportSettings;
pub use settings::SettingsRecord;
pub use summary::{write_settings, write_summary};
