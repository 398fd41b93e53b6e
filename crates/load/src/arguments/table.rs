//! All arguments: their names, their help and what they do. `--help` and `--version` are understood beside it.

use std::path::PathBuf;

use super::draft::{CommandDraft, Draft};
use super::values::{credentials, key_pattern, number, ratio, seconds};
use crate::cpus::parse_cpus;

/// Limits that keep a typing error from exhausting the machine.
const MOST_THREADS: usize = 1024;
const MOST_CLIENTS: usize = 1_000_000;
const MOST_IN_FLIGHT: usize = 1_000_000;
/// The longest value that a server takes by default.
const MOST_DATA_BYTES: usize = 512 * 1024 * 1024;

/// One argument.
pub(super) struct Argument {
    /// Heading in the help.
    pub(super) section: Section,
    /// Names without dashes; the first is the one in messages.
    pub(super) long: &'static [&'static str],
    pub(super) short: &'static [char],
    /// What its value is called in the help; none for a switch.
    pub(super) value: Option<&'static str>,
    pub(super) help: &'static str,
    /// Takes the value (empty for a switch) into the draft, or says what is wrong with it.
    pub(super) apply: fn(&mut Draft, &str) -> Result<(), String>,
}

/// Headings of the help, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Server,
    Amount,
    Commands,
    Output,
}

impl Section {
    pub(super) const ALL: [(Self, &'static str); 4] = [
        (Self::Server, "Server"),
        (Self::Amount, "How much, and how"),
        (Self::Commands, "Commands, keys and values"),
        (Self::Output, "Output"),
    ];
}

/// Shortens the rows below.
const fn row(
    section: Section,
    long: &'static [&'static str],
    short: &'static [char],
    value: Option<&'static str>,
    help: &'static str,
    apply: fn(&mut Draft, &str) -> Result<(), String>,
) -> Argument {
    Argument { section, long, short, value, help, apply }
}

/// Takes a value into a field that may be absent.
fn put<T>(field: &mut Option<T>, value: Result<T, String>) -> Result<(), String> {
    *field = Some(value?);
    Ok(())
}

/// Turns a switch on.
#[expect(clippy::unnecessary_wraps, reason = "rows return what can fail")]
fn switch(field: &mut bool) -> Result<(), String> {
    *field = true;
    Ok(())
}

use Section::{Amount, Commands, Output, Server};

