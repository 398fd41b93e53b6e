"""Traces of forks: the program that bpftrace gets, what is read of its output, findings, reports, and a real server."""

import io
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import made_snapshots
import pytest
from command_line import Zerolap, path_without
from made_traces import EVIL, MS, parent_call, trace
from report_page import embedded
from rich.console import Console
from waiting import wait_until

from benches.planted_stall import STALL_MS, STALLING, stall_in, stalling_server
from zerolap.engines import fork_program as program
from zerolap.engines.fork_program import (
    FAULT_EVENTS,
    MOST_FILES,
    MOST_HZ,
    NO_FILE,
    TimedCalls,
    fork_program,
    read_fork_counts,
    sampling_rate_hz,
)
from zerolap.engines.system_call_names import system_call_names
from zerolap.engines.traced_fork import (
    MOST_RECORDED_CALLS,
    CallKey,
    count_memory_areas,
    open_files,
    parent_calls,
    read_page_table_bytes,
    recorded_calls,
    require_snapshot_tracing,
)
from zerolap.explain import fork_findings
from zerolap.explain.fork_findings import LONG_NS
from zerolap.records import EnvironmentMissing, ForkPartName, SnapshotReport, SnapshotTrace
from zerolap.report import document_json, sheet_html, sheet_markdown, show_sheet
from zerolap.sheets import sweep_sheet, with_sweep_reading

NAMES = system_call_names("x86_64")
NUMBERS = {name: number for number, name in NAMES.items()}
WRITE, READ, NANOSLEEP, EPOLL_WAIT = (NUMBERS[name] for name in ("write", "read", "clock_nanosleep", "epoll_wait"))

RECORDED: dict[str, Any] = {
    "child": 4712,
    "fork_ns": 30 * MS,
    "fork_off": 6 * MS,
    "pause": 55 * MS,
    "child_ns": 900 * MS,
    "fork_stacks": {
        "\n    clear_page_erms+4\n    copy_page_range+100\n    dup_mmap+9\n    copy_process+1\n": 6,
        "\n    copy_pte_range.isra.0+77\n    copy_page_range+101\n    dup_mmap+9\n": 2,
        "\n    vm_area_dup+3\n    dup_mmap+9\n": 1,
        "\n    copy_files+3\n": 1,
    },
    "calls": {f"0,{NANOSLEEP},{NO_FILE}": 1, f"0,{WRITE},{NO_FILE}": 2, f"1,{WRITE},{NO_FILE}": 500, f"1,{WRITE},1": 3},
    "call_ns": {f"0,{NANOSLEEP},{NO_FILE}": 20 * MS, f"1,{WRITE},{NO_FILE}": 5 * MS, f"1,{WRITE},1": 1 * MS},
    "longest": {f"{NANOSLEEP},{NO_FILE}": 20 * MS},
    "off": {"2": 40, "1": 1},
    "off_ns": {"2": 300 * MS, "1": 20 * MS},
    "queue_ns": {"2": 2 * MS},
    "faults": {"3": 4000, "2": 5},
    "child_faults": {"0": 7},
    "step": {"0": NUMBERS["set_robust_list"], "1": NUMBERS["exit_group"]},
    "step_at": {"0": 31 * MS, "1": 890 * MS},
    "step_calls": {"1": 3, "2": 1},
    "step_ns": {"1": 3000},
    "child_calls": {f"{WRITE}": 50, f"{NUMBERS['exit_group']}": 1},
    "child_call_ns": {f"{WRITE}": 9 * MS},
    "went": 1,
}


def output(**changes: Any) -> str:
    """Return what bpftrace writes: a document on each line, one for each map."""
    maps = {f"@{name}": values for name, values in (RECORDED | changes).items()}
    return "\n".join(json.dumps({"type": "map", "data": {name: values}}) for name, values in maps.items()) + "\n"


def report(*traces: SnapshotTrace) -> SnapshotReport:
    return made_snapshots.report().model_copy(update={"traces": list(traces)})


def with_findings(made: SnapshotTrace) -> SnapshotTrace:
    return made.model_copy(update={"findings": fork_findings(made)})


