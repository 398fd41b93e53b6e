//! The load generator before servers of this process, which reply what a test wants and keep what they are sent.

mod cluster;
mod control;
mod effects;
mod figures;
mod replies;
mod requests;
mod sequences;
mod support;
mod trouble;
