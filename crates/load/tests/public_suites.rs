//! Each command line of the public test suites for `memtier_benchmark` is understood.
//!
//! The suites are those of <https://github.com/redis/redis-benchmarks-specification>; they are not part of this
//! repository. `ZEROLAP_PUBLIC_SUITES` names the directory that holds their files.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use support::settings::read;

/// What matters of a suite.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Suite {
    dbconfig: DatabaseConfig,
    clientconfig: Option<Tool>,
    clientconfigs: Vec<Tool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DatabaseConfig {
    preload_tool: Option<Tool>,
}

#[derive(Debug, Deserialize)]
struct Tool {
    tool: String,
    #[serde(default)]
    arguments: String,
}

impl Suite {
    /// The words that the suite gives to memtier, preload first.
    fn command_lines(self) -> Vec<Vec<String>> {
        let tools = self.dbconfig.preload_tool.into_iter().chain(self.clientconfig).chain(self.clientconfigs);
        let memtier = tools.filter(|tool| tool.tool == "memtier_benchmark");
        memtier.map(|tool| shlex::split(&tool.arguments).expect("words that a shell would split")).collect()
    }
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|end| end == "yml")).collect();
    files.sort();
    files
}

/// A warning without what differs from line to line.
fn kind(warning: &str) -> String {
    match warning.strip_prefix("--command-key-pattern of ").and_then(|rest| rest.split_once(' ')) {
        Some((_, rest)) => format!("--command-key-pattern of ... {rest}"),
        None if warning.starts_with('"') => "a word belongs to no argument and is ignored".to_owned(),
        None => warning.to_owned(),
    }
}

#[test]
fn every_command_line_is_understood() {
    let Some(directory) = std::env::var_os("ZEROLAP_PUBLIC_SUITES") else {
        println!("skipped: ZEROLAP_PUBLIC_SUITES does not name a directory with public test suites");
        return;
    };
    let (mut lines, mut kinds, mut refused) = (0, BTreeMap::<String, usize>::new(), Vec::new());
    for path in files(Path::new(&directory)) {
        let text = fs::read_to_string(&path).expect("a readable file");
        let suite: Suite = yaml_serde::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for words in suite.command_lines() {
            lines += 1;
            match read(&words.iter().map(String::as_str).collect::<Vec<&str>>()) {
                Err(error) => refused.push(format!("{}: {error}", path.display())),
                Ok(arguments) => {
                    for warning in arguments.report.warnings {
                        *kinds.entry(kind(&warning)).or_default() += 1;
                    }
                }
            }
        }
    }
    println!("{} of {lines} command lines are understood", lines - refused.len());
    for (kind, count) in kinds {
        println!("{count:6} {kind}");
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(lines > 0, "no command line of memtier_benchmark in {}", Path::new(&directory).display());
}
