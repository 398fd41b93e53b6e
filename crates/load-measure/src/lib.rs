//! What a load generator measures, and how it is written down.
//!
//! A thread counts in its own [`Tally`]; those of all threads together are an [`Outcome`]: counts by kind of reply and
//! error code, and a [`Histogram`] of latencies, for each command. Counts are merged over threads, percentiles never.
//! Errors are never successes. [`Document`] is the JSON of some [`Run`]s, [`write_summary`] the table for people, and
//! [`Live`] what a run has come to while it goes on. [`LoadError`] says why one ended early.

#![forbid(unsafe_code)]

mod bounds;
mod checked;
pub mod clock;
mod differences;
mod error;
mod error_counts;
mod health;
mod histogram;
mod listener_tally;
mod live;
mod outcome;
mod report_settings;
mod request;
mod result;
mod run;
mod search_record;
mod summary;
mod tally;
mod timeline;
mod tls_error;

pub use differences::differences;
pub use error::{LOADING, LoadError};
pub use health::Moment;
pub use histogram::Histogram;
pub use listener_tally::ListenerTally;
pub use live::{Goal, Live, LiveCounts, Phase};
pub use outcome::Outcome;
pub use report_settings::ReportSettings;
pub use request::Request;
pub use result::{Document, ResultRecord, SCHEMA, SettingsRecord, SliceRecord};
pub use run::Run;
pub use search_record::{SearchRecord, Step};
pub use summary::{write_settings, write_summary};
pub use tally::{CommandTally, Tally};
pub use tls_error::TlsError;
