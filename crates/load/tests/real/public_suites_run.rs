//! Each command line of the public test suites for `memtier_benchmark` runs against a real server, for some requests.
//!
//! The suites are not part of this repository. `ZEROLAP_PUBLIC_SUITES` names the directory that holds their files.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::program::Finished;
use crate::support::{Real, partial_document, suites};

/// Longest time of a line; blocking commands take the reply timeout.
/// What the server counted since its counts were last reset.
struct ServerCounts {
    calls: BTreeMap<String, u64>,
    errors: BTreeMap<String, u64>,
}

impl ServerCounts {
    fn read(server: &Real) -> Self {
        let (mut calls, mut errors) = (BTreeMap::new(), BTreeMap::new());
        let number = |text: &str, name: &str| -> u64 {
            let part = text.split(',').find_map(|part| part.strip_prefix(name));
            part.map_or(0, |digits| digits.parse().expect("a number"))
        };
        for line in server.call(&["INFO", "everything"]).lines() {
            let Some((name, text)) = line.split_once(':') else { continue };
            if name == "cmdstat_config|resetstat" {
                // The command that made it forget.
                continue;
            }
            if let Some(command) = name.strip_prefix("cmdstat_") {
                let command = command.split('|').next().unwrap_or_default().to_owned();
                *calls.entry(command).or_default() += number(text, "calls=") + number(text, "rejected_calls=");
            } else if let Some(code) = name.strip_prefix("errorstat_") {
                errors.insert(code.to_owned(), number(text, "count="));
            }
        }
        Self { calls, errors }
    }
}

/// What came of all lines.
#[derive(Default)]
struct Findings {
    lines: usize,
    /// The line that took longest.
    slowest: (Duration, String),
    clean: usize,
    /// Lines without errors whose replies were all nil or empty.
    only_misses: Vec<String>,
    /// Lines by kind of error.
    errors: BTreeMap<String, Vec<String>>,
    timeouts: Vec<String>,
    faults: Vec<String>,
}

impl Findings {
    fn print(&self, started: Instant) {
        println!("{} command lines ran in {:.1} s", self.lines, started.elapsed().as_secs_f64());
        println!("the slowest took {:.1} s: {}", self.slowest.0.as_secs_f64(), self.slowest.1);
        println!("{:6} had neither errors nor misses only", self.clean);
        println!("{:6} found nothing at all: {}", self.only_misses.len(), self.only_misses.join(", "));
        println!("{:6} waited in vain, as a timeout: {}", self.timeouts.len(), self.timeouts.join(", "));
        for (kind, lines) in &self.errors {
            println!("{:6} had errors {kind}: {}", lines.len(), lines.join(", "));
        }
    }
}

/// The error's code, and whether it is about a command that the server does not know.
fn kind(error: &str) -> String {
    let code = error.split(' ').next().unwrap_or_default();
    if error.starts_with("ERR unknown command") { "ERR (unknown command)".to_owned() } else { code.to_owned() }
}

/// Runs the lines of all suites.
struct Runner {
    server: Real,
    known: BTreeSet<String>,
    findings: Findings,
}

impl Runner {
    fn suite(&mut self, name: &str, suite: &suites::Suite) {
        assert_eq!(self.server.ask("FLUSHALL SYNC"), "+OK");
        if let Some(words) = suite.preload() {
            self.line(&format!("{name} (preload)"), &words);
        }
        let mut client = self.server.client();
        for command in suite.init_commands() {
            client.call(&command.iter().map(String::as_str).collect::<Vec<&str>>());
        }
        for words in suite.clients() {
            self.line(name, &words);
        }
    }

    fn line(&mut self, name: &str, words: &[String]) {
        assert_eq!(self.server.ask("CONFIG RESETSTAT"), "+OK");
        let started = Instant::now();
        let short = suites::Shortened::new(words);
        let finished = self.server.run(&short.words());
        self.findings.lines += 1;
        let took = started.elapsed();
        if took > self.findings.slowest.0 {
            self.findings.slowest = (took, name.to_owned());
        }
        if let Err(fault) = self.judge(name, &finished, short.requests) {
            self.findings.faults.push(format!("{name}: {fault}"));
        }
    }

