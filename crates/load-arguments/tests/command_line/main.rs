//! What command lines come to, without a run.

mod meaning;
mod reading;
mod without_effect;
