//! The load generator before servers of this process, which reply what a test wants and keep what they are sent; and its
//! command line without a server.

mod arguments;
mod arguments_in_vain;
mod cluster;
mod control;
mod effects;
mod figures;
mod replies;
mod requests;
mod sequences;
mod support;
mod trouble;