    fn judge(&mut self, name: &str, finished: &Finished, requests: u64) -> Result<(), String> {
        if finished.stderr.contains("panicked") || !matches!(finished.code, Some(0 | 4)) {
            return Err(format!("exit code {:?}: {}", finished.code, finished.stderr));
        }
        if finished.stdout.is_empty() {
            return Err(format!("no document: {}", finished.stderr));
        }
        let document = partial_document(finished);
        if finished.code == Some(4) {
            return self.judge_timeout(name, &document);
        }
        if document["requests"] != requests || document["failure"] != json!(null) {
            return Err(format!("{} requests, {}", document["requests"], document["failure"]));
        }
        for command in document["commands"].as_array().ok_or("no commands")? {
            self.judge_command(command)?;
        }
        self.compare_with_server(&document)?;
        self.sort_in(name, &document);
        Ok(())
    }

    /// A blocking command that nobody serves.
    fn judge_timeout(&mut self, name: &str, document: &Value) -> Result<(), String> {
        let failure = document["failure"].as_str().ok_or("a code 4 without a failure")?;
        if !failure.contains("left a request unanswered") || document["timed_out"] == 0 {
            return Err(format!("{failure} {}", document["timed_out"]));
        }
        self.findings.timeouts.push(name.to_owned());
        Ok(())
    }

    /// What the server does not know must be reported as such, and nothing else.
    fn judge_command(&self, command: &Value) -> Result<(), String> {
        let name = command["command"].as_str().unwrap_or_default().to_lowercase();
        let requests = &command["requests"];
        let first_error = command["first_error"].as_str().unwrap_or_default();
        let is_rejected = first_error.starts_with("ERR unknown command");
        let is_unknown = !self.known.contains(&name) && *requests != 0;
        if is_rejected != is_unknown || is_unknown && command["errors"] != json!({"ERR": requests}) {
            return Err(format!("{name}: {} {first_error:?}", command["errors"]));
        }
        if command["errors"] == json!({}) && !first_error.is_empty() {
            return Err(format!("{name}: {first_error:?} without an error"));
        }
        Ok(())
    }

    fn compare_with_server(&self, document: &Value) -> Result<(), String> {
        let mut sent = BTreeMap::<String, u64>::new();
        let commands = document["commands"].as_array().ok_or("no commands")?;
        for command in commands {
            let name = command["command"].as_str().unwrap_or_default().to_lowercase();
            *sent.entry(name).or_default() += command["requests"].as_u64().ok_or("no count")?;
        }
        let counts = ServerCounts::read(&self.server);
        // Of what a script does, the server counts each part; of a transaction that is never ended, nothing.
        let is_apart = |name: &String| name.starts_with("eval") || name.starts_with("fcall") || name == "multi";
        if sent.keys().any(is_apart) {
            return Ok(());
        }
        for (name, count) in sent.iter().filter(|(name, _)| self.known.contains(*name)) {
            let received = counts.calls.get(name).copied().unwrap_or(0);
            if *count != received {
                return Err(format!("{name}: sent {count}, the server got {received}"));
            }
        }
        let sent = json!(counts.errors);
        if document["errors"] == sent { Ok(()) } else { Err(format!("errors {}, sent {sent}", document["errors"])) }
    }

    fn sort_in(&mut self, name: &str, document: &Value) {
        let commands = document["commands"].as_array().into_iter().flatten();
        let kinds: BTreeSet<String> =
            commands.filter_map(|command| command["first_error"].as_str()).map(kind).collect();
        for kind in kinds {
            self.findings.errors.entry(kind).or_default().push(name.to_owned());
        }
        if document["errors"] == json!({}) {
            if document["hits"] == 0 {
                self.findings.only_misses.push(name.to_owned());
            } else {
                self.findings.clean += 1;
            }
        }
    }
}

#[test]
fn every_command_line_runs_and_is_counted_as_the_server_does() {
    let Some(suites) = suites::all() else { return };
    let Some(server) = Real::start(&[]) else { return };
    let known = server.call(&["COMMAND", "LIST"]).lines().map(str::to_lowercase).collect();
    let mut runner = Runner { server, known, findings: Findings::default() };
    let started = Instant::now();
    for (name, suite) in &suites {
        runner.suite(name, suite);
    }
    let findings = runner.findings;
    findings.print(started);
    assert!(findings.faults.is_empty(), "{}", findings.faults.join("\n"));
    assert!(findings.lines > 0, "no command line of memtier_benchmark");
}
