//! Arguments by section of the help: their names, their help, how their values are taken, and what they come to.

pub(super) mod amount;
pub(super) mod commands;
pub(super) mod connections;
pub(super) mod keys;
pub(super) mod listeners;
pub(super) mod other;
pub(super) mod output;
pub(super) mod recordings;
pub(super) mod server;
mod uri;
pub(super) mod values;
