//! The help text, from the table.

use super::table::{ARGUMENTS, Argument, Section};

const INTRODUCTION: &str = "\
zerolap-load: sends commands to a server that speaks the Redis protocol, and measures the replies

Usage: zerolap-load [ARGUMENT...]
";

const CONCLUSION: &str = r#"
Other:
      --help                     this text (-h is the host)
  -v, --version                  the program's version

Examples:
  Write each key from 1 to 1000000 once, over 20 connections:
    zerolap-load -t 2 -c 10 -n allkeys --pipeline 50 --key-minimum 1 --key-maximum 1000000 \
      --command "SET __key__ __data__" --command-key-pattern P
  Read random keys for 10 seconds, result as JSON:
    zerolap-load -S /run/redis.sock -t 1 -c 20 --test-time 10 --key-minimum 1 --key-maximum 1000000 \
      --command "GET __key__" --json-out-file result.json
  Two commands, the second three times as often:
    zerolap-load --command "LPUSH l:__key__ __data__" --command "LRANGE l:__key__ 0 9" --command-ratio 3
  Step by step, driven by another program:
    echo '{"do":"slice","requests":1000}' | zerolap-load -t 1 -c 1 --control --command "PING"

Exit codes: 0 done; 2 wrong usage; 3 the environment cannot do it; 4 a connection cannot be had or does not hold
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
    for (section, title) in Section::ALL {
        text.extend(["\n", title, ":\n"]);
        for argument in ARGUMENTS.iter().filter(|argument| argument.section == section) {
            push_argument(&mut text, argument);
        }
    }
    text + CONCLUSION
}

fn push_argument(text: &mut String, argument: &Argument) {
    let short = argument.short.iter().map(|letter| format!("-{letter}"));
    let long = argument.long.iter().map(|name| format!("--{name}"));
    let names = short.chain(long).collect::<Vec<String>>().join(", ");
    let margin = if argument.short.is_empty() { "      " } else { "  " };
    let mut line = format!("{margin}{names} {}", argument.value.unwrap_or_default()).trim_end().to_owned();
    if line.len() >= INDENT {
        text.extend([&line, "\n"]);
        line.clear();
    }
    line = format!("{line:INDENT$}");
    for word in argument.help.split(' ') {
        if line.len() + word.len() > WIDTH {
            text.extend([line.trim_end(), "\n"]);
            line = " ".repeat(INDENT);
        }
        line.push_str(word);
        line.push(' ');
    }
    text.extend([line.trim_end(), "\n"]);
}
