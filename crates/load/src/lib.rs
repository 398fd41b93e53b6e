//! The program `zerolap-load`: its [`progress`] on a terminal, its results as files, and how another
//! program drives it ([`control`]).

pub mod control;
pub mod error;
pub mod output_file;
pub mod progress;
pub mod terminal;
pub mod untrusted;