def shown(document: SnapshotReport) -> str:
    text = io.StringIO()
    show_sheet(sweep_sheet(document), Console(file=text, width=160))
    return text.getvalue()


def test_the_program_is_of_one_process_and_writes_nothing_for_single_events() -> None:
    text = fork_program(4711, NAMES, [1, 7], 4999, FAULT_EVENTS)
    probes = [line for line in text.splitlines() if line.startswith(("tracepoint:", "software:", "profile:"))]
    assert len(probes) == 11
    assert text.count("{") == text.count("}")
    assert "print" not in text
    assert "$descriptor == 1 || $descriptor == 7" in text
    assert "profile:hz:4999 /tid == 4711/" in text
    assert f"$call == {EPOLL_WAIT}" in text


def test_the_program_does_without_what_a_kernel_or_a_server_lacks() -> None:
    text = fork_program(4711, system_call_names("aarch64"), [], 97, [])
    assert "page_fault_user" not in text
    assert "software:page-faults:1" in text
    assert "0 == 1" in text


def test_a_server_with_any_number_of_open_files_has_a_program_of_bounded_length() -> None:
    text = fork_program(4711, NAMES, range(5000), 97, [])
    assert text.count("$descriptor == ") == MOST_FILES


def test_forks_of_any_length_have_a_bounded_number_of_samples() -> None:
    assert sampling_rate_hz(0.001) == MOST_HZ
    assert sampling_rate_hz(0.0) == MOST_HZ
    for seconds in (0.5, 1.0, 10.0):
        assert sampling_rate_hz(seconds) * seconds <= program.WANTED_SAMPLES


def test_the_fork_is_divided_by_the_functions_above_each_sample() -> None:
    counts = read_fork_counts(output())
    parts: dict[ForkPartName, int] = counts.parts_ns()
    on_processor_ns = 24 * MS
    assert parts == {
        "page tables": round(0.8 * on_processor_ns),
        "memory areas": round(0.1 * on_processor_ns),
        "other": round(0.1 * on_processor_ns),
        "off the processor": 6 * MS,
    }
    assert ("copy_pte_range", "copy_page_range", "dup_mmap") in counts.stacks


def test_a_fork_without_samples_has_its_time_off_the_processor_alone() -> None:
    assert read_fork_counts(output(fork_stacks={})).parts_ns() == {"off the processor": 6 * MS}


def test_calls_are_told_apart_by_their_file_and_by_the_end_of_the_pause() -> None:
    counts = read_fork_counts(output())
    assert counts.calls[NANOSLEEP, None] == TimedCalls(1, 20 * MS, 20 * MS, 1, 20 * MS)
    assert counts.calls[WRITE, None] == TimedCalls(502, 5 * MS, 0, 2, 0)
    assert counts.calls[WRITE, 1] == TimedCalls(3, 1 * MS, 0, 0, 0)
    [first, *_] = parent_calls(counts, {1: "server.log"}, {})
    assert (first.call, first.target) == ("clock_nanosleep", None)
    assert [call.target for call in parent_calls(counts, {1: "server.log"}, {})].count("server.log") == 1
    # It was opened and closed meanwhile.
    assert [call.target for call in parent_calls(counts, {}, {})].count("a file") == 1


def test_what_is_off_the_processor_has_its_reason_and_faults_have_their_kind() -> None:
    counts = read_fork_counts(output())
    assert set(counts.off) == {"waiting for requests", "in a system call"}
    assert (counts.off["in a system call"].ns, counts.off["in a system call"].queue_ns) == (20 * MS, 0)
    assert counts.faults == {"copy on write": 4000, "first write": 5}
    assert counts.child_faults == {"first read": 7}


def test_the_steps_of_the_child_are_in_their_order_and_calls_in_a_row_are_together() -> None:
    first, last = read_fork_counts(output()).steps
    assert (first.number, first.calls, first.at_ns, first.ns) == (NUMBERS["set_robust_list"], 3, 31 * MS, 3000)
    # It does not return.
    assert (last.number, last.calls, last.ns) == (NUMBERS["exit_group"], 1, 0)


def test_without_a_fork_there_is_none() -> None:
    counts = read_fork_counts("")
    assert (counts.fork_ns, counts.child_ns, counts.pause_ns) == (None, None, None)
    assert counts.parts_ns() == {"off the processor": 0}


