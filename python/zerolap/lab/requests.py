"""From what a user asks for to a request: instruments checked, sources built, cases selected."""

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from zerolap.build import DEFAULT, Builder, Builds, Variant
from zerolap.cases import quick_factor, scaled
from zerolap.engines import COMPARING, LOADED, Place, counted_part, missing_for_sampling
from zerolap.host import fingerprint, read_processors
from zerolap.judge import DEFAULT_MIN_EFFECT, Q
from zerolap.lab.planner import build_jobs
from zerolap.lab.selection import StartableServer, abilities_of_all, select_possible
from zerolap.lab.worker import Worker
from zerolap.load.tools import OWN_TOOL, load_tool_named
from zerolap.records import (
    BASE,
    HEAD,
    BuildDone,
    BuildJob,
    Case,
    EnvironmentMissing,
    Event,
    Interrupted,
    Note,
    Request,
    RequestedServer,
    Settings,
    Side,
    Source,
    Topology,
    UsageError,
)
from zerolap.sandbox import Cancellation, SandboxPolicy, available, network_missing
from zerolap.store import Store

MOST_WARNINGS = 10
"""Of case files: where there are more, only their number is reported beside results."""
BUILDERS = "builds-of"
"""The directory, beside that of this machine's builds, with those of the builders of a fleet."""


@dataclass(frozen=True)
class AskedServer:
    """A server as the user asks for it: a source, how it is built, the settings that it is started with."""

    source: Source
    variant: Variant = DEFAULT
    config: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Question:
    """What the user asks: servers by side, cases, and how to measure. Nothing is built or selected yet.

    A run has one server, a comparison two. With `all_stacks` every case is sampled, not only those that changed;
    `notes` belong to the result.
    """

    kind: Literal["compare", "run"]
    servers: Mapping[Side, AskedServer]
    cases: Sequence[Case]
    settings: Settings
    command_line: str
    all_stacks: bool = False
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Options:
    """How to measure; `engines` that are none are chosen by what is asked and what this machine can do.

    `min_effect` is by engine, as a fraction. With `quick` everything is scaled down and only counted; with `all_stacks`
    every case is sampled. `load_tool` puts load on the server of a run instead of the lab's own.
    """

    engines: Sequence[str] | None = None
    min_effect: Mapping[str, float] = field(default_factory=dict)
    budget_seconds: float | None = None
    seed: int = 1
    quick: bool = False
    all_stacks: bool = False
    load_tool: str | None = None

    def settings(self, engines: Sequence[str]) -> Settings:
        """Return the settings of a request that is measured by these engines."""
        return Settings(
            engines=list(engines),
            min_effect=dict(DEFAULT_MIN_EFFECT) | dict(self.min_effect),
            q=Q,
            budget_seconds=self.budget_seconds,
            seed=self.seed,
            quick=self.quick,
            load_tool=self.load_tool or OWN_TOOL,
        )


def comparison_question(
    base: AskedServer, head: AskedServer, cases: Sequence[Case], options: Options, command_line: str = ""
) -> Question:
    """Return a comparison to be asked for: cases are counted, timed, and sampled where they can be, unless chosen.

    Raises `UsageError` for engines that together judge nothing.
    """
    chosen = list(options.engines if options.engines is not None else ["counted"] if options.quick else COMPARING)
    notes: list[str] = []
    if chosen == ["sampled"]:
        raise UsageError("`--engine sampled` alone judges nothing", hint="--engine timed,sampled, or zerolap run")
    if options.all_stacks and "sampled" not in chosen:
        raise UsageError("`--stacks all` without sampling", hint="--engine counted,timed,sampled, and no --quick")
    # Who asks for stacks gets an error where there are none to be had; else they are left out.
    is_asked_for = options.engines is not None or options.all_stacks
    missing = missing_for_sampling() if "sampled" in chosen and not is_asked_for else None
    if missing is not None:
        chosen.remove("sampled")
        notes.append(f"no stacks of what changed: {missing.reason} ({missing.remedy})")
    servers = {BASE: base, HEAD: head}
    return Question("compare", servers, cases, options.settings(chosen), command_line, options.all_stacks, notes)


def run_question(server: AskedServer, cases: Sequence[Case], options: Options, command_line: str = "") -> Question:
    """Return a run to be asked for: cases are counted and timed, or loaded by the tool that is named, unless chosen.

    Raises `UsageError` for a load tool that does not exist or would not be used.
    """
    if options.load_tool is not None:
        if options.quick:
            raise UsageError("`--quick` only counts: no load tool is used", hint="leave --quick or --load-tool out")
        load_tool_named(options.load_tool)
    default = ["counted"] if options.quick else ["counted", "timed"] if options.load_tool is None else [LOADED]
    chosen = list(default if options.engines is None else options.engines)
    if options.load_tool is not None and LOADED not in chosen:
        chosen.append(LOADED)
    return Question("run", {HEAD: server}, cases, options.settings(chosen), command_line)


@dataclass(frozen=True)
class Lab:
    """What work on a request needs: a store, someone who listens, a worker, and a way to end it.

    `sandbox` is for code of repositories and trees. `builder` is the platform whose agents have made the builds; none
    for those that this machine has made.
    """

    store: Store
    listen: Callable[[Event], None] = lambda _: None
    sandbox: SandboxPolicy = SandboxPolicy.REQUIRED
    worker: Worker = field(default_factory=Worker)
    cancellation: Cancellation = field(default_factory=Cancellation)
    builder: str | None = None

    @property
    def builds(self) -> Builds:
        """The builds on this machine; those of different builders are apart, as each is trusted for its own."""
        here = self.store.builds_directory
        return Builds(here if self.builder is None else here.with_name(BUILDERS) / self.builder, self.sandbox)

    @property
    def place(self) -> Place:
        """This machine as a place for jobs."""
        return Place(self.builds, self.store.blobs, read_processors(), self.cancellation)


