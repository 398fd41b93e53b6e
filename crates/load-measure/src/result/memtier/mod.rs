//! The layout that `memtier_benchmark` gives its results, for programs that read it.

mod configuration;
mod distribution;
mod percentiles;
mod row;
mod runs;
mod time_series;

pub use configuration::configuration;
pub(super) use configuration::{policy, run_information};
pub(super) use runs::results;
