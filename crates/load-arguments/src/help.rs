//! The help text, from the table.

use super::table::{Action, Argument, SECTIONS, refused};

const INTRODUCTION: &str = "\
zerolap-load: sends commands to a server that speaks the Redis protocol, and measures the replies

Usage: zerolap-load [ARGUMENT...]

The arguments are those of memtier_benchmark and more. Long names may be abbreviated if unambiguous; if a
value is given twice, the last one is used. An argument without effect causes a warning, contradictory
arguments an error.
";

const EXAMPLES: &str = r#"
Examples:
  Write each key from 1 to 1000000 once, over 20 connections:
    zerolap-load -t 2 -c 10 -n allkeys --pipeline 50 --key-minimum 1 --key-maximum 1000000 \
      --command "SET __key__ __data__" --command-key-pattern P
  Read random keys for 10 seconds, result as JSON:
    zerolap-load -S /run/redis.sock -t 1 -c 20 --test-time 10 --key-minimum 1 --key-maximum 1000000 \
      --command "GET __key__" --json-out-file result.json
  Two commands, the second three times as often:
    zerolap-load --command "LPUSH l:__key__ __data__" --command "LRANGE l:__key__ 0 9" --command-ratio 3
  50000 requests a second, due at random times regardless of replies; the first 5 seconds are not measured:
    zerolap-load -t 2 -c 50 --rate 50000 --arrivals poisson --warm-up 5 --test-time 60 --command "GET __key__"
  Values of 100 to 2000 random bytes, with most reads of few keys:
    zerolap-load --prefill --ratio 1:20 --key-maximum 100000 --key-pattern R:Z --data-size-range 100-2000 -R
  Encrypted, with user and password:
    zerolap-load -u rediss://bob:secret@db.example:6380 --cacert authority.pem --command "PING"
  The highest rate at which 99 % of the responses take less than a millisecond:
    zerolap-load -t 2 -c 50 --search "slo=p99<1ms" --rate 10000 --command "GET __key__"
  A cluster, given by one of its nodes:
    zerolap-load -s 10.0.0.1 -p 7000 --cluster-mode --ratio 1:1
  The same keys and amounts as memtier_benchmark with these arguments:
    zerolap-load --compat -n allkeys --ratio 1:0 --key-pattern P:P --key-minimum 1 --key-maximum 1000000
  Slices driven by another program:
    echo '{"do":"slice","requests":1000}' | zerolap-load -t 1 -c 1 --control --command "PING"

Exit codes: 0 success; 2 wrong usage; 3 missing prerequisite on this machine; 4 no connection, or a lost one;
  5 no rate satisfies --search; 130 interrupted
"#;

/// Columns before the explanations.
const INDENT: usize = 33;
/// Columns of a line.
const WIDTH: usize = 110;

pub(super) fn version() -> String {
    format!("zerolap-load {}\n", env!("CARGO_PKG_VERSION"))
}

pub(super) fn text() -> String {
    let mut text = INTRODUCTION.to_owned();
    for section in &SECTIONS {
        text.extend(["\n", section.title, ":\n"]);
        for argument in section.arguments {
            push_argument(&mut text, argument);
        }
    }
    text.push_str("\nArguments of memtier_benchmark that are not supported:\n");
    let names: Vec<String> = refused().iter().map(|argument| format!("--{}", argument.long[0])).collect();
    push_wrapped(&mut text, "", &names.join(", "), 2);
    text + EXAMPLES
}

fn push_argument(text: &mut String, argument: &Argument) {
    let short = argument.short.iter().map(|letter| format!("-{letter}"));
    let long = argument.long.iter().map(|name| format!("--{name}"));
    let names = short.chain(long).collect::<Vec<String>>().join(", ");
    let margin = if argument.short.is_empty() { "      " } else { "  " };
    let value = if let Action::Value { called, .. } = argument.action { called } else { "" };
    let mut line = format!("{margin}{names} {value}").trim_end().to_owned();
    if line.len() >= INDENT {
        text.extend([&line, "\n"]);
        line.clear();
    }
    let default = argument.default.map(|value| format!(" (default {value})"));
    push_wrapped(text, &line, &format!("{}{}", argument.help, default.unwrap_or_default()), INDENT);
}

/// Appends `words` after `start`, each line from column `indent` on.
fn push_wrapped(text: &mut String, start: &str, words: &str, indent: usize) {
    let mut line = format!("{start:indent$}");
    for word in words.split(' ') {
        if line.len() + word.len() > WIDTH {
            text.extend([line.trim_end(), "\n"]);
            line = " ".repeat(indent);
        }
        line.push_str(word);
        line.push(' ');
    }
    text.extend([line.trim_end(), "\n"]);
}

#[cfg(test)]
mod tests {
    use super::{WIDTH, text};
    use crate::{Invocation, parse};

    #[test]
    fn lines_fit() {
        for line in text().lines().filter(|line| !line.trim_start().starts_with("echo")) {
            assert!(line.len() <= WIDTH + 10, "{line}");
        }
    }

    #[test]
    fn every_example_is_understood_without_a_warning() {
        let text = text().replace("\\\n", " ");
        let examples: Vec<&str> =
            text.lines().filter_map(|line| line.split_once("    zerolap-load ")).map(|(_, rest)| rest).collect();
        assert_eq!(examples.len(), 9);
        for example in examples {
            let words = zerolap_resp::split_words(example.as_bytes()).expect("words");
            let words = words.into_iter().map(|word| String::from_utf8(word).expect("UTF-8").into());
            match parse(words) {
                Ok(Invocation::Run(arguments)) => assert!(arguments.report.warnings.is_empty(), "{example}"),
                other => panic!("{example}: {other:?}"),
            }
        }
    }
}
