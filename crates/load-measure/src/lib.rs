//! What a load generator measures, and how it is written down.
//!
//! A thread counts in its own [`Tally`]; those of all threads together are an [`Outcome`]: counts by kind of reply and
//! error code, and a [`Histogram`] of latencies, for each command. Counts are merged over threads, percentiles never.
//! Errors are never successes. [`Document`] is the JSON of some [`Run`]s, [`write_summary`] the table for people, and
//! [`Live`] what a run has come to while it goes on. [`LoadError`] is the reason why one ended early.

pub mod clock;
mod command_tally;
mod differences;
mod error;
mod health;
mod histogram;
mod listener_tally;
mod live;
mod outcome;
mod report_settings;
mod result;
mod search_record;
mod summary;
mod tally;
mod timeline;

pub use command_tally::CommandTally;
pub use error::{LOADING, LoadError};
pub use health::Moment;
pub use histogram::Histogram;
pub use listener_tally::ListenerTally;
pub use live::{Goal, Live, LiveCounts, Phase};
pub use outcome::{Outcome, Run};
pub use report_settings::ReportSettings;
pub use result::{Document, ResultRecord, SCHEMA, SettingsRecord, SliceRecord};
pub use search_record::{SearchRecord, Step};
pub use summary::{write_settings, write_summary};
pub use tally::{Request, Tally};
