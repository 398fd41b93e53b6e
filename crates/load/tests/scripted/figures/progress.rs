//! How far a run is.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::support::scripted::Scripted;

/// What a run of two and a half seconds writes to a terminal as its standard error.
fn on_terminal(arguments: &[&str]) -> String {
    let server = Scripted::answering("+OK\r\n");
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&terminal).expect("it may be used");
    unlockpt(&terminal).expect("it may be opened");
    let path = ptsname(&terminal, Vec::new()).expect("a name").into_string().expect("text");
    let stderr = OpenOptions::new().read(true).write(true).open(path).expect("the other side");
    let port = server.port();
    let shape = ["-s", "127.0.0.1", "-p", &port, "-t", "1", "-c", "2", "--test-time", "2.5", "--command", "PING"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_zerolap-load"));
    command.args(shape).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
    let mut child = command.spawn().expect("it starts");
    // The command holds the other side of the terminal open.
    drop(command);
    let mut text = Vec::new();
    // A terminal that nobody writes to any more ends with an error.
    let _ = File::from(terminal).read_to_end(&mut text);
    assert!(child.wait().expect("a status").success());
    String::from_utf8(text).expect("text")
}

#[test]
fn a_terminal_shows_one_line_that_is_written_over_and_cleared_at_the_end() {
    let text = on_terminal(&[]);
    let lines: Vec<&str> = text.split("\r\u{1b}[K").collect();
    // Nothing before the first, nothing after the last.
    assert!(lines.len() >= 3 && lines[0].is_empty() && lines[lines.len() - 1].is_empty(), "{text:?}");
    for line in &lines[1..lines.len() - 1] {
        assert!(line.starts_with("[RUN #1 ") && line.contains("1 threads  2 conns:"), "{text:?}");
        assert!(line.contains(" ops/sec, ") && line.ends_with(" msec latency"), "{text:?}");
    }
}

#[test]
fn quiet_runs_show_nothing() {
    assert_eq!(on_terminal(&["--quiet"]), "");
}
