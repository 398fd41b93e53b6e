//! What was given so far, and what it comes to.

use super::groups::amount::AmountDraft;
use super::groups::commands::CommandsDraft;
use super::groups::connections::ConnectionsDraft;
use super::groups::keys::ChanceDraft;
use super::groups::keys::KeysDraft;
use super::groups::listeners::{ListenersDraft, draws_keys};
use super::groups::output::OutputDraft;
use super::groups::sent::Sent;
use super::groups::server::ServerDraft;
use super::groups::values;
use super::groups::values::DataDraft;
use super::warnings::Warnings;
use super::{Arguments, Mode, UsageError};
use zerolap_load_requests::{Amount, Command, Settings, Source};

/// Values as given, by section of the table; none where not.
#[derive(Debug, Default)]
pub(super) struct Draft {
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
    /// Fills in what was not given, and looks for contradictions and for what has no effect.
    pub(super) fn finish(mut self) -> Result<Arguments, UsageError> {
        let listening = self.listening()?;
        let sends = !listening.as_ref().is_some_and(|listening| listening.is_alone);
        let Self { server, connections, amount, commands, keys, data, chance, output, mut warnings, .. } = self;
        let (threads, clients) =
            if sends { (connections.threads.unwrap_or(4), connections.clients.unwrap_or(50)) } else { (0, 0) };
        let pipeline = connections.pipeline.unwrap_or(1);
        let (lockstep, busy_poll, cpus) = (connections.lockstep, connections.busy_poll, connections.cpus.clone());

        let server = server.finish(&mut warnings)?;
        let connecting = connections.finish(&mut warnings)?;
        let mode = amount.finish(threads * clients, &mut warnings)?;
        let scan = commands.scan(&mut warnings)?;
        let commands =
            if sends { commands.finish(&keys, &data, is_all_keys(mode), &mut warnings)? } else { Vec::new() };
        let mut sent = Sent::new(&commands, mode);
        values::apply_verifying(&data, &commands, &mut sent, &mut warnings);
        let verifies = data.verify;
        sent.keys |= draws_keys(listening.as_ref());
        let keys = keys.finish(&sent, is_all_keys(mode), &mut warnings)?;
        let data = data.finish(&sent, &mut warnings)?;
        let (seed, one_stream, policy) = chance.finish(&mut warnings)?;
        let report = output.finish(mode, warnings);

        let settings = Settings {
            server,
            connecting,
            threads,
            clients,
            pipeline,
            lockstep,
            busy_poll,
            commands,
            keys,
            data,
            verify: verifies,
            seed,
            one_stream,
            policy,
            scan,
            listening,
            cpus,
            timeline: mode != Mode::Control,
        };
        if let Some(conflict) = conflict(&settings, mode) {
            return Err(UsageError::Conflict(conflict));
        }
        Ok(Arguments { settings, mode, report })
    }
}

/// Whether the keys determine how much is sent.
fn is_all_keys(mode: Mode) -> bool {
    matches!(mode, Mode::Once(plan) if plan.work.amount == Amount::AllKeys)
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
            is_all_keys(mode)
                && settings.policy == zerolap_load_requests::Policy::Memtier
                && settings.keys.range.size() == 1,
            "with --compat, --requests allkeys leaves out the last key, and there is no other",
        ),
    ];
    conflicts.into_iter().find_map(|(is_so, sentence)| is_so.then_some(sentence))
}
