//! The whole document of a run.

use serde::Serialize;

use super::ResultRecord;
use crate::{Outcome, Settings};

/// Name and version of the document's form.
pub const SCHEMA: &str = "zerolap.load/1";

/// A result with what it was made with.
#[derive(Debug, Clone, Serialize)]
pub struct Document {
    schema: &'static str,
    settings: SettingsRecord,
    #[serde(flatten)]
    result: ResultRecord,
}

/// The settings, without the password.
#[derive(Debug, Clone, Serialize)]
struct SettingsRecord {
    endpoint: String,
    user: Option<String>,
    authenticated: bool,
    threads: usize,
    clients: usize,
    connections: usize,
    pipeline: usize,
    lockstep: bool,
    commands: Vec<CommandSettingsRecord>,
    key_prefix: String,
    key_minimum: u64,
    key_maximum: u64,
    data_size: usize,
    random_data: bool,
    seed: u64,
    cpus: Vec<usize>,
    connect_timeout_seconds: f64,
    reply_timeout_seconds: f64,
}

#[derive(Debug, Clone, Serialize)]
struct CommandSettingsRecord {
    line: String,
    ratio: u64,
    key_pattern: char,
}

impl Document {
    /// The document of one outcome.
    #[must_use]
    pub fn new(settings: &Settings, outcome: &Outcome) -> Self {
        let result = ResultRecord::new(&settings.commands, outcome);
        Self { schema: SCHEMA, settings: SettingsRecord::new(settings), result }
    }
}

impl SettingsRecord {
    fn new(settings: &Settings) -> Self {
        let commands = settings.commands.iter().map(|command| CommandSettingsRecord {
            line: command.line.clone(),
            ratio: command.ratio,
            key_pattern: command.pattern.letter(),
        });
        Self {
            endpoint: settings.server.endpoint.to_string(),
            user: settings.server.credentials.as_ref().and_then(|credentials| credentials.user.clone()),
            authenticated: settings.server.credentials.is_some(),
            threads: settings.threads,
            clients: settings.clients,
            connections: settings.connections(),
            pipeline: settings.pipeline,
            lockstep: settings.lockstep,
            commands: commands.collect(),
            key_prefix: settings.keys.prefix.clone(),
            key_minimum: settings.keys.range.minimum(),
            key_maximum: settings.keys.range.maximum(),
            data_size: settings.data.sizes.maximum(),
            random_data: settings.data.random,
            seed: settings.seed,
            cpus: settings.cpus.clone(),
            connect_timeout_seconds: settings.connecting.connect_timeout.as_secs_f64(),
            reply_timeout_seconds: settings.connecting.reply_timeout.as_secs_f64(),
        }
    }
}
