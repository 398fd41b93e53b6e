"""Cases run for a moment each, to see whether they measure what they say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from zerolap.build import Builder, Source
from zerolap.cases import Case, quick_factor, scaled
from zerolap.engines import CommandSamples, EngineTrial, ProbedCase, probe
from zerolap.host import choose_pinning, fingerprint, read_topology
from zerolap.judge import faults_of
from zerolap.lab.progress import Progress
from zerolap.lab.session import builds_directory, now, sandbox_note
from zerolap.lab.skipping import select_runnable
from zerolap.lab.trial_directory import trial_directory
from zerolap.lab.trials import SideUnderTest, client_threads, server_threads
from zerolap.records import (
    CaseFacts,
    CheckedCase,
    CheckReport,
    CommandFacts,
    Fault,
    Interrupted,
    Settings,
    TrialFailed,
)
from zerolap.sandbox import Cancellation, SandboxPolicy, current_cancellation
from zerolap.store import Store


@dataclass(frozen=True)
class CheckRequest:
    """Which cases to check on which server; `server_settings` are given to it when it starts.

    `sandbox` is for code of repositories and trees.
    """

    server: Source
    cases: Sequence[Case]
    settings: Settings
    command_line: str
    server_settings: Mapping[str, str] = field(default_factory=dict)
    sandbox: SandboxPolicy = SandboxPolicy.REQUIRED


def check(
    request: CheckRequest, store: Store, progress: Progress, cancellation: Cancellation | None = None
) -> CheckReport:
    """Run each case for a moment, its data set scaled down as by `--quick`, and return what is wrong with it.

    Raises `EnvironmentMissing`, `BuildFailed`, or `Interrupted` once the user or `cancellation` stops it.
    """
    with (cancellation or Cancellation()).current():
        return _check(request, store, progress)


def _check(request: CheckRequest, store: Store, progress: Progress) -> CheckReport:
    for note in sandbox_note():
        progress.note(note)
    try:
        server = Builder(builds_directory(store), progress.building, request.sandbox).build(request.server)
        under_test = SideUnderTest(server, request.server_settings)
        selection = select_runnable(request.cases, under_test)
        progress.measuring(len(selection.cases))
        checked = []
        for number, case in enumerate(selection.cases, 1):
            checked.append(_checked(case, under_test, request.settings.seed))
            progress.trial_done(case.name, number, len(selection.cases))
    except (KeyboardInterrupt, Interrupted):
        current_cancellation().cancel()
        raise Interrupted("interrupted; a check keeps nothing") from None
    finally:
        progress.finished()
    return CheckReport(
        schema="zerolap.check/1",
        created=now(),
        command_line=request.command_line,
        server=under_test.record,
        platform=fingerprint(),
        cases=checked,
        skipped=selection.skipped,
    )


def _checked(case: Case, under_test: SideUnderTest, seed: int) -> CheckedCase:
    factor = quick_factor(case)
    pinning = choose_pinning(
        read_topology(), server_threads=server_threads(case, under_test.settings), client_threads=client_threads(case)
    )
    facts = None
    try:
        with trial_directory() as directory:
            program, settings = under_test.server.program, under_test.settings
            probed = probe(EngineTrial(program, settings, scaled(case, factor), seed, directory, pinning))
    except TrialFailed as failed:
        faults = [Fault(kind="failed", text=failed.message)]
    else:
        facts = _facts(case, probed, factor)
        faults = faults_of(facts)
    return CheckedCase(
        case=case.name, group=case.group, faults=faults, warnings=[*case.warnings, *case.limits], facts=facts
    )


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
        seconds=None if case.client is None else case.client.seconds,
        requests=None if case.client is None else case.client.requests,
        has_dataset=case.dataset is not None and case.dataset.is_scaled,
        per_second=None if case.client is None else case.client.per_second,
        memory_limit_bytes=probed.memory_limit_bytes,
        key_range=None if case.client is None else case.client.key_maximum - case.client.key_minimum + 1,
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
