//! What a load generator measures.
//!
//! A thread counts in its own [`Tally`]; those of all threads together are an [`Outcome`]: counts by kind of reply and
//! error code, and a [`Histogram`] of latencies, for each command. Counts are merged over threads, percentiles never.
//! Errors are never successes. A [`Timeline`] has the same by tenths of a second, [`Live`] is what a run has come to while
//! it goes on, a [`Step`] of a search is met or not. [`LoadError`] is the reason why a [`Run`] ended early.

pub mod clock;
mod command_tally;
mod error;
mod health;
mod histogram;
mod listener_tally;
mod live;
mod outcome;
mod reference;
mod search_record;
mod tally;
mod timeline;
mod transactions;

pub use command_tally::{CheckedValues, CommandTally};
pub use error::{LOADING, LoadError};
pub use health::{Health, Moment};
pub use histogram::Histogram;
pub use listener_tally::{ListenerTally, MessageKind};
pub use live::{Goal, Live, LiveCounts, Phase};
pub use outcome::{Outcome, Run};
pub use reference::cpu_ns_per_step;
pub use search_record::{SearchRecord, Step};
pub use tally::{NodeTally, Request, ScheduleTally, Tally};
pub use timeline::{Slot, Timeline, Track};
pub use transactions::TransactionCounts;