def request_of(question: Question, lab: Lab) -> Request:
    """Build all servers, select the cases that can be measured, and return the request.

    Raises `UsageError`, `EnvironmentMissing` or `BuildFailed`, and `Interrupted` once the user stops it.
    """
    _require_instruments(question, lab)
    for note in [*sandbox_notes(), *question.notes]:
        lab.listen(Note(text=note))
    identity = new_id("c" if question.kind == "compare" else "r")
    servers = _specified(question, lab)
    refuse_conflicts(question)
    try:
        jobs = build_jobs(identity, servers)
        startable = [_built(job, server.config, lab) for job, server in zip(jobs, servers.values(), strict=True)]
        with lab.cancellation.current():
            selection = select_possible(
                question.cases, lambda: abilities_of_all(startable), quick=question.settings.quick
            )
    except (KeyboardInterrupt, Interrupted):
        lab.cancellation.cancel()
        raise Interrupted("interrupted while building; nothing was measured yet") from None
    cases = selection.cases
    if question.settings.quick:
        cases = [scaled(case, quick_factor(case)) for case in cases]
    return Request(
        id=identity,
        kind=question.kind,
        created=now(),
        command_line=question.command_line,
        servers=servers,
        cases=tuple(cases),
        settings=question.settings,
        platform=fingerprint(),
        all_stacks=question.all_stacks,
        skipped=tuple(selection.skipped),
        notes=(*sandbox_notes(), *question.notes, *case_notes(cases, question.settings.engines)),
    )


def new_id(kind: str) -> str:
    """Return an id that is new for ever, such as `c-1f2e3d4c…` for the kind `c`: 96 random bits."""
    return f"{kind}-{secrets.token_hex(12)}"


def now() -> str:
    """Return the time as ISO 8601 in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def sandbox_notes() -> list[str]:
    """Return the note that belongs to results measured without a sandbox."""
    reason = available()
    return [] if reason is None else [f"builds and servers ran without a sandbox: {reason}"]


def case_notes(cases: Sequence[Case], engines: Sequence[str]) -> list[str]:
    """Return what belongs to results of these cases: faults of their files, and what was counted of many servers."""
    warnings = [warning for case in cases for warning in case.warnings]
    notes = warnings
    if len(warnings) > MOST_WARNINGS:
        files = len({case.file for case in cases if case.warnings})
        notes = [f"{len(warnings)} faults in {files} case files: `zerolap suites check --no-run` lists them"]
    topologies = {case.topology.name: case.topology for case in cases if case.cannot_run is None}
    parts = {name: counted_part(topology) for name, topology in topologies.items()} if "counted" in engines else {}
    return [
        *notes,
        *_network_notes(topologies.values()),
        *(f"`{name}`: {part}" for name, part in parts.items() if part),
    ]


def _network_notes(topologies: Iterable[Topology]) -> list[str]:
    """Return the note that belongs to servers that had the network of the machine."""
    reason = network_missing() if any(topology.needs_network for topology in topologies) else None
    return [] if reason is None else [f"servers had the machine's network: {reason}"]


def _require_instruments(question: Question, lab: Lab) -> None:
    """Raise `EnvironmentMissing` if one of the engines, or the load tool of one, cannot be used here.

    Raises `UsageError` or `PluginFault` where there is none of that name.
    """
    settings = question.settings
    for name in settings.engines:
        missing = lab.worker.engine(name).missing()
        if missing is not None:
            raise EnvironmentMissing(f"the engine `{name}` cannot be used: {missing}", hint=_remedy(name))
    if LOADED in settings.engines:
        missing = load_tool_named(settings.load_tool).missing()
        if missing is not None:
            raise EnvironmentMissing(f"the load tool `{settings.load_tool}` cannot be used: {missing}")


def _remedy(engine: str) -> str:
    """Return what to do so that an engine of the lab can be used."""
    if engine == "counted":
        return "apt-get install valgrind"
    unsampled = missing_for_sampling() if engine == "sampled" else None
    return "" if unsampled is None else unsampled.remedy


def _specified(question: Question, lab: Lab) -> dict[Side, RequestedServer]:
    builder = Builder(lab.store.builds_directory, policy=lab.sandbox)
    return {
        side: RequestedServer(
            source=server.source,
            variant=server.variant.name,
            spec=builder.spec(server.source, server.variant),
            config=dict(server.config),
        )
        for side, server in question.servers.items()
    }


def _built(job: BuildJob, config: Mapping[str, str], lab: Lab) -> StartableServer:
    for event in lab.worker.carry_out(job, lab.place):
        lab.listen(event)
        if isinstance(event, BuildDone):
            lab.store.record_build(event.build, job.source)
    return StartableServer(lab.builds.get(job.spec.digest).program, config)


def refuse_conflicts(question: Question) -> None:
    """Raise `UsageError` where the user sets what the topology of a case decides."""
    for case in question.cases:
        if case.cannot_run is not None:
            continue
        for server in question.servers.values():
            for name, value in case.topology.settings.items():
                if server.config.get(name, value) != value:
                    raise UsageError(
                        f"`--config {name}={server.config[name]}` contradicts the topology `{case.topology.name}` of "
                        f"{case.name}, which sets it to {value}",
                        hint="leave one of them out",
                    )
