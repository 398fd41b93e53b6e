//! Connections that only read.

use zerolap_load_requests::{Credentials, ListenCommand, Listening, why_not_among_others};
use zerolap_resp::{Template, split_words};

use super::server::credentials;
use crate::UsageError;
use crate::draft::Draft;
use crate::needs::Need;
use crate::numbers::number;
use crate::table::{Argument, Preset, put};

/// A limit that keeps a typing error from exhausting the machine.
const MOST_LISTENERS: usize = 1_000_000;

pub(crate) static ARGUMENTS: &[Argument] = &[
    Argument::value(
        &["listen"],
        &[],
        "LINE",
        "open connections that send this command once, such as \"SUBSCRIBE __key__\", and then only read and count \
         pushed messages; __key__ is replaced by a different key of the range for each listener; may be repeated: \
         listeners take the lines in turn",
        |draft, text| {
            draft.listeners.lines.push(listen_line(text)?);
            Ok(())
        },
    )
    .own(),
    Argument::value(&["listeners"], &[], "NUMBER", "connections for --listen in total", |draft, text| {
        put(&mut draft.listeners.connections, number(text, 1..=MOST_LISTENERS))
    })
    .default("1")
    .needs(&[Need::Argument(&["listen"])])
    .own(),
    Argument::value(
        &["listen-authenticate"],
        &[],
        "PASSWORD|USER:PASSWORD",
        "credentials of listeners, instead of --authenticate; may be repeated: listeners take them in turn",
        |draft, text| {
            draft.listeners.credentials.push(credentials(text));
            Ok(())
        },
    )
    .needs(&[Need::Argument(&["listen"])])
    .own()
    .secret(),
    Argument::switch(&["listen-only"], &[], "send no requests: only listen, for --test-time", |draft| {
        draft.listeners.is_alone = true;
    })
    .own(),
];

/// What determines which requests are sent, and when.
const SENDING: [&str; 10] = [
    "requests",
    "rate",
    "rate-limiting",
    "search",
    "check",
    "prefill",
    "warm-up",
    "command",
    "ratio",
    "scan-incremental-iteration",
];

#[derive(Debug, Default)]
pub(crate) struct ListenersDraft {
    pub(crate) lines: Vec<String>,
    pub(crate) connections: Preset<usize>,
    pub(crate) credentials: Vec<Credentials>,
    pub(crate) is_alone: bool,
}

impl Draft {
    /// The listeners; none where there are none.
    pub(crate) fn listening(&mut self) -> Result<Option<Listening>, UsageError> {
        let ListenersDraft { lines, connections, credentials, is_alone } = std::mem::take(&mut self.listeners);
        if lines.is_empty() {
            if is_alone {
                return Err(UsageError::Conflict("--listen-only needs a --listen"));
            }
            return Ok(None);
        }
        if self.amount.control {
            return Err(UsageError::Conflict("--listen and --control exclude each other"));
        }
        if is_alone {
            self.expect_only_listening()?;
        }
        let commands = lines.into_iter().map(|line| self.listen_command(line)).collect::<Result<Vec<_>, _>>()?;
        let connections = *connections.get();
        self.warnings.without_effect(
            connections < commands.len(),
            "a --listen",
            &format!("there are {} of them for {connections} --listeners", commands.len()),
        );
        self.warnings.without_effect(
            connections < credentials.len(),
            "a --listen-authenticate",
            &format!("there are {} of them for {connections} --listeners", credentials.len()),
        );
        Ok(Some(Listening { commands, connections, credentials, is_alone }))
    }

    fn listen_command(&self, line: String) -> Result<ListenCommand, UsageError> {
        let words = split_words(line.as_bytes()).unwrap_or_default();
        let template = match Template::compile(line.as_bytes(), self.keys.prefix.get().as_bytes()) {
            Ok(template) => template,
            Err(source) => return Err(UsageError::Command { line, source }),
        };
        let command = ListenCommand { line, template, words: words.len() };
        // Messages are what a listener is for; it needs a first reply, and a connection that stays.
        let listens = command.confirmation().is_some() || command.template.command() == "MONITOR";
        match why_not_among_others(&words).filter(|_| !listens) {
            Some(reason) => {
                Err(UsageError::BadValue { name: "listen", value: command.line, reason: reason.to_owned() })
            }
            None => Ok(command),
        }
    }

    fn expect_only_listening(&self) -> Result<(), UsageError> {
        if self.given.has_any(&SENDING) {
            return Err(UsageError::Conflict(
                "with --listen-only nothing is sent: leave out --requests, --rate, --rate-limiting, --search, \
                 --check, --prefill, --warm-up, --command, --ratio and --scan-incremental-iteration",
            ));
        }
        if self.amount.test_time.is_none() {
            return Err(UsageError::Conflict("--listen-only needs --test-time: how long to listen"));
        }
        Ok(())
    }
}

/// A line for `--listen`.
fn listen_line(text: &str) -> Result<String, String> {
    let template = Template::compile(text.as_bytes(), b"").map_err(|error| error.to_string())?;
    if template.data_count() > 0 { Err("a listener has no __data__".to_owned()) } else { Ok(text.to_owned()) }
}
