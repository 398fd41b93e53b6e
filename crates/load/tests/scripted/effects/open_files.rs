//! Limits of open files.

use std::process::{Command, Output};

use crate::support::scripted::Scripted;

/// Runs 200 connections in a shell that has set these limits before.
fn load_under(limits: &str, server: &Scripted) -> Output {
    let program = env!("CARGO_BIN_EXE_zerolap-load");
    let port = server.port();
    let line = format!("{limits} && exec {program} -s 127.0.0.1 -p {port} -t 4 -c 50 -n 1 --command PING");
    Command::new("sh").args(["-c", &line]).output().expect("a shell")
}

#[test]
fn the_soft_limit_is_raised_as_far_as_all_connections_need_it() {
    let server = Scripted::answering("+OK\r\n");
    let output = load_under("ulimit -Sn 100", &server);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(server.connections().len(), 200);
}

#[test]
fn where_the_hard_limit_is_too_low_nothing_is_sent_and_the_command_is_shown() {
    let server = Scripted::answering("+OK\r\n");
    let output = load_under("ulimit -n 100", &server);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("open files are needed and 100 are allowed"), "{stderr}");
    assert!(stderr.contains("hint: `ulimit -n "), "{stderr}");
    assert_eq!(server.connections().len(), 0);
}
