"""Requests as they are made: by a verb, the HTTP API, a trigger or Python."""

import contextlib
import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Final, Literal

from zerolap.build import ARCHIVE_LIMITS, Builder, pack_source, parse_variant, setting_arguments
from zerolap.engines import CHECKED, COMPARING, LOADED, OF_OTHER_VERBS, missing_for_sampling, rules_of_plugins
from zerolap.judge import DEFAULT_MIN_EFFECT, PLUGIN_MIN_EFFECT, Q
from zerolap.load.tools import OWN_TOOL, load_tool_named
from zerolap.records import (
    ANCHOR,
    BASE,
    HEAD,
    TRACED,
    ArchiveSource,
    BinarySource,
    Case,
    EndpointSource,
    Priority,
    RegimeChoice,
    Request,
    RequestedServer,
    RequestKind,
    RevisionSource,
    Settings,
    Side,
    UsageError,
    now,
    revision_of,
)
from zerolap.store import Blobs

ID_DIGITS: Final = 24
PREFIXES: Final[Mapping[RequestKind, str]] = {"compare": "c", "run": "r", "snapshot": "w", "check": "k"}
"""The beginnings of ids: of comparisons, runs, sweeps and checks."""
DRAWN_SEEDS: Final = 2**31


@dataclass(frozen=True)
class Options:
    """How to measure; without `engines` they are chosen by the kind of request and what this machine can do.

    `min_effect` is by engine, as a fraction. With `quick` everything is scaled down and only counted; with `all_stacks`
    every case is sampled. `load_tool` puts load on the server of a run instead of the lab's own. With `count_build`
    the calls of inlined functions are counted in a build without inlining. `regimes` are those that the cases of a
    comparison are counted in besides. Without a `seed` each request has another
    one: the orders of functions, keys and turns are then not those of the comparison before, and a repetition does not
    repeat their errors.
    """

    engines: Sequence[str] | None = None
    min_effect: Mapping[str, float] = field(default_factory=dict)
    budget_seconds: float | None = None
    seed: int | None = None
    quick: bool = False
    all_stacks: bool = False
    load_tool: str | None = None
    count_build: bool = False
    regimes: RegimeChoice = "none"

    def settings(self, engines: Sequence[str]) -> Settings:
        """Return the settings of a request that is measured by these engines; a seed is drawn if none is given."""
        return Settings(
            engines=list(engines),
            min_effect=dict(DEFAULT_MIN_EFFECT) | dict(self.min_effect),
            q=Q,
            budget_seconds=self.budget_seconds,
            seed=random_seed() if self.seed is None else self.seed,
            quick=self.quick,
            load_tool=self.load_tool or OWN_TOOL,
        )


def comparison_request(
    base: RequestedServer,
    head: RequestedServer,
    cases: Sequence[Case],
    options: Options,
    command_line: str = "",
    *,
    anchor: RequestedServer | None = None,
) -> Request:
    """Return the request for a comparison: cases are counted, timed, and sampled where they can be, unless chosen.

    An `anchor` is measured beside both sides; the document's verdicts are not about it, its starts are stored.
    Raises `UsageError` for engines that together judge nothing, or settings that contradict the topology of a case,
    `PluginFault` for a plugin that cannot be used.
    """
    chosen = list(options.engines if options.engines is not None else ["counted"] if options.quick else COMPARING)
    notes: list[str] = []
    if {*chosen} <= {"sampled", TRACED}:
        names = ",".join(chosen)
        raise UsageError(f"`--engine {names}` alone judges nothing", hint=f"--engine timed,{names}, or zerolap run")
    if options.all_stacks and "sampled" not in chosen:
        raise UsageError("`--stacks all` without sampling", hint="--engine counted,timed,sampled, and no --quick")
    # Who asks for stacks gets an error where there are none to be had; else they are left out.
    is_asked_for = options.engines is not None or options.all_stacks
    missing = missing_for_sampling() if "sampled" in chosen and not is_asked_for else None
    if missing is not None:
        chosen.remove("sampled")
        notes.append(f"no stacks of what changed: {missing.reason} ({missing.remedy})")
    rules = rules_of_plugins(chosen)
    effects = {rule.engine: PLUGIN_MIN_EFFECT for rule in rules} | dict(options.min_effect)
    settings = replace(options, min_effect=effects).settings(chosen).model_copy(update={"plugin_metrics": rules})
    # The oldest commit is first: the others may be built with its objects.
    servers = {BASE: base, HEAD: head} if anchor is None else {ANCHOR: anchor, BASE: base, HEAD: head}
    made = _request("compare", servers, cases, settings, command_line, options)
    return made.model_copy(
        update={
            "all_stacks": options.all_stacks,
            "notes": tuple(notes),
            "is_seed_drawn": options.seed is None,
            "regimes": options.regimes if "counted" in chosen else "none",
        }
    )


