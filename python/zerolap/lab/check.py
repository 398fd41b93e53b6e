"""Cases run for a moment each, to see whether they measure what they are meant to."""

from collections.abc import Sequence
from dataclasses import dataclass

from zerolap.build import Builder, BuiltServer, parse_variant
from zerolap.cases import quick_factor, scaled
from zerolap.engines import TRIAL_PREFIX, PinnedTrial
from zerolap.host import choose_pinning, fingerprint, read_processors
from zerolap.judge import faults_of
from zerolap.lab.lab import Lab
from zerolap.lab.platforms import sandbox_notes
from zerolap.lab.selection import StartableServer, select_runnable
from zerolap.probing import CommandSamples, ProbedCase, probe
from zerolap.records import (
    Case,
    CaseFacts,
    CheckedCase,
    CheckReport,
    CommandFacts,
    Fault,
    Interrupted,
    MeasuredServer,
    Note,
    Progress,
    RequestedServer,
    ServerSpec,
    TrialFailed,
    now,
)
from zerolap.sandbox import limited, scratch_directory


@dataclass(frozen=True)
class CheckRequest:
    """Which cases to check on which server."""

    server: RequestedServer
    cases: Sequence[Case]
    seed: int
    command_line: str


def check(request: CheckRequest, lab: Lab) -> CheckReport:
    """Run each case for a moment, its data set scaled down as by `--quick`, and return what is wrong with it.

    Raises `EnvironmentMissing`, `BuildFailed`, or `Interrupted` once the user stops it.
    """
    for note in sandbox_notes():
        lab.listen(Note(text=note))
    asked = request.server
    try:
        with lab.cancellation.current():
            builder = Builder(
                lab.store.builds_directory,
                lambda name: lab.listen(Progress(activity="building", subject=name)),
                lab.sandbox,
            )
            built = builder.build(asked.source, parse_variant(asked.variant))
            selection = select_runnable(request.cases, StartableServer(built.program, asked.config))
            checked: list[CheckedCase] = []
            for case in selection.cases:
                lab.cancellation.require_going_on()
                checked.append(_checked(case, built, request, lab.trial_seconds))
                lab.listen(_progress(case, len(checked), len(selection.cases)))
    except (KeyboardInterrupt, Interrupted):
        lab.cancellation.cancel()
        raise Interrupted("interrupted; a check keeps nothing") from None
    return CheckReport(
        schema="zerolap.check/1",
        created=now(),
        command_line=request.command_line,
        server=MeasuredServer.of(built.record, asked.source, dict(asked.config)),
        platform=fingerprint(),
        cases=checked,
        skipped=selection.skipped,
    )


def _progress(case: Case, done: int, expected: int) -> Progress:
    return Progress(activity="measuring", subject=case.name, cases=expected, done=done, expected=expected)


def _checked(case: Case, built: BuiltServer, request: CheckRequest, trial_seconds: float) -> CheckedCase:
    asked = request.server
    factor = quick_factor(case)
    server = ServerSpec(build=built.record.build, topology=case.topology, config={**case.config, **asked.config})
    pinning = choose_pinning(
        read_processors(), server_threads=server.busy_threads, client_threads=1 + len(case.companions)
    )
    facts = None
    notes = [*case.warnings, *case.limits]
    try:
        with limited(trial_seconds), scratch_directory(TRIAL_PREFIX) as directory:
            probed = probe(PinnedTrial(built.program, server, scaled(case, factor), request.seed, directory, pinning))
    except TrialFailed as failed:
        faults = [Fault(kind="failed", text=failed.message)]
    else:
        facts = _facts(case, probed, factor)
        faults = faults_of(facts)
        examined = sum(command.requests for command in facts.commands)
        if examined < probed.wanted_samples:
            notes.append(f"{examined} of {probed.wanted_samples} requests were examined: each takes long")
    return CheckedCase(case=case.name, group=case.group, faults=faults, warnings=notes, facts=facts)


def _facts(case: Case, probed: ProbedCase, factor: float) -> CaseFacts:
    burst = probed.burst
    return CaseFacts(
        commands=[_command(name, probed) for name in dict.fromkeys([*probed.before, *probed.after, *burst.errors])],
        held=probed.held,
        client_share=burst.client_share,
        server_share=burst.server_share,
        sampled_requests=sum(samples.requests for samples in probed.before.values()),
        burst_requests=burst.requests,
        ops_per_sec=burst.result.ops_per_sec,
        factor=factor if case.dataset is not None and case.dataset.is_scaled else 1.0,
        seconds=case.client.seconds,
        requests=case.client.requests,
        has_dataset=case.dataset is not None and case.dataset.is_scaled,
        per_second=case.client.per_second,
        memory_limit_bytes=probed.memory_limit_bytes,
        key_range=case.client.keys.count if case.is_public else None,
        burst_found=burst.found,
        hidden_errors=burst.hidden_errors,
        evicts=case.config.get("maxmemory-policy", "noeviction") != "noeviction",
    )


def _command(name: str, probed: ProbedCase) -> CommandFacts:
    writes = any(samples[name].writes for samples in (probed.before, probed.after) if name in samples)
    before = probed.before.get(name) or CommandSamples(name, writes)
    later = probed.after.get(name) or CommandSamples(name, writes)
    example = before.example_of_nothing or later.example_of_nothing
    at_full_speed = probed.burst.errors.get(name)
    return CommandFacts(
        command=name,
        writes=writes,
        requests=before.requests + later.requests,
        errors=dict(before.errors + later.errors),
        nothing_share_first=before.first_nothing_share,
        nothing_share=before.nothing_share,
        nothing_share_after=later.nothing_share,
        zero_share_first=before.first_zero_share,
        zero_share_after=later.zero_share,
        missing_share=before.missing_share,
        place_missing_share=before.place_missing_share,
        life_seconds=before.shortest_life_seconds,
        example=example or before.example_of_missing or later.example_of_missing,
        burst_errors=0 if at_full_speed is None else at_full_speed.count,
        first_burst_error=None if at_full_speed is None else at_full_speed.first,
    )