@pytest.mark.parametrize(
    "wrong",
    [
        "not JSON",
        "[]",
        "[" * 100_000,
        output(child=-1),
        output(fork_ns="30"),
        output(calls={"0,1": 1}),
        output(calls={"0,1,2,3": 1}),
        output(calls={"0,1,x": 1}),
        output(calls=[1]),
        output(calls={"0,\N{ARABIC-INDIC DIGIT ONE},1": 1}),
        output(fork_stacks=[1]),
        output(fork_stacks={"\n a+1\n": -1}),
        output(faults={"9": 1}),
        output(step={"x": 1}),
        output(calls={f"0,{number},{NO_FILE}": 1 for number in range(4096)}),
    ],
)
def test_output_of_another_form_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_fork_counts(wrong)


def test_stacks_are_recorded_of_what_is_not_answering_requests_first() -> None:
    calls: dict[CallKey, TimedCalls] = {
        (WRITE, None): TimedCalls(500, 90 * MS),
        (EPOLL_WAIT, None): TimedCalls(100, 500 * MS),
        (NANOSLEEP, None): TimedCalls(1, 20 * MS),
        (WRITE, 1): TimedCalls(2, 1 * MS),
    }
    places = recorded_calls(calls)
    assert places[:2] == [(NANOSLEEP, None), (WRITE, 1)]
    assert len(recorded_calls({(number, None): TimedCalls(1, 1) for number in range(300)})) == MOST_RECORDED_CALLS


