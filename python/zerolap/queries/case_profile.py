"""What functions and lines of a case take, or wait for, from its stacks; the stacks in formats of other programs.

They are of the time on the processor, sampled, or of the time off it, traced; a sample of the latter is a nanosecond.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final, Literal

from pydantic import TypeAdapter

from zerolap import _core
from zerolap.documents import off_cpu_ns_per_op
from zerolap.queries.export_formats import ExportFormat
from zerolap.queries.query import QuerySources
from zerolap.queries.sampled_cases import Part, StackSelection, StackTime, readable_tables, selected_cases
from zerolap.queries.stack_profile import LEAST_SHARE, merged_profile
from zerolap.records import (
    CaseProfile,
    DrawnSide,
    FunctionSource,
    FunctionTime,
    Measurement,
    ProfiledThread,
    SourceLine,
    UsageError,
)
from zerolap.sheets import plain
from zerolap.store import StackEngine

KINDS: Final[Mapping[StackEngine, str]] = {"sampled": "stacks", "traced": "stacks of waits"}
KERNEL: Final = "[kernel]"
ALL_FUNCTIONS: Final = 100_000
SHOWN_SOURCES: Final = 2
"""The number of functions whose source lines are shown unasked: the costliest whose source code is present."""
TRIED_FUNCTIONS: Final = 15
"""The number of costliest functions among which those with source code are looked for."""
SHOWN_LINES: Final = 12
LONGEST_NAME: Final = 80
WHOLE: Final = TypeAdapter(dict[str, Any])


@dataclass(frozen=True)
class CaseStacks:
    """The passes of a case on one side, of all threads or of `thread` alone, and what was measured in them.

    `thread_samples` are the samples of all threads by name. `lined_tables` have the lines, which are recorded of all
    threads together, and so is `cpu_ns_per_op`.
    """

    id: str
    created: str
    case: str
    side: DrawnSide
    server: str
    platform: str
    tables: tuple[bytes, ...]
    lined_tables: tuple[bytes, ...]
    thread_samples: dict[str, int]
    cpu_ns_per_op: float | None
    cpu_measured: Literal["timed", "sampled", "traced"] | None
    ops_per_sec: float | None
    thread: str | None = None
    off_cpu: bool = False

    def of_thread(self, name: str) -> "CaseStacks":
        """Return the stacks of one thread; raises `UsageError` if there is none of that name."""
        if name not in self.thread_samples:
            raise UsageError(f"no samples of a thread `{name}`", hint=f"threads: {_listed(list(self.thread_samples))}")
        return replace(self, thread=name, tables=tuple(_of_thread(table, name) for table in self.tables))

    def profile(self, top: int, functions: Sequence[str] = ()) -> CaseProfile:
        """Return the `top` functions by own samples, and lines of the functions of those names, else of the costliest.

        Off the processor every stack ends in the kernel's scheduler: what waits there is taken as own samples of the
        program's function that called the kernel, and no lines are returned. Raises `UsageError` for a name that no
        function has.
        """
        merged = _merged(self.tables)
        tables = [_of_program(table) for table in self.tables] if self.off_cpu else self.tables
        with readable_tables():
            counted = WHOLE.validate_json(_core.functions_by_case(_parts(tables), ALL_FUNCTIONS))
        # A table that was cut down to a thread, or to the program, has functions that have no samples in it.
        sampled = (entry for entry in counted["functions"] if entry["inclusive"] != [None])
        of_functions = [self._function_time(entry) for entry in sampled]
        [side] = merged["sides"]
        all_samples = sum(self.thread_samples.values())
        return CaseProfile(
            schema="zerolap.profile/1",
            id=self.id,
            created=self.created,
            case=self.case,
            side=self.side,
            server=self.server,
            platform=self.platform,
            events=merged["events"],
            passes=len(self.tables),
            samples=side["samples"],
            lost=side["lost"],
            cpu_ns_per_op=self.cpu_ns_per_op,
            cpu_measured=self.cpu_measured,
            ops_per_sec=self.ops_per_sec,
            thread=self.thread,
            threads=[
                ProfiledThread(
                    name=name, samples=samples, share=samples / all_samples, cpu_ns_per_op=self._thread_ns(name)
                )
                for name, samples in self.thread_samples.items()
            ],
            functions=of_functions[:top],
            all_functions=len(of_functions),
            sources=[] if self.off_cpu else self._sources(of_functions, functions),
            off_cpu=self.off_cpu,
        )

    def exported(self, export: ExportFormat) -> bytes:
        """Return the stacks in a format of another program, costs as CPU time where that of a request is known."""
        merged, _ = merged_profile(_parts(self.tables), LEAST_SHARE)
        title = f"{self.case} of {self.id}"
        title += "" if self.thread is None else f", thread {self.thread}"
        title += ", off the processor" if self.off_cpu else ""
        return _core.export_profile(merged, export.name, title, [(0, self.server, self._profile_ns)])

    @property
    def _profile_ns(self) -> float | None:
        """The CPU time of a request in the chosen threads."""
        return self.cpu_ns_per_op if self.thread is None else self._thread_ns(self.thread)

    def _thread_ns(self, name: str) -> float | None:
        samples = self.thread_samples[name]
        return None if self.cpu_ns_per_op is None else self.cpu_ns_per_op * samples / sum(self.thread_samples.values())

    def _function_time(self, entry: dict[str, Any]) -> FunctionTime:
        own, inclusive = entry["own"][0] or 0.0, entry["inclusive"][0]
        cost = self._profile_ns
        return FunctionTime(
            function=entry["function"],
            file=entry["file"],
            object=entry["object"],
            own_share=own,
            inclusive_share=inclusive,
            own_cpu_ns_per_op=None if cost is None else own * cost,
            inclusive_cpu_ns_per_op=None if cost is None else inclusive * cost,
        )

    def _sources(self, functions: Sequence[FunctionTime], names: Sequence[str]) -> list[FunctionSource]:
        if names:
            chosen = [function for name in names for function in _named(functions, name)]
            return [self._source(function, None) for function in chosen]
        sources = (self._source(function, SHOWN_LINES) for function in functions[:TRIED_FUNCTIONS])
        with_text = (source for source in sources if any(line.text for line in source.lines))
        return list(islice(with_text, SHOWN_SOURCES))

    def _source(self, function: FunctionTime, most: int | None) -> FunctionSource:
        with readable_tables():
            parts = _parts(self.lined_tables)
            read = _core.function_lines(parts, function.function, function.file, function.object)
        annotated = WHOLE.validate_json(read)
        [side] = annotated["sides"]
        of_all = side["own"] / max(1, side["samples"])
        cost = self.cpu_ns_per_op
        lines = [
            SourceLine(
                file=line["file"],
                line=line["line"][0],
                text=line["text"],
                share=line["own"][0] / max(1, side["own"]),
                cpu_ns_per_op=None if cost is None else line["own"][0] / max(1, side["samples"]) * cost,
            )
            for line in annotated["lines"]
        ]
        costliest = sorted(range(len(lines)), key=lambda place: -lines[place].share)[:most]
        shown = [lines[place] for place in sorted(costliest)]
        return FunctionSource(
            function=function.function,
            file=function.file,
            own_share=of_all,
            lines=shown,
            left_out=annotated["left_out"] + len(lines) - len(shown),
        )


def stored_case(
    sources: QuerySources, identity: str, case: str | None, engine: StackEngine = "sampled"
) -> tuple[str, str]:
    """Return the id of a comparison or run, and the name of its case that has stacks of an engine.

    `identity` is an id, a unique beginning of one, or `latest` for the newest that has stacks. Raises `UsageError`
    where there are none, and without a case where there are several.
    """
    store = sources.store
    if identity == "latest":
        newest = store.stacks.newest(1, engine=engine)
        if not newest:
            off_cpu = " --off-cpu" if engine == "traced" else ""
            raise UsageError(
                f"the store has no {KINDS[engine]}", hint=f"zerolap profile redis-server get-100B{off_cpu}"
            )
        identity = newest[0].id
    elif identity.startswith("r-"):
        identity = store.run_without_cases(identity).id
    else:
        identity = store.comparison_without_cases(identity).id
    names = list(dict.fromkeys(trial.case for trial in store.stacks.trials([identity], engine)))
    if not names:
        with_all = ", or with --stacks all" if engine == "sampled" else ""
        raise UsageError(f"{identity} has no {KINDS[engine]}", hint=f"measure with --engine {engine}{with_all}")
    if case is not None and case not in names:
        raise UsageError(f"{identity} has no {KINDS[engine]} of `{case}`", hint=f"it has those of {_listed(names)}")
    if case is None and len(names) > 1:
        raise UsageError(f"{identity} has {KINDS[engine]} of {len(names)} cases", hint=f"name one: {_listed(names)}")
    return identity, case or names[0]


def read_case_stacks(
    sources: QuerySources, identity: str, case: str, side: DrawnSide, engine: StackEngine = "sampled"
) -> CaseStacks:
    """Return the stacks of a case of a comparison or run; raises `UsageError` where there are none of that side."""
    time: StackTime = "waits" if engine == "traced" else "cpu"
    chosen = selected_cases(sources, StackSelection(id=identity, case=case, time=time))
    if side not in chosen.sides:
        raise UsageError(f"{identity} has no {side}", hint="a run has a head only")
    place = chosen.sides.index(side)
    [tables] = [tables for of_side, _, _, tables in chosen.parts if of_side == place]
    trials = sources.store.reports.trials_of(identity, case, side)
    passes = [each.measurement for each in trials if each.measurement is not None and each.trial.engine == engine]
    cost, measured = _cost(sources, chosen.cost_of(place)[0], passes, engine)
    [result] = chosen.results
    [row] = sources.store.in_short([identity]).values()
    thread_samples = _thread_samples(_merged(tables))
    if not any(thread_samples.values()):
        raise UsageError(f"the stacks of `{case}` have no samples")
    return CaseStacks(
        id=identity,
        created=result.created,
        case=case,
        side=side,
        server=result.head if side == "head" or result.base is None else result.base,
        platform=row.platform,
        tables=tuple(tables),
        lined_tables=tuple(tables),
        thread_samples=thread_samples,
        cpu_ns_per_op=cost,
        cpu_measured=measured,
        ops_per_sec=_mean(passes, "ops_per_sec"),
        off_cpu=engine == "traced",
    )


def _cost(
    sources: QuerySources, timed: float | None, passes: Sequence[Measurement], engine: StackEngine
) -> tuple[float | None, Literal["timed", "sampled", "traced"] | None]:
    """Return what a request takes on the processor or, traced, off it, in all threads; and where that was measured."""
    if engine == "traced":
        off_ns = off_cpu_ns_per_op(passes, sources.store.blobs)
        return off_ns, None if off_ns is None else "traced"
    sampled = _mean(passes, "cpu_ns_per_op")
    if timed is not None:
        return timed, "timed"
    return sampled, None if sampled is None else "sampled"


def _mean(passes: Sequence[Measurement], metric: str) -> float | None:
    values = [measurement.metrics.get(metric) for measurement in passes]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def _parts(tables: Sequence[bytes]) -> list[Part]:
    return [(0, 0, 1.0, list(tables))]


def _merged(tables: Sequence[bytes]) -> dict[str, Any]:
    return WHOLE.validate_json(merged_profile(_parts(tables), LEAST_SHARE)[0])


def _thread_samples(merged: dict[str, Any]) -> dict[str, int]:
    """Return the samples of each thread, the one with the most first."""
    samples: dict[str, float] = {}
    [side] = merged["sides"]
    for thread, own in zip(merged["nodes"]["thread"], side["own"], strict=True):
        name = merged["threads"][thread]
        samples[name] = samples.get(name, 0.0) + own
    in_order = sorted(samples.items(), key=lambda thread: (-thread[1], thread[0]))
    return {name: round(of_thread) for name, of_thread in in_order}


def _of_thread(table: bytes, name: str) -> bytes:
    """Return a table with the stacks of one thread; its lines, which are of all threads, are left out."""
    whole = WHOLE.validate_json(table)
    stacks = [stack for stack in whole["stacks"] if whole["threads"][stack["thread"]]["name"] == name]
    whole |= {"stacks": stacks, "samples": sum(stack["samples"] for stack in stacks)}
    whole.pop("lines", None)
    return json.dumps(whole).encode()


def _of_program(table: bytes) -> bytes:
    """Return a table without the kernel's frames; a stack that has no others keeps them."""
    whole = WHOLE.validate_json(table)
    of_kernel = {place for place, frame in enumerate(whole["frames"]) if frame["object"] == KERNEL}
    for stack in whole["stacks"]:
        stack["frames"] = [frame for frame in stack["frames"] if frame not in of_kernel] or stack["frames"]
    return json.dumps(whole).encode()


def _named(functions: Sequence[FunctionTime], name: str) -> list[FunctionTime]:
    named = [function for function in functions if function.function == name]
    if not named:
        alike = get_close_matches(name, [function.function for function in functions], n=3)
        hint = f"did you mean {_listed(alike)}?" if alike else "--top lists more functions"
        raise UsageError(f"no function `{name}` in the stacks", hint=hint)
    return named


def _listed(names: Sequence[str], most: int = 10) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(plain(name, LONGEST_NAME) for name in names[:most]) + more
