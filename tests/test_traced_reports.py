"""What was traced of a case, in the reports of runs and comparisons."""

import io
import json
import re
from typing import Any

import pytest
from made_records import a_run, a_run_case, changed
from rich.console import Console
from stored_comparison import COMPARISON

from zerolap.records import Comparison
from zerolap.report.document import comparison_json, comparison_markdown, document_json, run_markdown
from zerolap.report.terminal import show_sheet
from zerolap.sheets import comparison_sheet, run_sheet

CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
HOSTILE = "\x1b[31m</details> @user `x`"


def stacks_of(event: str, thread: str, frames: list[str], share: float) -> dict[str, Any]:
    """Return the stacks of an event."""
    return {"event": event, "samples": 4000, "stacks": [{"thread": thread, "frames": frames, "share": share}]}


def traced(calls_per_op: float, thread: str = "redis-server", **changes: Any) -> dict[str, Any]:
    """Return what was traced of a side as a document has it."""
    counted = {
        "schema": "zerolap.traced/1",
        "threads": [
            {
                "thread": thread,
                "threads": 1,
                "off_per_op": 0.1,
                "off_ns_per_op": 5000.0,
                "queue_ns_per_op": 40.0,
                "faults_per_op": 0.001,
                "block_io_per_op": None,
            }
        ],
        "calls": [
            {"thread": thread, "call": "epoll_wait", "calls_per_op": calls_per_op, "ns_per_op": 900.0},
            {"thread": thread, "call": "read", "calls_per_op": 0.5, "ns_per_op": 100.0, "bytes_per_op": 31.0},
        ],
        "stacks": [
            stacks_of("system calls", thread, ["write", "connSocketWrite", "writeToClient"], 0.612),
            stacks_of("switches", thread, ["epoll_wait", "aeProcessEvents"], 0.99),
            stacks_of("waits", thread, ["fdatasync", "flushAppendOnlyFile"], 0.415),
        ],
    }
    metrics = {"traced_syscalls_per_op": [calls_per_op, calls_per_op - 0.25, calls_per_op + 0.25]}
    return {"metrics": metrics, "passes": 3, "traced": {**counted, **changes}}


def on_terminal(document: Any, sheet_of: Any, width: int = 100) -> str:
    file = io.StringIO()
    show_sheet(sheet_of(document), Console(file=file, width=width))
    return file.getvalue()


def compared(**changes: Any) -> Comparison:
    """Return the comparison with what was traced of its first case."""
    return COMPARISON.model_copy(update={"cases": [changed(COMPARISON.cases[0], **changes)]})


def test_a_run_shows_metrics_system_calls_waiting_and_stacks() -> None:
    run = a_run([a_run_case("get", {"traced_syscalls_per_op": 1.5}, traced=traced(1.5))])
    text = on_terminal(run, run_sheet)
    assert "traced in 3 passes" in text
    assert "1.25 to 1.75" in text
    assert "epoll_wait" in text
    assert "61.2 %" in text
    assert "write ← connSocketWrite ← writeToClient" in text
    markdown = run_markdown(run)
    assert "| `redis-server` | `epoll_wait` | 1,500 | 900 | - |" in markdown
    assert "| `redis-server` | `read` | 500 | 100 | 31 |" in markdown
    assert "stacks of the time off the processor, innermost function first" in text
    assert "- 41.5 % `redis-server` `fdatasync ← flushAppendOnlyFile`" in markdown
    assert "- 61.2 % `redis-server` `write ← connSocketWrite ← writeToClient`" in markdown
    assert json.loads(document_json(run))["cases"][0]["traced"]["traced"]["schema"] == "zerolap.traced/1"


def test_a_comparison_shows_both_sides_and_a_call_that_is_new() -> None:
    head = traced(2.0)
    added = {"thread": "redis-server", "call": "getpid", "calls_per_op": 1.0, "ns_per_op": 50.0}
    head["traced"]["calls"].append(added)
    comparison = compared(traced={"base": traced(1.5), "head": head})
    text = on_terminal(comparison, comparison_sheet)
    assert "traced in 3 passes of each side" in text
    assert "1.5 → 2" in text
    markdown = comparison_markdown(comparison)
    assert "| `redis-server` | `epoll_wait` | 1,500 → 2,000 | 900 → 900 | - → - |" in markdown
    assert "| `redis-server` | `getpid` | 0 → 1,000 | 0 → 50 | - → - |" in markdown


@pytest.mark.parametrize("width", [40, 80, 200])
def test_names_that_the_server_chose_stay_names(width: int) -> None:
    hostile = traced(1.5, HOSTILE, stacks=[stacks_of("system calls", HOSTILE, [HOSTILE] * 64, 1.0)])
    run = a_run([a_run_case("get", {"traced_syscalls_per_op": 1.5}, traced=hostile)])
    assert "\x1b" not in on_terminal(run, run_sheet, width)
    markdown = run_markdown(run)
    assert "\x1b" not in markdown
    outside_of_code = CODE.sub("", markdown)
    assert "[31m" in markdown
    assert "[31m" not in outside_of_code
    assert "@user" not in outside_of_code


def test_a_report_without_stacks_states_why() -> None:
    without = traced(1.5, stacks=[], no_stacks="perf is not installed (apt-get install linux-perf)")
    run = a_run([a_run_case("get", {"traced_syscalls_per_op": 1.5}, traced=without)])
    assert "note: stacks are missing: perf is not installed" in on_terminal(run, run_sheet)
    assert "stacks are missing: perf is not installed" in run_markdown(run)


def test_a_report_without_tcp_states_why() -> None:
    metrics = {"traced_syscalls_per_op": 1.5}
    without = traced(1.5, no_tcp="the server has no TCP connection; it has with --topology tcp")
    run = a_run([a_run_case("get", metrics, traced=without)])
    assert "note: nothing is reported of TCP: the server has no TCP connection" in on_terminal(run, run_sheet)
    assert "nothing is reported of TCP: the server has no TCP connection" in run_markdown(run)
    over_tcp = traced(1.5)
    over_tcp["metrics"]["tcp_data_segments_sent_per_op"] = [0.4, 0.38, 0.42]
    text = on_terminal(a_run([a_run_case("get", metrics, traced=over_tcp)]), run_sheet)
    assert "TCP data segments sent/request" in text
    assert "0.38 to 0.42" in text
    assert "nothing is reported of TCP" not in text


def test_markdown_of_many_traced_cases_fits_a_comment() -> None:
    name = "x" * 200
    calls = [
        {"thread": name, "call": f"{name[:190]}{place}", "calls_per_op": 1.0, "ns_per_op": 1.0} for place in range(256)
    ]
    stacks = [stacks_of(event, name, [name] * 64, 0.05) for event in ("system calls", "switches")]
    for of_event in stacks:
        of_event["stacks"] *= 20
    large = traced(1.5, name, calls=calls, stacks=stacks)
    document = json.loads(comparison_json(COMPARISON))
    case = {**document["cases"][0], "findings": [], "traced": {"base": large, "head": large}}
    document["cases"] = [{**case, "case": f"case-{place}"} for place in range(100)]
    text = comparison_markdown(Comparison.model_validate(document))
    assert text.count("traced in 3 passes") == 4
    assert "96 more were traced" in text
    assert len(text) < 60_000
