//! Connections that only read.

use zerolap_load_requests::{Credentials, ListenCommand, Listening};
use zerolap_resp::{Template, split_words};

use super::server::credentials;
use crate::UsageError;
use crate::draft::Draft;
use crate::numbers::number;
use crate::table::{Argument, put};

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
    Argument::value(&["listeners"], &[], "NUMBER", "connections for --listen in total (default 1)", |draft, text| {
        put(&mut draft.listeners.connections, number(text, 1..=MOST_LISTENERS))
    })
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
    .own()
    .secret(),
    Argument::switch(&["listen-only"], &[], "send no requests: only listen, for --test-time", |draft| {
        draft.listeners.is_alone = true;
    })
    .own(),
];

#[derive(Debug, Default)]
pub(crate) struct ListenersDraft {
    pub(crate) lines: Vec<String>,
    pub(crate) connections: Option<usize>,
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
            let reason = "--listen is not given";
            self.warnings.without_effect(connections.is_some(), "--listeners", reason);
            self.warnings.without_effect(!credentials.is_empty(), "--listen-authenticate", reason);
            return Ok(None);
        }
        if self.amount.control {
            return Err(UsageError::Conflict("--listen and --control exclude each other"));
        }
        if is_alone {
            self.expect_nothing_is_sent()?;
        }
        let commands = lines.into_iter().map(|line| self.listen_command(line)).collect::<Result<Vec<_>, _>>()?;
        let connections = connections.unwrap_or(1);
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
        let words = split_words(line.as_bytes()).unwrap_or_default().len();
        match Template::compile(line.as_bytes(), self.keys.prefix().as_bytes()) {
            Ok(template) => Ok(ListenCommand { line, template, words }),
            Err(source) => Err(UsageError::Command { line, source }),
        }
    }

    fn expect_nothing_is_sent(&mut self) -> Result<(), UsageError> {
        let amount = &self.amount;
        let has_phases = amount.check || amount.prefill || amount.warm_up.is_some();
        let has_pace = amount.search.is_some() || amount.rate.is_some() || amount.rate_limiting.is_some();
        let has_commands = !self.commands.given.is_empty() || self.commands.ratio.is_some() || self.commands.scan;
        if amount.requests.is_some() || has_phases || has_pace || has_commands {
            return Err(UsageError::Conflict(
                "with --listen-only nothing is sent: leave out --requests, --rate, --rate-limiting, --search, \
                 --check, --prefill, --warm-up, --command and --ratio",
            ));
        }
        if amount.test_time.is_none() {
            return Err(UsageError::Conflict("--listen-only needs --test-time: how long to listen"));
        }
        let connections = &self.connections;
        let given = [
            (connections.threads.is_some(), "--threads"),
            (connections.clients.is_some(), "--clients"),
            (connections.pipeline.is_some(), "--pipeline"),
        ];
        for (is_given, argument) in given {
            self.warnings.without_effect(is_given, argument, "with --listen-only nothing is sent");
        }
        Ok(())
    }
}

/// Whether what listeners send holds keys.
pub(crate) fn draws_keys(listening: Option<&Listening>) -> bool {
    listening.is_some_and(|listening| listening.commands.iter().any(|command| command.template.key_count() > 0))
}

/// A line for `--listen`.
fn listen_line(text: &str) -> Result<String, String> {
    let template = Template::compile(text.as_bytes(), b"").map_err(|error| error.to_string())?;
    if template.data_count() > 0 { Err("a listener has no __data__".to_owned()) } else { Ok(text.to_owned()) }
}
