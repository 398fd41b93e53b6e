//! Each command line of the public test suites for `memtier_benchmark` is understood.
//!
//! The suites are those of <https://github.com/redis/redis-benchmarks-specification>; they are not part of this
//! repository. `ZEROLAP_PUBLIC_SUITES` names the directory that holds their files.

use std::collections::BTreeMap;

use zerolap_load_arguments::{Invocation, parse};

use crate::support::suites;

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
    let Some(suites) = suites::all() else { return };
    let (mut lines, mut kinds, mut refused) = (0, BTreeMap::<String, usize>::new(), Vec::new());
    for (name, suite) in suites {
        for words in suite.preload().into_iter().chain(suite.clients()) {
            lines += 1;
            match parse(words.iter().map(Into::into)) {
                Ok(Invocation::Print(text)) => refused.push(format!("{name}: asked for a text: {text}")),
                Err(error) => refused.push(format!("{name}: {error}")),
                Ok(Invocation::Run(arguments)) => {
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
    assert!(lines > 0, "no command line of memtier_benchmark");
}
