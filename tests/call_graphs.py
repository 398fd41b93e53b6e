"""Call graphs made by hand, and what is explained of two of them."""

from collections.abc import Mapping, Sequence

from reason_checks import check_reasons

from zerolap.explain import Evidence, explain_change
from zerolap.records import CallGraph, Changes, FileChange, Finding, Hunk, SourceFunction

FILE = "server.c"
LINES = {"main": 1, "command": 100, "format": 200, "reply": 300, "helper": 400, "lookup": 500}
Costs = Mapping[str, float]
Calls = Mapping[tuple[str, str], float]


def inclusive(name: str, costs: Costs, calls: Calls) -> float:
    """What one call of a function costs with all that it calls; `costs` are of one call."""
    return costs[name] + sum(
        times * inclusive(callee, costs, calls) for (caller, callee), times in calls.items() if caller == name
    )


def times_called(name: str, calls: Calls) -> float:
    if name == "main":
        return 1.0
    return sum(times * times_called(caller, calls) for (caller, callee), times in calls.items() if callee == name)


def call_graph(
    costs: Costs,
    calls: Calls,
    lines: Mapping[str, Sequence[tuple[str, int, float]]] | None = None,
    files: Mapping[str, str] | None = None,
) -> CallGraph:
    """A graph of one request from what one call of each function costs itself, and how often it calls the others.

    `lines` are a function's own instructions by file and line, where they are not all on one line of its own; `files`
    are those where a function begins by callgrind, where it is not `FILE`.
    """
    names = list(costs)
    places = {name: [(FILE, LINES.get(name, 900) + 1, costs[name] * times_called(name, calls))] for name in names}
    places |= {name: list(of_function) for name, of_function in (lines or {}).items()}
    begins = {name: (files or {}).get(name, FILE) for name in names}
    known = sorted({FILE, *begins.values(), *(file for of_function in places.values() for file, _, _ in of_function)})
    functions = [
        {
            "name": name.partition("@")[0],
            "file": known.index(begins[name]),
            "object": "server",
            "instructions": costs[name] * times_called(name, calls),
            "syscalls": 0.0,
            "calls": 0.0 if name == "main" else times_called(name, calls),
            "lines": [[known.index(file), line, instructions] for file, line, instructions in places[name]],
        }
        for name in names
    ]
    edges = [
        {
            "caller": names.index(caller),
            "callee": names.index(callee),
            "calls": times * times_called(caller, calls),
            "instructions": times * times_called(caller, calls) * inclusive(callee, costs, calls),
            "syscalls": 0.0,
        }
        for (caller, callee), times in calls.items()
    ]
    document = {
        "schema": "zerolap.callgraph/1",
        "files": known,
        "totals": {"instructions": inclusive("main", costs, calls), "syscalls": 0.0},
        "functions": functions,
        "edges": edges,
    }
    return CallGraph.model_validate(document)


def definitions(*names: str) -> list[SourceFunction]:
    return [SourceFunction(FILE, name, LINES.get(name, 900), LINES.get(name, 900) + 50) for name in names]


def changed_in(name: str, *texts: str) -> Changes:
    """One changed line in a function for each text, all of them apart."""
    hunks = [hunk_at(LINES[name] + 1 + 2 * number, text) for number, text in enumerate(texts)]
    return Changes(files=[FileChange(old_file=f"src/{FILE}", new_file=f"src/{FILE}", hunks=hunks)])


def hunk_at(line: int, text: str) -> Hunk:
    old_lines, new_lines = (sum(of_side.startswith(sign) for of_side in text.splitlines()) for sign in "-+")
    # Of a side without lines, a hunk names the line before.
    old_start, new_start = (line if lines else line - 1 for lines in (old_lines, new_lines))
    return Hunk(old_start=old_start, old_lines=old_lines, new_start=new_start, new_lines=new_lines, text=text)


def explained(
    base: CallGraph,
    head: CallGraph,
    changes: Changes | None = None,
    *,
    base_functions: Sequence[str] | None = None,
    head_functions: Sequence[str] | None = None,
    stripped: bool = False,
) -> list[Finding]:
    names = head_functions or [function.name for function in head.functions]
    findings = explain_change(
        Evidence(
            base=base,
            head=head,
            base_functions=definitions(*(base_functions or [function.name for function in base.functions])),
            head_functions=definitions(*names),
            changes=changes if changes is not None else Changes(files=[]),
            base_stripped=False,
            head_stripped=stripped,
        )
    )
    check_reasons([finding.model_dump(mode="json") for finding in findings])
    return findings


def culprits(findings: Sequence[Finding]) -> list[str | None]:
    return [finding.function for finding in findings if finding.kind == "culprit"]
