//! What was given so far, and what it comes to.

use std::path::PathBuf;
use std::time::Duration;

use zerolap_resp::Template;

use super::{Arguments, Mode, UsageError};
use crate::{
    Amount, Command, Connecting, Credentials, DataSettings, DataSizes, Endpoint, KeyPattern, KeyRange, KeySettings,
    Plan, Policy, Protocol, ReportSettings, Server, Settings, Work,
};

/// Values as given; none where not.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) host: Option<String>,
    pub(super) port: Option<u16>,
    pub(super) unix_socket: Option<PathBuf>,
    pub(super) credentials: Option<Credentials>,
    pub(super) connect_timeout: Option<Duration>,
    pub(super) reply_timeout: Option<Duration>,
    pub(super) threads: Option<usize>,
    pub(super) clients: Option<usize>,
    pub(super) pipeline: Option<usize>,
    pub(super) lockstep: bool,
    pub(super) cpus: Vec<usize>,
    /// How much was asked for, by requests.
    pub(super) requests: Option<Amount>,
    pub(super) test_time: Option<Duration>,
    pub(super) control: bool,
    pub(super) commands: Vec<CommandDraft>,
    pub(super) ratio: Option<(u64, u64)>,
    pub(super) key_prefix: Option<String>,
    pub(super) key_minimum: Option<u64>,
    pub(super) key_maximum: Option<u64>,
    pub(super) data_size: Option<usize>,
    pub(super) random_data: bool,
    pub(super) seed: Option<u64>,
    pub(super) json_out_file: Option<String>,
}

/// One command, before its line is compiled.
#[derive(Debug)]
pub(super) struct CommandDraft {
    pub(super) line: String,
    pub(super) ratio: u64,
    pub(super) pattern: KeyPattern,
}

impl CommandDraft {
    pub(super) fn new(line: &str, ratio: u64) -> Self {
        Self { line: line.to_owned(), ratio, pattern: KeyPattern::Random }
    }
}

impl Draft {
    /// The command that was given last.
    pub(super) fn last_command(&mut self) -> Result<&mut CommandDraft, String> {
        self.commands.last_mut().ok_or_else(|| "it belongs to a --command, and none stands before it".to_owned())
    }

    /// Fills in what was not given, and looks for contradictions.
    pub(super) fn finish(mut self) -> Result<Arguments, UsageError> {
        let mode = self.mode()?;
        let endpoint = self.endpoint()?;
        let (minimum, maximum) = (self.key_minimum.unwrap_or(0), self.key_maximum.unwrap_or(10_000_000));
        let keys = KeyRange::new(minimum, maximum)
            .ok_or(UsageError::Conflict("--key-maximum must not be below --key-minimum"))?;
        let key_prefix = self.key_prefix.take().unwrap_or_else(|| "memtier-".to_owned());
        let settings = Settings {
            server: Server {
                endpoint,
                ip_version: None,
                credentials: self.credentials.take(),
                protocol: Protocol::AsIs,
                database: 0,
                tls: None,
                is_cluster: false,
            },
            connecting: Connecting {
                connect_timeout: self.connect_timeout.unwrap_or(Duration::from_secs(10)),
                reply_timeout: self.reply_timeout.unwrap_or(Duration::from_secs(30)),
                jitter: (Duration::ZERO, Duration::ZERO),
                reconnect_interval: None,
                reconnect_on_error: None,
            },
            commands: self.compile(&key_prefix)?,
            threads: self.threads.unwrap_or(4),
            clients: self.clients.unwrap_or(50),
            pipeline: self.pipeline.unwrap_or(1),
            lockstep: self.lockstep,
            keys: KeySettings {
                range: keys,
                prefix: key_prefix,
                median: None,
                standard_deviation: None,
                zipf_exponent: 1.0,
            },
            data: DataSettings { sizes: DataSizes::Fixed(self.data_size.unwrap_or(32)), random: self.random_data },
            seed: self.seed.unwrap_or(1),
            one_stream: false,
            policy: Policy::Lab,
            scan: None,
            cpus: self.cpus,
            timeline: !self.control,
        };
        let report = ReportSettings { json_out_file: self.json_out_file, ..ReportSettings::default() };
        Ok(Arguments { settings, mode, report })
    }

    fn mode(&self) -> Result<Mode, UsageError> {
        match (self.control, self.requests, self.test_time) {
            (true, None, None) => Ok(Mode::Control),
            (true, ..) => Err(UsageError::Conflict(
                "with --control each slice says how many requests: \
                                                    leave out --requests and --test-time",
            )),
            (false, Some(_), Some(_)) => Err(UsageError::Conflict("--requests and --test-time exclude each other")),
            (false, None, Some(time)) => Ok(Mode::Once(Plan::only(Work::unpaced(Amount::For(time))))),
            (false, requests, None) => {
                Ok(Mode::Once(Plan::only(Work::unpaced(requests.unwrap_or(Amount::PerConnection(10_000))))))
            }
        }
    }

    fn endpoint(&mut self) -> Result<Endpoint, UsageError> {
        match (self.unix_socket.take(), self.host.take(), self.port) {
            (Some(path), None, None) => Ok(Endpoint::Unix(path)),
            (Some(_), ..) => Err(UsageError::Conflict("--unix-socket excludes --server and --port")),
            (None, host, port) => {
                let host = host.unwrap_or_else(|| "localhost".to_owned());
                Ok(Endpoint::Tcp { host, port: port.unwrap_or(6379) })
            }
        }
    }

    /// Compiles the commands; SET and GET if none was given.
    fn compile(&mut self, key_prefix: &str) -> Result<Vec<Command>, UsageError> {
        let mut commands = std::mem::take(&mut self.commands);
        let is_default = commands.is_empty();
        if is_default {
            let (sets, gets) = self.ratio.unwrap_or((1, 10));
            commands.push(CommandDraft::new("SET __key__ __data__", sets));
            commands.push(CommandDraft::new("GET __key__", gets));
        } else if self.ratio.is_some() {
            return Err(UsageError::Conflict(
                "--ratio is for the default commands; use --command-ratio with --command",
            ));
        }
        let compile = |command: CommandDraft| match Template::compile(command.line.as_bytes(), key_prefix.as_bytes()) {
            Ok(template) => {
                Ok(Command { line: command.line, template, ratio: command.ratio, pattern: command.pattern, is_default })
            }
            Err(source) => Err(UsageError::Command { line: command.line, source }),
        };
        commands.into_iter().map(compile).collect()
    }
}
