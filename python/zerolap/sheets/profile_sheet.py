"""A profile as it is shown: what was measured, the costliest functions, and their lines."""

import textwrap
from collections.abc import Sequence
from typing import Final

from zerolap.records import CaseProfile, FunctionSource, FunctionTime
from zerolap.sheets.format import NO_VALUE, count, counted, first_of, plain, printable, share
from zerolap.sheets.sheet import Cell, Column, Fact, Section, Sentence, Sheet, Table, name

LONGEST_NAME: Final = 80
LONGEST_FILE: Final = 28
MOST_THREADS: Final = 8
TAB: Final = 4
NO_SOURCE: Final = (
    "no source lines of the costliest functions; servers built from a source tree or a revision have them"
)
OWN: Final = "own: without the functions that it calls"
OWN_OFF_CPU: Final = "own: in the kernel, or preempted"


def profile_sheet(profile: CaseProfile) -> Sheet:
    """Return the threads, a row for each function, and lines of source code."""
    side = "" if profile.id.startswith("r-") else f"{profile.side} "
    what = ", off the processor" if profile.off_cpu else ""
    left = profile.all_functions - len(profile.functions)
    more = f"{counted(left, 'more function', 'more functions')}: --top {profile.all_functions} lists all"
    off_cpu = " --off-cpu" if profile.off_cpu else ""
    own, time = (OWN_OFF_CPU, "time off the processor") if profile.off_cpu else (OWN, "CPU time")
    return Sheet(
        kind="profile",
        title=f"{profile.case} of {side}{profile.server}{what}",
        remark=_effort(profile),
        facts=[Fact(label="measured", text=_measured(profile)), Fact(label="threads", text=_threads(profile))],
        sentences=[Sentence(text=f"{own}; ns: {time} per request" if _has_times(profile) else own, mark="quiet")],
        tables=[_functions(profile)],
        sections=[
            *([Section(sentences=[Sentence(text=more, mark="quiet")])] if left > 0 else []),
            *map(_source, profile.sources),
        ],
        notes=[] if profile.sources or profile.off_cpu else [NO_SOURCE],
        closing=[
            Fact(label="id", text=profile.id),
            Fact(
                label="flame graph",
                text=f"zerolap profile --stored {profile.id} {profile.case}{off_cpu} --output stacks.svg",
            ),
        ],
    )


def _effort(profile: CaseProfile) -> str:
    lost = f", {profile.lost:,} lost" if profile.lost else ""
    thread = "" if profile.thread is None else f" of the thread {plain(profile.thread, LONGEST_NAME)}"
    passes = counted(profile.passes, "pass", "passes")
    if profile.off_cpu:
        return f"waits of {count(profile.samples / 1e6)} ms{thread} in {passes}{lost}"
    return f"{counted(profile.samples, 'sample', 'samples')}{thread} in {passes} by {'+'.join(profile.events)}{lost}"


def _measured(profile: CaseProfile) -> str:
    """Write the time of a request and the rate; perf takes a part of both where they were sampled."""
    timed: list[str] = []
    sampled: list[str] = []
    if profile.off_cpu and profile.cpu_ns_per_op is not None:
        return f"{count(profile.cpu_ns_per_op)} ns off the processor per request, in all threads, while traced"
    if profile.cpu_ns_per_op is not None:
        of_where = timed if profile.cpu_measured == "timed" else sampled
        of_where.append(f"{count(profile.cpu_ns_per_op)} CPU ns per request")
    if profile.ops_per_sec is not None:
        sampled.append(f"{count(profile.ops_per_sec)} requests per second")
    where = {"in timed trials": timed, "while perf sampled": sampled}
    parts = [f"{' and '.join(figures)} {place}" for place, figures in where.items() if figures]
    return "; ".join(parts) or "what a request takes was not measured"


def _threads(profile: CaseProfile) -> str:
    named = [f"{plain(thread.name, LONGEST_NAME)} {share(thread.share)}" for thread in profile.threads]
    return first_of(named, MOST_THREADS)


def _has_times(profile: CaseProfile) -> bool:
    return any(function.own_cpu_ns_per_op is not None for function in profile.functions)


def _functions(profile: CaseProfile) -> Table:
    has_times = _has_times(profile)
    columns = [
        Column(key="function", heading="function"),
        Column(key="own", heading="own", is_number=True),
        *([Column(key="own_ns", heading="ns", is_number=True)] if has_times else []),
        Column(key="inclusive", heading="with callees", is_number=True),
        *([Column(key="inclusive_ns", heading="ns", is_number=True)] if has_times else []),
        Column(key="file", heading="file", rank=1),
    ]
    rows = [_function(function, has_times=has_times) for function in profile.functions]
    return Table(key="functions", columns=columns, rows=rows)


def _function(function: FunctionTime, *, has_times: bool) -> list[Cell]:
    return [
        name(plain(function.function, LONGEST_NAME)),
        Cell(text=share(function.own_share)),
        *([Cell(text=count(function.own_cpu_ns_per_op))] if has_times else []),
        Cell(text=share(function.inclusive_share)),
        *([Cell(text=count(function.inclusive_cpu_ns_per_op))] if has_times else []),
        name(plain(function.file or function.object, LONGEST_FILE)),
    ]


def _source(source: FunctionSource) -> Section:
    file = "" if source.file is None else f"{plain(source.file, LONGEST_NAME)}, "
    title = plain(source.function, LONGEST_NAME)
    if not source.lines:
        return Section(title=title, remark=f"{file}no lines are recorded")
    has_times = any(line.cpu_ns_per_op is not None for line in source.lines)
    columns = [
        Column(key="share", heading="share", is_number=True),
        *([Column(key="ns", heading="ns", is_number=True)] if has_times else []),
        Column(key="line", heading="line", is_number=True),
        Column(key="code", heading="code", is_code=True),
    ]
    rows = [
        [
            Cell(text=share(line.share)),
            *([Cell(text=count(line.cpu_ns_per_op))] if has_times else []),
            Cell(text=str(line.line) if line.file == source.file else f"{plain(line.file, LONGEST_NAME)}:{line.line}"),
            Cell(text=code),
        ]
        for line, code in zip(source.lines, _code([line.text for line in source.lines]), strict=True)
    ]
    return Section(
        title=title,
        remark=f"{file}{share(source.own_share)} of all samples, split by line",
        tables=[Table(columns=columns, rows=rows, left_out=source.left_out)],
    )


def _code(texts: Sequence[str | None]) -> list[str]:
    """Return lines of code without what they are all indented by; where the source was not kept, that is stated."""
    shown = [printable(text.replace("\n", " ").expandtabs(TAB)) if text else "" for text in texts]
    dedented = textwrap.dedent("\n".join(shown)).split("\n")
    return [code if text is not None else NO_VALUE for code, text in zip(dedented, texts, strict=True)]