def run_request(server: RequestedServer, cases: Sequence[Case], options: Options, command_line: str = "") -> Request:
    """Return the request for a run: cases are counted and timed, or loaded by the tool that is named, unless chosen.

    Raises `UsageError` for a load tool that does not exist or would not be used, or settings that contradict the
    topology of a case.
    """
    if options.load_tool is not None:
        if options.quick:
            raise UsageError("`--quick` only counts: no load tool is used", hint="leave --quick or --load-tool out")
        load_tool_named(options.load_tool)
    default = ["counted"] if options.quick else ["counted", "timed"] if options.load_tool is None else [LOADED]
    chosen = list(default if options.engines is None else options.engines)
    if options.load_tool is not None and LOADED not in chosen:
        chosen.append(LOADED)
    made = _request("run", {HEAD: server}, cases, options.settings(chosen), command_line, options)
    return made.model_copy(update={"is_seed_drawn": options.seed is None})


def check_request(server: RequestedServer, cases: Sequence[Case], seed: int, command_line: str) -> Request:
    """Return the request for a check: each case is run for a moment, its data set scaled down as by `--quick`."""
    return Request(
        id=new_id("check"),
        kind="check",
        created=now(),
        command_line=command_line,
        servers={HEAD: server},
        cases=tuple(cases),
        settings=Settings(engines=[CHECKED], min_effect={}, q=Q, budget_seconds=None, seed=seed, quick=True),
    )


def _request(
    kind: Literal["compare", "run"],
    servers: Mapping[Side, RequestedServer],
    cases: Sequence[Case],
    settings: Settings,
    command_line: str,
    options: Options,
) -> Request:
    refuse_conflicts(list(servers.values()), cases)
    for engine in settings.engines:
        if engine in OF_OTHER_VERBS:
            verb = "suites check" if engine == CHECKED else "snapshot SERVER"
            raise UsageError(f"the engine `{engine}` measures no cases", hint=f"zerolap {verb} uses it")
    request = Request(
        id=new_id(kind),
        kind=kind,
        created=now(),
        command_line=command_line,
        servers=dict(servers),
        cases=tuple(cases),
        settings=settings,
        count_build=options.count_build,
    )
    if options.count_build:
        if "counted" not in settings.engines:
            raise UsageError("`--count-build` without counting", hint="--engine counted, or leave --count-build out")
        of_count_builds(request)
    return request


def of_count_builds(request: Request, objects_of: str | None = None) -> Request:
    """Return a request whose servers are the count builds of those of another one, with objects of a build.

    Raises `UsageError` for a program, which is as it was built.
    """
    servers = {}
    for side, server in request.servers.items():
        if isinstance(server.source, BinarySource) or (
            isinstance(server.source, ArchiveSource) and server.source.form == "program"
        ):
            raise UsageError(
                f"`{server.source.name}` is a program that is already built: it has no count build",
                hint="give its source tree or a revision with --repo, or leave --count-build out",
            )
        variant = parse_variant(server.variant).of_count_build
        servers[side] = server.model_copy(update={"variant": variant.name})
    return request.model_copy(update={"servers": servers, "objects_of": objects_of})


