"""From a request to what it means on a platform. Pure: what is known of the platform is given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from zerolap.build import parse_variant, spec_of, tools_of
from zerolap.cases import scaled
from zerolap.documents import has_io_threads
from zerolap.lab.selection import KnownAbilities, select_possible
from zerolap.records import ArchiveSource, BuildSpec, Case, Platform, Request, Resolved, ResolvedServer, Side

MOST_WARNINGS = 10
"""The most warnings of case files beside results; of more, only the number is reported."""


@dataclass(frozen=True)
class KnownPlatform:
    """A platform as it is found, under the name that requests give it.

    `memory_bytes` is the least of its machines. `load_host` is the platform that puts load on it, empty where it does
    so itself.
    """

    platform: Platform
    memory_bytes: int
    load_host: str = ""


def specs_of(request: Request, tools: Mapping[str, Sequence[str]]) -> dict[Side, BuildSpec | None]:
    """Return the specifications of the builds of packed sources, where `tools` are those of the builder by compiler.

    A specification is none where the builder lacks the compiler of its variant.
    """
    specs: dict[Side, BuildSpec | None] = {}
    for side, server in request.servers.items():
        if isinstance(server.source, ArchiveSource):
            variant = parse_variant(server.variant)
            tools_of_variant = tools_of(variant, tools)
            specs[side] = None if tools_of_variant is None else spec_of(server.source, variant, tools_of_variant)
    return specs


def resolve(
    request: Request,
    specs: Mapping[Side, BuildSpec],
    abilities: KnownAbilities,
    known: KnownPlatform,
    count_specs: Mapping[Side, BuildSpec] | None = None,
) -> Resolved:
    """Return what a request means on a platform where its servers are built, and have these abilities together.

    `count_specs` are those of count builds.
    """
    settings = request.settings
    selection = select_possible(
        request.cases,
        abilities,
        quick=settings.quick,
        memory_bytes=known.memory_bytes,
        sends_all=request.kind == "check",
    )
    cases = selection.cases
    if settings.quick:
        cases = [scaled(case, case.quick_factor) for case in cases]
    return Resolved(
        request=request,
        platform=known.platform,
        load_host=known.load_host,
        servers={
            side: ResolvedServer(
                source=server.source,
                variant=server.variant,
                spec=specs[side],
                count_spec=(count_specs or {}).get(side),
                config=server.config,
            )
            for side, server in request.servers.items()
        },
        cases=tuple(cases),
        skipped=tuple(selection.skipped),
        notes=(
            *request.notes,
            *case_notes(cases, settings.engines),
            *(notes_of_io_threads(cases, request) if "counted" in settings.engines else []),
        ),
    )


def case_notes(cases: Sequence[Case], engines: Sequence[str]) -> list[str]:
    """Return what belongs to results of these cases: faults of their files, and what was counted of many servers."""
    warnings = [warning for case in cases for warning in case.warnings]
    notes = warnings
    if len(warnings) > MOST_WARNINGS:
        files = len({case.file for case in cases if case.warnings})
        notes = [f"{len(warnings)} faults in {files} case files: `zerolap suites check --no-run` lists them"]
    topologies = {case.topology.name: case.topology for case in cases if case.cannot_run is None}
    parts = {name: topology.counted_part for name, topology in topologies.items()} if "counted" in engines else {}
    return [*notes, *(f"`{name}`: {part}" for name, part in parts.items() if part)]


def notes_of_io_threads(cases: Sequence[Case], request: Request) -> list[str]:
    """Return a note on the cases of servers with I/O threads, which counting does not show."""
    configs = [server.config for server in request.servers.values()]
    threaded = [case.name for case in cases if any(has_io_threads(case, config) for config in configs)]
    if not threaded:
        return []
    named = "all cases" if len(threaded) == len(cases) else ", ".join(threaded)
    return [f"counted over one connection, with which I/O threads do nothing: {named}"]
