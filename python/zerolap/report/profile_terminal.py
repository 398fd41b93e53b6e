"""A profile on a terminal: what was measured, the costliest functions, and their lines."""

import textwrap
from collections.abc import Sequence

from rich.console import Console

from zerolap.records import CaseProfile, FunctionSource, FunctionTime
from zerolap.report.lines import Lines, TextColumn
from zerolap.sheets import count, counted, one_line, plain, printable, share

LONGEST_NAME = 80
LONGEST_FILE = 28
SMALLEST_ROOM = 20
MOST_THREADS = 8
TAB = 4
NO_SOURCE = "no source lines of the costliest functions; servers built from a source tree or a revision have them"
OWN = "own: without the functions that it calls"
OWN_OFF_CPU = "own: in the kernel, or preempted"


def show_profile(profile: CaseProfile, console: Console) -> None:
    """Write a profile: headline, threads, a row for each function, lines of source code, the id."""
    lines = Lines(console)
    side = "" if profile.id.startswith("r-") else f"{profile.side} "
    what = ", off the processor" if profile.off_cpu else ""
    lines.line((f"{one_line(profile.case)} of {side}{one_line(profile.server)}{what}", "bold"))
    lines.line((_effort(profile), "dim"))
    lines.line(_measured(profile))
    lines.line(("threads  ", "dim"), _threads(profile))
    lines.blank()
    _show_functions(lines, profile)
    for source in profile.sources:
        lines.blank()
        _show_source(lines, source)
    if not profile.sources and not profile.off_cpu:
        lines.blank()
        lines.line(("note: ", "bold"), NO_SOURCE)
    lines.blank()
    off_cpu = " --off-cpu" if profile.off_cpu else ""
    command = f"zerolap profile --stored {profile.id} {one_line(profile.case)}{off_cpu} --output stacks.svg"
    lines.line((profile.id, "bold"), (f"  flame graph: {command}", "dim"))


def _effort(profile: CaseProfile) -> str:
    lost = f", {profile.lost:,} lost" if profile.lost else ""
    thread = "" if profile.thread is None else f" of the thread {plain(profile.thread, LONGEST_NAME)}"
    passes = counted(profile.passes, "pass", "passes")
    if profile.off_cpu:
        return f"waits of {count(profile.samples / 1e6)} ms{thread} in {passes}{lost}"
    return f"{counted(profile.samples, 'sample', 'samples')}{thread} in {passes} by {'+'.join(profile.events)}{lost}"


def _measured(profile: CaseProfile) -> str:
    """Return the time of a request and the rate; perf takes a part of both where they were sampled."""
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
    shown = profile.threads[:MOST_THREADS]
    named = [f"{plain(thread.name, LONGEST_NAME)} {share(thread.share)}" for thread in shown]
    left = len(profile.threads) - len(shown)
    return ", ".join([*named, *([f"{left} more"] if left else [])])


def _show_functions(lines: Lines, profile: CaseProfile) -> None:
    functions = profile.functions
    columns = [
        TextColumn("function", [plain(function.function, LONGEST_NAME) for function in functions]),
        TextColumn("own", [share(function.own_share) for function in functions], right=True),
        TextColumn("with callees", [share(function.inclusive_share) for function in functions], right=True),
        TextColumn("file", [_place(function) for function in functions], dispensable=1),
    ]
    if any(function.own_cpu_ns_per_op is not None for function in functions):
        time = "time off the processor" if profile.off_cpu else "CPU time"
        lines.line((f"{OWN_OFF_CPU if profile.off_cpu else OWN}; ns: {time} per request", "dim"))
        columns.insert(2, _times([function.own_cpu_ns_per_op for function in functions]))
        columns.insert(4, _times([function.inclusive_cpu_ns_per_op for function in functions]))
    else:
        lines.line((OWN_OFF_CPU if profile.off_cpu else OWN, "dim"))
    lines.table(columns)
    left = profile.all_functions - len(functions)
    if left > 0:
        lines.line(
            (f"{counted(left, 'more function', 'more functions')}: --top {profile.all_functions} lists all", "dim")
        )


def _times(values: Sequence[float | None]) -> TextColumn:
    return TextColumn("ns", [count(value) for value in values], right=True)


def _place(function: FunctionTime) -> str:
    return plain(function.file or function.object, LONGEST_FILE)


def _show_source(lines: Lines, source: FunctionSource) -> None:
    """Write the lines of a function with their share of it, each file's under its name."""
    name = plain(source.function, LONGEST_NAME)
    file = "" if source.file is None else f" ({plain(source.file, LONGEST_NAME)})"
    if not source.lines:
        lines.line((name, "bold"), f"{file}: no lines are recorded")
        return
    lines.line((name, "bold"), f"{file}, {share(source.own_share)} of all samples, split by line:")
    numbers = [
        str(line.line) if line.file == source.file else f"{plain(line.file, LONGEST_NAME)}:{line.line}"
        for line in source.lines
    ]
    width = max(map(len, numbers))
    console_width = lines.console.width
    texts = _code([line.text for line in source.lines])
    for line, number, text in zip(source.lines, numbers, texts, strict=True):
        time = "" if line.cpu_ns_per_op is None else f"{count(line.cpu_ns_per_op):>8} ns"
        costs, place = f"{share(line.share):>8}{time}", f"  {number:>{width}}  "
        room = max(console_width - len(costs) - len(place), SMALLEST_ROOM)
        first, *rest = textwrap.wrap(text, room, break_on_hyphens=False) or [""]
        lines.line(costs, (place, "dim"), first)
        for part in rest:
            lines.line(" " * len(costs + place), part)
    if source.left_out:
        lines.line((f"  {counted(source.left_out, 'more line', 'more lines')}", "dim"))


def _code(texts: Sequence[str | None]) -> list[str]:
    """Return lines of code without what they are all indented by; where the source was not kept, that is stated."""
    shown = [printable(text.replace("\n", " ").expandtabs(TAB)) if text else "" for text in texts]
    dedented = textwrap.dedent("\n".join(shown)).split("\n")
    return [code if text is not None else "-" for code, text in zip(dedented, texts, strict=True)]
