//! What a run was made with.

use serde::Serialize;

use zerolap_load_requests::Settings;

/// The settings, without the password.
#[derive(Debug, Clone, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting")]
pub struct SettingsRecord {
    endpoint: String,
    user: Option<String>,
    authenticated: bool,
    protocol: &'static str,
    database: u32,
    tls: bool,
    cluster: bool,
    replica_reads: bool,
    threads: usize,
    clients: usize,
    connections: usize,
    /// Connections that only read.
    listeners: usize,
    pipeline: usize,
    lockstep: bool,
    busy_poll: bool,
    commands: Vec<CommandSettingsRecord>,
    key_prefix: String,
    key_minimum: u64,
    key_maximum: u64,
    /// The longest.
    data_size: usize,
    random_data: bool,
    seed: u64,
    one_stream: bool,
    cpus: Vec<usize>,
    connect_timeout_seconds: f64,
    reply_timeout_seconds: f64,
}

#[derive(Debug, Clone, Serialize)]
struct CommandSettingsRecord {
    line: String,
    /// Its first word, in upper case.
    name: String,
    /// How many `__key__` it has.
    keys: usize,
    ratio: u64,
    key_pattern: char,
}

impl SettingsRecord {
    /// The record of these settings.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let commands = settings.commands.iter().map(|command| CommandSettingsRecord {
            line: command.line.clone(),
            name: command.template.command().to_ascii_uppercase(),
            keys: command.template.key_count(),
            ratio: command.ratio,
            key_pattern: command.pattern.letter(),
        });
        Self {
            endpoint: settings.server.endpoint.to_string(),
            user: settings.server.credentials.as_ref().and_then(|credentials| credentials.user.clone()),
            authenticated: settings.server.credentials.is_some(),
            protocol: settings.server.protocol.name(),
            database: settings.server.database,
            tls: settings.server.tls.is_some(),
            cluster: settings.server.is_cluster,
            replica_reads: settings.server.replica_reads,
            threads: settings.threads,
            clients: settings.clients,
            connections: if is_only_listening(settings) { 0 } else { settings.connections() },
            listeners: settings.listening.as_ref().map_or(0, |listening| listening.connections),
            pipeline: settings.pipeline,
            lockstep: settings.lockstep,
            busy_poll: settings.busy_poll,
            commands: commands.collect(),
            key_prefix: settings.keys.prefix.clone(),
            key_minimum: settings.keys.range.minimum(),
            key_maximum: settings.keys.range.maximum(),
            data_size: settings.data.sizes.maximum(),
            random_data: settings.data.random,
            seed: settings.seed,
            one_stream: settings.one_stream,
            cpus: settings.cpus.clone(),
            connect_timeout_seconds: settings.connecting.connect_timeout.as_secs_f64(),
            reply_timeout_seconds: settings.connecting.reply_timeout.as_secs_f64(),
        }
    }
}

fn is_only_listening(settings: &Settings) -> bool {
    settings.listening.as_ref().is_some_and(|listening| listening.is_alone)
}
