//! The layout that `memtier_benchmark` gives its results, for programs that read it.

mod configuration;
mod results;

pub use configuration::configuration;
pub(super) use configuration::{policy, run_information};
pub(super) use results::results;
