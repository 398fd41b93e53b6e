//! Suites of <https://github.com/redis/redis-benchmarks-specification>.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// Most requests of each of two connections of a command line that is made short.
const MOST_REQUESTS: u64 = 100;
/// Blocking commands take so long where nobody serves them.
const REPLY_TIMEOUT_SECONDS: &str = "2";

/// What matters of a suite.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Suite {
    #[serde(rename = "redis-topologies")]
    topologies: Vec<String>,
    dbconfig: DatabaseConfig,
    clientconfig: Option<Tool>,
    clientconfigs: Vec<Tool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DatabaseConfig {
    preload_tool: Option<Tool>,
    init_commands: Option<InitCommands>,
}

#[derive(Debug, Deserialize)]
struct Tool {
    tool: String,
    #[serde(default)]
    arguments: String,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum InitCommands {
    Line(String),
    Lines(Vec<InitCommand>),
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum InitCommand {
    Line(String),
    Words(Vec<String>),
}

impl Suite {
    /// Whether it is also for a cluster.
    pub fn is_for_cluster(&self) -> bool {
        self.topologies.iter().any(|topology| topology.starts_with("oss-cluster"))
    }

    /// The words that the suite gives to memtier before the measurement.
    pub fn preload(&self) -> Option<Vec<String>> {
        self.dbconfig.preload_tool.as_ref().and_then(Tool::words)
    }

    /// Commands between the two.
    pub fn init_commands(&self) -> Vec<Vec<String>> {
        let split = |line: &String| shlex::split(line).expect("words that a shell would split");
        match &self.dbconfig.init_commands {
            None => Vec::new(),
            // Of a line that is no list, the harness would send each character.
            Some(InitCommands::Line(line)) => vec![split(line)],
            Some(InitCommands::Lines(lines)) => {
                let words = lines.iter().map(|line| match line {
                    InitCommand::Line(line) => split(line),
                    InitCommand::Words(words) => words.clone(),
                });
                words.collect()
            }
        }
    }

    /// The words that it gives to memtier for the measurement.
    pub fn clients(&self) -> Vec<Vec<String>> {
        self.clientconfig.iter().chain(&self.clientconfigs).filter_map(Tool::words).collect()
    }
}

impl Tool {
    fn words(&self) -> Option<Vec<String>> {
        let is_ours = self.tool == "memtier_benchmark";
        is_ours.then(|| shlex::split(&self.arguments).expect("words that a shell would split"))
    }
}

/// A command line of a suite, made short.
pub struct Shortened {
    words: Vec<String>,
    /// What it sends.
    pub requests: u64,
}

impl Shortened {
    pub fn new(words: &[String]) -> Self {
        let (mut short, mut each) = (Vec::new(), MOST_REQUESTS);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let (name, value) = word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
            match name {
                // Time and requests exclude each other; at a request a second, 200 would take too long.
                "--test-time" | "--rate-limiting" | "-n" | "--requests" => {
                    let value = value.or_else(|| words.next().map(String::as_str));
                    let number = value.filter(|_| !name.starts_with("--t") && !name.starts_with("--ra"));
                    each = number.and_then(|text| text.parse().ok()).unwrap_or(each).min(each);
                }
                _ => short.push(word.clone()),
            }
        }
        let count = each.to_string();
        let more = ["-t", "1", "-c", "2", "-n", &count, "--reply-timeout", REPLY_TIMEOUT_SECONDS];
        short.extend(more.map(str::to_owned));
        Self { words: short, requests: 2 * each }
    }

    pub fn words(&self) -> Vec<&str> {
        self.words.iter().map(String::as_str).collect()
    }
}

/// All suites with their names; none, with the reason printed, where their directory is not given.
pub fn all() -> Option<Vec<(String, Suite)>> {
    let Some(directory) = std::env::var_os("ZEROLAP_PUBLIC_SUITES").filter(|named| !named.is_empty()) else {
        println!("skipped: ZEROLAP_PUBLIC_SUITES does not name a directory with public test suites");
        return None;
    };
    let suites = files(Path::new(&directory)).into_iter().map(|path| {
        let text = fs::read_to_string(&path).expect("a readable file");
        let suite = yaml_serde::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        (name, suite)
    });
    Some(suites.collect())
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|end| end == "yml")).collect();
    files.sort();
    files
}
