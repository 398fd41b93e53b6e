//! Runs `zerolap-load`, never for longer than a limit.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Turns a hang into a failure; no machine is so slow that it matters otherwise.
const LIMIT: Duration = Duration::from_secs(300);

/// A run that has ended.
pub struct Finished {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    /// The whole document of a run with `--json-out-file -`, however it ended.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("no JSON ({error}): {}", self.stderr))
    }

    /// The part of the document that is not memtier's, of a run that went well.
    pub fn document(&self) -> Value {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self.json()["lab"].clone()
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zerolap-load"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs the program to its end.
pub fn run(arguments: &[&str]) -> Finished {
    Running::start(arguments).finish()
}

/// A run that goes on.
pub struct Running {
    pub child: Child,
    stdout: thread::JoinHandle<String>,
    stderr: thread::JoinHandle<String>,
}

impl Running {
    pub fn start(arguments: &[&str]) -> Self {
        let mut child = command(arguments).spawn().expect("the program starts");
        let stdout = read_all(child.stdout.take().expect("a pipe"));
        let stderr = read_all(child.stderr.take().expect("a pipe"));
        Self { child, stdout, stderr }
    }

    /// As Ctrl-C in a shell.
    pub fn interrupt(&self) {
        kill_process(Pid::from_child(&self.child), Signal::INT).expect("it runs");
    }

    /// Waits for its end.
    pub fn finish(mut self) -> Finished {
        let code = wait(&mut self.child).code();
        Finished { code, stdout: self.stdout.join().expect("output"), stderr: self.stderr.join().expect("output") }
    }
}

fn read_all(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut text = String::new();
        pipe.read_to_string(&mut text).expect("text");
        text
    })
}

fn wait(child: &mut Child) -> ExitStatus {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a status") {
            return status;
        }
        if started.elapsed() > LIMIT {
            child.kill().expect("it can be killed");
            panic!("the program did not end within {LIMIT:?}");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// A run with `--control`.
pub struct Session {
    pub child: Child,
    input: Option<ChildStdin>,
    /// Lines of its output; its end is theirs.
    lines: Receiver<String>,
}

impl Session {
    /// Starts it and waits for its first event.
    pub fn start(arguments: &[&str]) -> (Self, Value) {
        let mut command = command(arguments);
        let mut child = command.arg("--control").stdin(Stdio::piped()).spawn().expect("the program starts");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let (line_sender, lines) = channel();
        thread::spawn(move || {
            for line in output.lines() {
                // A test that has seen enough listens no more.
                let _ = line_sender.send(line.expect("a line"));
            }
        });
        let session = Self { input: child.stdin.take(), lines, child };
        let event = session.event().expect("an event");
        (session, event)
    }

    pub fn send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("open input");
        writeln!(input, "{line}").expect("it reads its input");
    }

    /// The next event; none at the end of output.
    pub fn event(&self) -> Option<Value> {
        match self.lines.recv_timeout(LIMIT) {
            Ok(line) => Some(serde_json::from_str(&line).expect("a JSON line")),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("the program wrote nothing for {LIMIT:?}"),
        }
    }

    /// Runs a slice; returns its event.
    pub fn slice(&mut self, requests: u64) -> Value {
        self.send(&format!("{{\"do\":\"slice\",\"requests\":{requests}}}"));
        let event = self.event().expect("an event");
        assert_eq!(event["event"], "slice", "{event}");
        event
    }

    /// Closes its input and waits for its end.
    pub fn finish(mut self) -> Option<i32> {
        self.input = None;
        wait(&mut self.child).code()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // It has usually ended by now.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
