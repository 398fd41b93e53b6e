//! The layout that `memtier_benchmark` gives its results, for programs that read it.

mod configuration;
mod distribution;
mod percentiles;
mod row;
mod runs;
mod time_series;

pub(super) use configuration::{configuration, policy, run_information};
pub(super) use runs::results;
