//! The layout that `memtier_benchmark` gives its results, for programs that read it.

mod configuration;
mod results;

pub(crate) use configuration::{configuration, policy, run_information};
pub(crate) use results::results;