def packed(request: Request, blobs: Blobs, builder: Builder) -> Request:
    """Return a request whose sources are in the blobs; programs of this machine stay where they are.

    A commit of which `builder` has the build is not packed again. Raises `UsageError` for a running server, or a tree
    that cannot be packed, `EnvironmentMissing` where what builds a source is missing.
    """
    servers = {}
    for side, server in request.servers.items():
        source = server.source
        if isinstance(source, EndpointSource):
            raise UsageError(
                f"`{source.name}` is a running server: it cannot be counted",
                hint="give a binary, a source tree or a revision",
            )
        if isinstance(source, RevisionSource):
            source = _packed_before(source, server.variant, blobs, builder) or source
        if not isinstance(source, ArchiveSource | BinarySource):
            source = pack_source(source, blobs, travels=False)
        servers[side] = server.model_copy(update={"source": source})
    return request.model_copy(update={"servers": servers})


def _packed_before(source: RevisionSource, variant: str, blobs: Blobs, builder: Builder) -> ArchiveSource | None:
    """Return a commit as it was packed when it was built here; none where it was not, or the blob is of no use."""
    spec = builder.spec(source, parse_variant(variant))
    archive = builder.builds.archive_of(spec.digest)
    # Whoever was killed while writing the note has left a part of it.
    with contextlib.suppress(ValueError):
        if archive is not None and blobs.renew(archive, ARCHIVE_LIMITS.total_bytes):
            revision = revision_of(source)
            return ArchiveSource(
                name=source.name, form="tree", content=spec.content, archive=archive, revision=revision
            )
    return None


@dataclass(frozen=True)
class SubmissionOptions:
    """How a request is submitted to a fleet: its priority, its topic and its cause."""

    priority: Priority = "pull"
    topic: str = ""
    trigger: str = "command line"


def on_platforms(
    request: Request,
    platforms: Sequence[str],
    blobs: Blobs,
    submitting: SubmissionOptions | None = None,
    origin: str = "",
) -> list[Request]:
    """Return a request for each platform of a fleet, with ids of their own and all their sources in the blobs.

    A seed that is not chosen is drawn for each: what the platforms find does not agree by having the same orders.
    Equal origins, which are not empty, give equal ids: what is asked for again after a kill is recorded once.
    Raises `UsageError` for a source that cannot travel.
    """
    servers = {}
    for side, server in request.servers.items():
        source = server.source
        if isinstance(source, EndpointSource):
            raise UsageError(
                f"`{source.name}` is a running server: agents build and start servers themselves",
                hint="give a binary, a source tree or a revision, or leave --platform out",
            )
        servers[side] = server.model_copy(update={"source": pack_source(source, blobs)})
    common = {"servers": servers, **asdict(submitting or SubmissionOptions())}
    return [
        _with_own_seed(request).model_copy(
            update={**common, "id": _id_of(request.kind, origin, platform), "platform": platform}
        )
        for platform in platforms
    ]


def _with_own_seed(request: Request) -> Request:
    if not request.is_seed_drawn:
        return request
    return request.model_copy(update={"settings": request.settings.model_copy(update={"seed": random_seed()})})


def random_seed() -> int:
    """Return a seed from the system's randomness; few digits, as people repeat it with `--seed`."""
    return secrets.randbelow(DRAWN_SEEDS)


def new_id(kind: RequestKind) -> str:
    """Return an id that is new for ever: `c-1f2e3d4c…` of a comparison, `r-…` of a run, `w-…` of a sweep."""
    return f"{PREFIXES[kind]}-{secrets.token_hex(ID_DIGITS // 2)}"


def _id_of(kind: RequestKind, origin: str, platform: str) -> str:
    if not origin:
        return new_id(kind)
    digest = hashlib.sha256(f"{origin} {platform}".encode()).hexdigest()
    return f"{PREFIXES[kind]}-{digest[:ID_DIGITS]}"


def refuse_conflicts(servers: Sequence[RequestedServer], cases: Sequence[Case]) -> None:
    """Raise `UsageError` for settings that cannot be given to a server, and where a topology sets another value."""
    for server in servers:
        setting_arguments(server.config)
    for case in cases:
        if case.cannot_run is not None:
            continue
        setting_arguments(case.config)
        for server in servers:
            for name, value in case.topology.settings.items():
                if server.config.get(name, value) != value:
                    raise UsageError(
                        f"`--config {name}={server.config[name]}` contradicts the topology `{case.topology.name}` of "
                        f"{case.name}, which sets it to {value}",
                        hint="leave one of them out",
                    )
