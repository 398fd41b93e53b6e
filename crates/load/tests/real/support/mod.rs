//! A redis-server of the test's own, on a unix socket, and the program that puts load on it.

#[path = "../../support/certificates.rs"]
pub mod certificates;
pub mod client;
pub mod cluster;
#[path = "../../support/program.rs"]
pub mod program;
pub mod suites;

use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use client::Client;
use program::{Finished, run};

const LIMIT: Duration = Duration::from_secs(120);
/// Another program may take a free port before the server does.
const TRIES: usize = 5;

/// A running server; it ends when this is dropped.
pub struct Real {
    child: Child,
    directory: PathBuf,
    options: Vec<String>,
    /// Free ports that its options name, if it was started with such.
    pub ports: [u16; 2],
}

/// Why a server does not run.
enum Trouble {
    /// It cannot even be started.
    Missing(std::io::Error),
    /// It ended at once.
    Ended,
}

impl Real {
    /// Starts the redis-server of the PATH; none, with the reason printed, where there is none.
    pub fn start(options: &[&str]) -> Option<Self> {
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        Self::start_on_ports(|_| options.clone())
    }

    /// The same with options that name free ports.
    pub fn start_on_ports(options: impl Fn([u16; 2]) -> Vec<String>) -> Option<Self> {
        for _ in 0..TRIES {
            let ports = free_ports();
            match Self::try_start(options(ports), ports) {
                Ok(server) => return Some(server),
                Err(Trouble::Ended) => {}
                Err(Trouble::Missing(error)) => {
                    println!("skipped: redis-server cannot be started: {error}");
                    return None;
                }
            }
        }
        panic!("redis-server does not take {:?}", options([0, 0]))
    }

    fn try_start(options: Vec<String>, ports: [u16; 2]) -> Result<Self, Trouble> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("zerolap-load-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let child = spawn(&directory, &options).map_err(Trouble::Missing)?;
        let mut server = Self { child, directory, options, ports };
        if server.is_up() { Ok(server) } else { Err(Trouble::Ended) }
    }

    /// Waits until it listens; false if it has ended.
    fn is_up(&mut self) -> bool {
        let started = Instant::now();
        while UnixStream::connect(self.socket()).is_err() {
            if self.child.try_wait().expect("a status").is_some() {
                return false;
            }
            assert!(started.elapsed() < LIMIT, "the server does not listen");
            thread::sleep(Duration::from_millis(10));
        }
        true
    }

    /// Ends it as a crash would.
    pub fn kill(&mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("a status");
    }

    /// Starts it again, empty, where it was.
    pub fn restart(&mut self) {
        self.child = spawn(&self.directory, &self.options).expect("it could be started before");
        assert!(self.is_up(), "it does not start again");
    }

    pub fn socket(&self) -> String {
        self.directory.join("socket").display().to_string()
    }

    /// A connection of the test's own.
    pub fn client(&self) -> Client {
        Client::connect(&self.socket())
    }

    /// Sends one command; returns its reply as text.
    pub fn call(&self, words: &[&str]) -> String {
        self.client().call(words)
    }

    /// Sends a command of plain words; returns the first line of its reply.
    pub fn ask(&self, line: &str) -> String {
        self.client().ask(line)
    }

    /// The figure called `name` in a section of its INFO; none where there is none.
    pub fn figure(&self, section: &str, name: &str) -> Option<String> {
        let text = self.call(&["INFO", section]);
        let mut figures = text.lines().filter_map(|line| line.split_once(':'));
        figures.find(|(known, _)| *known == name).map(|(_, figure)| figure.to_owned())
    }

    /// How often the server carried a command out, failures included.
    pub fn calls(&self, command: &str) -> u64 {
        let figure = self.figure("commandstats", &format!("cmdstat_{command}")).unwrap_or_default();
        let calls = figure.split(',').find_map(|part| part.strip_prefix("calls="));
        calls.map_or(0, |calls| calls.parse().expect("a number"))
    }

    /// Waits until it has carried a command out so many times.
    pub fn wait_for_calls(&self, command: &str, calls: u64) {
        let started = Instant::now();
        while self.calls(command) < calls {
            assert!(started.elapsed() < LIMIT, "the server got no {calls} {command}");
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Runs the load generator against it, with the document on standard output.
    pub fn run(&self, arguments: &[&str]) -> Finished {
        let socket = self.socket();
        run(&[&["-S", &socket, "--json-out-file", "-"], arguments].concat())
    }

    /// The same; returns the document of a run that succeeds.
    pub fn load(&self, arguments: &[&str]) -> Value {
        self.run(arguments).document()
    }
}

fn spawn(directory: &Path, options: &[String]) -> std::io::Result<Child> {
    Command::new("redis-server")
        .args(["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket"])
        .arg(directory.join("socket"))
        .arg("--dir")
        .arg(directory)
        .args(options)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

/// Two ports that nobody listens on at the moment.
fn free_ports() -> [u16; 2] {
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
    listeners.map(|listener| listener.local_addr().expect("an address").port())
}

impl Drop for Real {
    fn drop(&mut self) {
        // Whatever is left is in a temporary directory.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// `--command` before each line.
pub fn commands<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    lines.iter().flat_map(|line| ["--command", line]).collect()
}

/// The part of the document that is not memtier's, also of a run that failed.
pub fn partial_document(finished: &Finished) -> Value {
    let document: Value = serde_json::from_str(&finished.stdout)
        .unwrap_or_else(|error| panic!("{error}: {:?} {}", finished.stdout, finished.stderr));
    document["lab"].clone()
}