pub(super) static ARGUMENTS: &[Argument] = &[
    row(
        Server,
        &["server", "host"],
        &['s', 'h'],
        Some("HOST"),
        "name or address (default localhost)",
        |draft, text| put(&mut draft.host, Ok(text.to_owned())),
    ),
    row(Server, &["port"], &['p'], Some("PORT"), "TCP port (default 6379)", |draft, text| {
        put(&mut draft.port, number(text, 1..=u16::MAX))
    }),
    row(Server, &["unix-socket"], &['S'], Some("PATH"), "unix socket, in place of host and port", |draft, text| {
        put(&mut draft.unix_socket, Ok(PathBuf::from(text)))
    }),
    row(
        Server,
        &["authenticate"],
        &['a'],
        Some("PASSWORD|USER:PASSWORD"),
        "authenticate; a password that holds a colon is written :PASSWORD",
        |draft, text| put(&mut draft.credentials, Ok(credentials(text))),
    ),
    row(
        Server,
        &["connect-timeout"],
        &[],
        Some("SECONDS"),
        "longest wait for a connection (default 10)",
        |draft, text| put(&mut draft.connect_timeout, seconds(text)),
    ),
    row(
        Server,
        &["reply-timeout"],
        &[],
        Some("SECONDS"),
        "longest wait for a reply (default 30); a silent server ends the run with exit code 4",
        |draft, text| put(&mut draft.reply_timeout, seconds(text)),
    ),
    row(Amount, &["threads"], &['t'], Some("NUMBER"), "threads (default 4)", |draft, text| {
        put(&mut draft.threads, number(text, 1..=MOST_THREADS))
    }),
    row(Amount, &["clients"], &['c'], Some("NUMBER"), "connections of each thread (default 50)", |draft, text| {
        put(&mut draft.clients, number(text, 1..=MOST_CLIENTS))
    }),
    row(
        Amount,
        &["requests"],
        &['n'],
        Some("NUMBER|allkeys"),
        "requests of each connection (default 10000); allkeys: as many as there are keys, and with pattern P each \
         key once over all connections",
        |draft, text| {
            let work = if text == "allkeys" {
                Ok(crate::Amount::AllKeys)
            } else {
                number(text, 1..=u64::MAX).map(crate::Amount::PerConnection)
            };
            put(&mut draft.requests, work)
        },
    ),
    row(Amount, &["test-time"], &[], Some("SECONDS"), "send for so long, in place of --requests", |draft, text| {
        put(&mut draft.test_time, seconds(text))
    }),
    row(
        Amount,
        &["pipeline"],
        &[],
        Some("NUMBER"),
        "most requests in flight on a connection (default 1), refilled as replies arrive",
        |draft, text| put(&mut draft.pipeline, number(text, 1..=MOST_IN_FLIGHT)),
    ),
    row(
        Amount,
        &["lockstep"],
        &[],
        None,
        "send a whole pipeline in one write and wait for all its replies before the next",
        |draft, _| switch(&mut draft.lockstep),
    ),
    row(
        Amount,
        &["cpus"],
        &[],
        Some("LIST"),
        "pin the threads to these processors in turn, such as 0,2,4-7",
        |draft, text| {
            draft.cpus = parse_cpus(text)?;
            Ok(())
        },
    ),
    row(
        Amount,
        &["control"],
        &[],
        None,
        "connect, then take JSON lines from standard input: {\"do\":\"slice\",\"requests\":N} sends N requests in \
         total and prints the result as a line, {\"do\":\"stop\"} ends",
        |draft, _| switch(&mut draft.control),
    ),
    row(
        Commands,
        &["command"],
        &[],
        Some("LINE"),
        "a command to send, quoted as in redis-cli; __key__ in an argument stands for a key, __data__ as an argument \
         for a value; repeat it for more commands (default: SET __key__ __data__ and GET __key__)",
        |draft, text| {
            draft.commands.push(CommandDraft::new(text, 1));
            Ok(())
        },
    ),
    row(
        Commands,
        &["command-ratio"],
        &[],
        Some("NUMBER"),
        "how many times the last --command is sent in its turn (default 1)",
        |draft, text| {
            draft.last_command()?.ratio = number(text, 1..=u64::MAX)?;
            Ok(())
        },
    ),
    row(
        Commands,
        &["command-key-pattern"],
        &[],
        Some("R|S|P"),
        "keys of the last --command: R random (default), S each connection walks the range, P the range is split among \
         all connections",
        |draft, text| {
            draft.last_command()?.pattern = key_pattern(text)?;
            Ok(())
        },
    ),
    row(Commands, &["ratio"], &[], Some("SETS:GETS"), "of the default commands (default 1:10)", |draft, text| {
        put(&mut draft.ratio, ratio(text))
    }),
    row(
        Commands,
        &["key-prefix"],
        &[],
        Some("TEXT"),
        "text before a key's number (default memtier-)",
        |draft, text| put(&mut draft.key_prefix, Ok(text.to_owned())),
    ),
    row(Commands, &["key-minimum"], &[], Some("NUMBER"), "first key (default 0)", |draft, text| {
        put(&mut draft.key_minimum, number(text, 0..=u64::MAX - 1))
    }),
    row(Commands, &["key-maximum"], &[], Some("NUMBER"), "last key (default 10000000)", |draft, text| {
        put(&mut draft.key_maximum, number(text, 0..=u64::MAX - 1))
    }),
    row(Commands, &["data-size"], &['d'], Some("BYTES"), "bytes of a value (default 32)", |draft, text| {
        put(&mut draft.data_size, number(text, 1..=MOST_DATA_BYTES))
    }),
    row(Commands, &["random-data"], &['R'], None, "values are random bytes (default: all x)", |draft, _| {
        switch(&mut draft.random_data)
    }),
    row(Commands, &["seed"], &[], Some("NUMBER"), "where all random numbers come from (default 1)", |draft, text| {
        put(&mut draft.seed, number(text, 0..=u64::MAX))
    }),
    row(
        Output,
        &["json-out-file"],
        &[],
        Some("FILE|-"),
        "write settings and result as JSON; with - to standard output, and the summary to standard error",
        |draft, text| put(&mut draft.json_out_file, Ok(text.to_owned())),
    ),
    row(Output, &["hide-histogram"], &[], None, "accepted for memtier's sake: the summary has no histogram", |_, _| {
        Ok(())
    }),
];
