//! The load generator before redis-servers of the PATH; without one, these tests pass and print why.

mod cluster;
mod commands;
mod listeners;
mod public_suites;
mod public_suites_cluster;
mod public_suites_run;
mod recordings;
mod replicas;
mod server;
mod support;
mod tls;
mod transactions;
mod trouble;
mod users;
