//! What was given so far, and what it comes to.

use std::time::Duration;

use super::groups::amount::AmountDraft;
use super::groups::commands::CommandsDraft;
use super::groups::connections::ConnectionsDraft;
use super::groups::keys::ChanceDraft;
use super::groups::keys::KeysDraft;
use super::groups::listeners::ListenersDraft;
use super::groups::output::OutputDraft;
use super::groups::recordings::settle_databases;
use super::groups::server::ServerDraft;
use super::groups::values::DataDraft;
use super::needs::{CommandLine, Given};
use super::warnings::Warnings;
use super::{Arguments, Mode, UsageError};
use zerolap_load_requests::{Command, Settings, Source};

/// Length of a slot of the timeline where none is given.
const USUAL_SLOT: Duration = Duration::from_millis(100);

/// Values as given, by section of the table; the table's defaults, or none, where not.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) given: Given,
    pub(super) server: ServerDraft,
    pub(super) connections: ConnectionsDraft,
    pub(super) amount: AmountDraft,
    pub(super) commands: CommandsDraft,
    pub(super) keys: KeysDraft,
    pub(super) data: DataDraft,
    pub(super) chance: ChanceDraft,
    pub(super) listeners: ListenersDraft,
    pub(super) output: OutputDraft,
    pub(super) warnings: Warnings,
}

impl Draft {
    /// Puts the sections together, and looks for contradictions and for what has no effect.
    pub(super) fn finish(mut self) -> Result<Arguments, UsageError> {
        let listening = self.listening()?;
        let sends = !listening.as_ref().is_some_and(|listening| listening.is_alone);
        let Self { given, server, connections, amount, commands, keys, data, chance, output, mut warnings, .. } = self;
        let (threads, clients) = if sends { (*connections.threads.get(), *connections.clients.get()) } else { (0, 0) };
        let mode = amount.finish(&given, threads * clients)?;
        let (seed, one_stream, policy) = chance.finish(&given)?;
        let is_database_given = given.has("select-db") || server.database_of_uri().is_some();
        let mut server = server.finish(&given, &mut warnings)?;
        let scan = commands.scan()?;
        let commands =
            if sends { commands.finish(&keys, &data, mode.is_all_keys(), &given, &mut warnings)? } else { Vec::new() };
        let largest_database = settle_databases(&mut server, &commands, is_database_given, &mut warnings)?;
        let settings = Settings {
            server,
            largest_database,
            connecting: connections.connecting()?,
            threads,
            clients,
            pipeline: *connections.pipeline.get(),
            lockstep: connections.lockstep,
            busy_poll: connections.busy_poll,
            scan,
            commands,
            keys: keys.finish()?,
            verify: data.verify,
            data: data.finish(&given, &mut warnings)?,
            seed,
            one_stream,
            policy,
            listening,
            cpus: connections.cpus,
            timeline: (mode != Mode::Control).then_some(output.timeline_slot.unwrap_or(USUAL_SLOT)),
        };
        if let Some(conflict) = conflict(&settings, mode) {
            return Err(UsageError::Conflict(conflict));
        }
        CommandLine { given: &given, settings: &settings, mode }.check(&mut warnings);
        Ok(Arguments { settings, mode, report: output.finish(warnings) })
    }
}

/// What cannot be done together across sections, if anything.
fn conflict(settings: &Settings, mode: Mode) -> Option<&'static str> {
    let is_cluster = settings.server.is_cluster;
    let is_recorded = |command: &Command| matches!(command.source, Source::Recorded(_));
    let is_for_one_node =
        settings.lockstep || settings.scan.is_some() || settings.connecting.reconnect_interval.is_some();
    let conflicts = [
        (
            settings.server.replica_reads && is_for_one_node,
            "--replica-reads excludes --lockstep, --scan-incremental-iteration and --reconnect-interval: requests of a \
             connection go to several nodes",
        ),
        (
            settings.server.replica_reads && settings.listening.as_ref().is_some_and(|listening| listening.is_alone),
            "--replica-reads and --listen-only exclude each other",
        ),
        (
            is_cluster && settings.connecting.reconnect_interval.is_some(),
            "--cluster-mode and --reconnect-interval exclude each other",
        ),
        (
            is_cluster && settings.scan.is_some(),
            "--scan-incremental-iteration walks one node: leave out --cluster-mode",
        ),
        (
            is_cluster && settings.commands.iter().any(is_recorded),
            "__monitor_line@__ replays what one server got: leave out --cluster-mode",
        ),
        (
            settings.scan.is_some() && settings.pipeline > 1,
            "--scan-incremental-iteration waits for each cursor: leave out --pipeline",
        ),
        (
            settings.lockstep && is_cluster,
            "--lockstep and --cluster-mode exclude each other: requests of a pipeline go to several nodes",
        ),
        (
            settings.lockstep && matches!(mode, Mode::Once(plan) if plan.work.pace.is_some()),
            "--lockstep and a rate exclude each other: with a rate each request is sent when it is due",
        ),
        (
            mode.is_all_keys()
                && settings.policy == zerolap_load_requests::Policy::Memtier
                && settings.keys.range.size() == 1,
            "with --compat, --requests allkeys leaves out the last key, and there is no other",
        ),
    ];
    conflicts.into_iter().find_map(|(is_so, sentence)| is_so.then_some(sentence))
}
