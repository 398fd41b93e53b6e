//! What listeners were pushed.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::listener_tally::{ListenerTally, MessageKind};
use zerolap_load_requests::Settings;

/// All listeners together.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ListenersRecord {
    connections: usize,
    /// As they were given.
    commands: Vec<String>,
    /// By the server's words for them.
    messages: BTreeMap<&'static str, u64>,
    bytes: u64,
    messages_per_second: f64,
    /// Error replies after the command was confirmed, by code.
    errors: BTreeMap<String, u64>,
    disconnects: u64,
}

impl ListenersRecord {
    pub(super) fn new(settings: &Settings, tally: &ListenerTally) -> Self {
        let commands = settings.listening.iter().flat_map(|listening| &listening.commands);
        Self {
            connections: tally.connections,
            commands: commands.map(|command| command.line.clone()).collect(),
            messages: MessageKind::ALL.into_iter().map(|kind| (kind.name(), tally.messages(kind))).collect(),
            bytes: tally.bytes,
            messages_per_second: tally.per_second(),
            errors: tally.errors.list().iter().cloned().collect(),
            disconnects: tally.disconnects,
        }
    }
}