def test_files_of_a_process_are_regular_ones_and_its_outputs(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/log\xff"
    reading, writing = os.pipe()
    with open(name, "wb") as opened:
        files = open_files(os.getpid())
        assert files[opened.fileno()] == "log?"
        assert reading not in files
        assert writing not in files
    os.close(reading)
    os.close(writing)
    assert open_files(2**22 + 1) == {}


def test_a_process_that_is_gone_has_no_figures_of_memory() -> None:
    if sys.platform == "linux":
        assert (count_memory_areas(os.getpid()) or 0) > 0
        assert (read_page_table_bytes(os.getpid()) or 0) > 0
    assert count_memory_areas(2**22 + 1) is None
    assert read_page_table_bytes(2**22 + 1) is None


def test_a_wait_of_the_main_thread_is_a_finding_with_its_share_and_its_stack() -> None:
    sleep = parent_call("clock_nanosleep", 20, in_pause_ms=20, frames=("clock_nanosleep", STALLING, "fork"))
    answered = [parent_call("epoll_wait", 500), parent_call("write", 90, in_pause_ms=9), parent_call("read", 50)]
    [finding] = fork_findings(trace(sleep, *answered))
    assert (finding.kind, finding.calls, finding.ns) == ("waiting", 2, 20 * MS)
    assert finding.share_of_pause == 0.4
    assert finding.frames == ["clock_nanosleep", STALLING, "fork"]
    assert "2 `clock_nanosleep`" in finding.text
    assert "20.00 ms until the child has exited, and 40.0 % of the pause" in finding.text


def test_writing_a_log_and_changing_the_memory_map_are_findings_the_longest_in_the_pause_first() -> None:
    calls = [
        parent_call("madvise", 3, in_pause_ms=2),
        parent_call("munmap", 1),
        parent_call("write", 1.5, in_pause_ms=1, target=EVIL),
        parent_call("openat", 0.6),
    ]
    memory, files = fork_findings(trace(*calls))
    assert (memory.kind, files.kind) == ("memory", "files")
    assert (memory.ns, memory.ns_in_pause) == (4 * MS, 2 * MS)
    assert files.ns == round(2.1 * MS)
    assert "2 `madvise`, 2 `munmap`" in memory.text
    # A name cannot end the code that it is shown as.
    assert files.text.count("`") % 2 == 0


def test_what_takes_little_is_no_finding() -> None:
    assert fork_findings(trace(parent_call("futex", 0.4, in_pause_ms=0.4))) == []
    # Two calls that together take less than 1 % of the time until the child exits, and one of them 1 ms.
    assert fork_findings(trace(parent_call("futex", 1.9))) == []
    assert fork_findings(trace(parent_call("futex", 2 * LONG_NS / MS))) != []
    assert fork_findings(trace(parent_call("futex", 0.4, in_pause_ms=0.4), pause_ms=10.0)) != []
    assert fork_findings(trace(parent_call("epoll_wait", 500), parent_call("sendmsg", 90))) == []


def test_without_the_end_of_the_pause_there_is_no_share() -> None:
    [finding] = fork_findings(trace(parent_call("nanosleep", 20), pause_ms=None))
    assert finding.share_of_pause is None
    assert "of the pause" not in finding.text


def test_a_terminal_shows_the_fork_the_calls_and_the_findings() -> None:
    sleep = parent_call("clock_nanosleep", 20, in_pause_ms=20, frames=("clock_nanosleep", EVIL, "fork"))
    text = shown(report(with_findings(trace(sleep, parent_call("write", 2, target=EVIL), no_stacks="perf failed"))))
    words = " ".join(text.split())
    assert (
        "what the fork consists of, 4 GiB traced: fork of 30 ms, requests are waited for again after 50 ms, "
        "the child exits after 900 ms" in words
    )
    assert "8 MiB of page tables and 120 memory areas to copy" in words
    assert "page tables 24 80.0 %" in words
    assert "finding: the main thread waits for something that is no request while its child works" in words
    assert "100.0 % clock_nanosleep clock_nanosleep ← evil" in words
    assert "the child first calls `set_robust_list` at 31 ms, `write` at 32 ms (3 times) after the fork began" in words
    assert "note: stacks are missing: perf failed" in words
    assert "copy on write 4,000 10" in words
    assert "\x1b[31m" not in text


def test_a_trace_without_findings_states_that_there_are_none() -> None:
    assert "no finding" in shown(report(trace(parent_call("epoll_wait", 5))))
    assert "no finding" not in shown(report())
    assert "traced" not in shown(report())


def test_markdown_has_the_findings_and_the_tables_without_foreign_markup() -> None:
    sleep = parent_call("clock_nanosleep", 20, in_pause_ms=20, frames=("clock_nanosleep", EVIL, "fork"))
    text = sheet_markdown(sweep_sheet(report(with_findings(trace(sleep, parent_call("write", 2, target=EVIL))))))
    assert (
        "- finding: the main thread waits for something that is no request while its child works (2 `clock_nanosleep`)"
        in text
    )
    assert "| `clock_nanosleep` | 2 | 20 | 10 | 20 | 40.0 % |" in text
    assert "#### what the fork consists of, 4 GiB" in text
    assert "\x1b" not in text


def test_the_document_and_the_page_hold_traces_and_how_they_are_read() -> None:
    document = report(with_findings(trace(parent_call("nanosleep", 20, in_pause_ms=20))))
    read = SnapshotReport.model_validate_json(document_json(with_sweep_reading(document)))
    assert read.traces == document.traces
    [section] = sweep_sheet(document).sections
    assert section.title == "what the fork consists of, 4 GiB"
    assert all(len(row) == len(table.columns) for table in section.tables for row in table.rows)
    assert json.loads(
        embedded(sheet_html(with_sweep_reading(document), sweep_sheet(document)), "document")
    ) == json.loads(document_json(with_sweep_reading(document)))


def test_an_event_at_which_nothing_forks_cannot_be_traced(zerolap: Zerolap) -> None:
    zerolap("snapshot", "redis-server", "--event", "none", "--trace").fails_with(2, "nothing forks", "--event bgsave")
    zerolap.leaves_nothing()


def test_without_bpftrace_nothing_is_started_and_the_error_names_the_remedy(zerolap: Zerolap, tmp_path: Path) -> None:
    bare = path_without(tmp_path / "bin", "bpftrace")
    ended = zerolap("snapshot", "redis-server", "--sizes", "16MiB", "--trace", environment=bare)
    ended.fails_with(3, "a fork cannot be traced: bpftrace is not installed", "apt-get install bpftrace")
    zerolap.leaves_nothing()


@pytest.fixture(scope="module")
def may_trace() -> None:
    try:
        require_snapshot_tracing()
    except EnvironmentMissing as missing:
        pytest.skip(missing.message)


WORDS = (
    "--sizes",
    "64MiB",
    "--rate",
    "1000",
    "--connections",
    "4",
    "--repetitions",
    "1",
    "--load",
    "open",
    "--seed",
    "7",
)


def traced(zerolap: Zerolap, server: str | Path, *words: str) -> SnapshotTrace:
    ended = zerolap("snapshot", server, *WORDS, "--trace", "--json", "-", "--quiet", *words)
    assert ended.code == 0, ended.err
    document = SnapshotReport.model_validate(ended.document())
    assert len(document.traces) == 1, document.notes
    # Those that are measured are others.
    assert [len(point.repetitions) for point in document.points] == [1]
    return document.traces[0]


@pytest.mark.slow
@pytest.mark.usefixtures("may_trace")
def test_a_trace_shows_the_fork_the_server_and_the_child(zerolap: Zerolap, redis_server: Path) -> None:
    trace = traced(zerolap, redis_server)
    assert trace.fork_ns > 0
    assert sum(part.ns for part in trace.fork_parts) <= 1.01 * trace.fork_ns
    assert trace.child_ns > trace.fork_ns
    assert trace.pause_ns is None or trace.pause_ns > trace.fork_ns
    # The server goes on to answer while its child writes what the server no longer changes.
    assert {call.call for call in trace.calls} & {"epoll_wait", "read", "write"}
    assert sum(faults.parent for faults in trace.faults) > 0
    assert "write" in {call.call for call in trace.child_calls}
    starts = [step.at_ns for step in trace.child_steps]
    assert starts == sorted(starts)
    assert stall_in(trace) is None
    zerolap.leaves_nothing()


@pytest.mark.slow
@pytest.mark.usefixtures("may_trace", "compiler")
def test_a_wait_that_is_planted_after_the_fork_is_a_finding_with_its_stack(
    zerolap: Zerolap, redis_server: Path, tmp_path: Path
) -> None:
    planted = tmp_path / "planted"
    planted.mkdir()
    trace = traced(zerolap, stalling_server(redis_server, planted))
    [waits] = [finding for finding in trace.findings if finding.kind == "waiting"]
    assert waits.ns_in_pause >= STALL_MS * MS
    assert waits.share_of_pause is not None
    if trace.no_stacks is None:
        assert stall_in(trace) == waits
    zerolap.leaves_nothing()


@pytest.mark.slow
@pytest.mark.usefixtures("may_trace", "redis_server")
def test_killed_while_tracing_no_bpftrace_is_left(zerolap: Zerolap) -> None:
    # It traces so often that no look comes too late.
    child = zerolap.start("snapshot", "redis-server", *WORDS, "--repetitions", "100", "--trace")
    wait_until(lambda: any("bpftrace" in line for line in zerolap.processes()))
    child.kill()
    child.communicate()
    zerolap.wait_for_no_process()


@pytest.fixture
def failing_bpftrace(tmp_path: Path) -> dict[str, str]:
    """An environment in which bpftrace passes the attempt, and fails with a program."""
    real = shutil.which("bpftrace")
    if real is None:
        pytest.skip("bpftrace is not installed")
    bare = path_without(tmp_path / "bin", "bpftrace")
    script = tmp_path / "bin" / "bpftrace"
    script.write_text(f'#!/bin/sh\ncase "$*" in *-f*) echo broken >&2; exit 1;; esac\nexec {real} "$@"\n')
    script.chmod(0o755)
    return bare


@pytest.mark.slow
@pytest.mark.usefixtures("may_trace", "redis_server")
def test_a_trace_that_fails_costs_the_sweep_nothing_else(zerolap: Zerolap, failing_bpftrace: dict[str, str]) -> None:
    ended = zerolap(
        "snapshot", "redis-server", *WORDS, "--trace", "--json", "-", "--quiet", environment=failing_bpftrace
    )
    assert ended.code == 0, ended.err
    document = SnapshotReport.model_validate(ended.document())
    assert document.traces == []
    assert len(document.points) == 1
    assert any("64 MiB was not traced: bpftrace does not start" in note for note in document.notes)
    zerolap.leaves_nothing()
