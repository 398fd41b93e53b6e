"""The traced engine: the program that bpftrace gets, what is read of its output, and a pass on a real server."""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from engine_place import job_of, measured, place_in
from machine import failed_by_the_server

from zerolap.documents.traced_sides import merged, traced_side
from zerolap.engines import bpftrace, missing_for_sampling, perf, traced
from zerolap.engines.bpftrace import BLOCK_IO, FORK, Tracer, read_traced_counts, tracing_program
from zerolap.engines.event_stacks import traced_stacks
from zerolap.engines.system_call_names import system_call_names
from zerolap.engines.traced import Traced, traced_case, traced_metrics
from zerolap.host import tracing_obstacle
from zerolap.host.tracing import EVENT_DIRECTORIES, NEEDED_EVENTS
from zerolap.records import (
    Case,
    Measurement,
    Topology,
    TracedCall,
    TracedCase,
    TracedStack,
    TracedStacks,
    TrialFailed,
    Validity,
)
from zerolap.sandbox import LimitReached, launch, network_missing
from zerolap.store.blobs import open_blobs

MAIN, BACKGROUND = 100, 101
READ, WRITE, FUTEX, UNKNOWN = 0, 1, 202, 9999
NAMES = system_call_names("x86_64")
NUMBERS = {name: number for number, name in NAMES.items()}
OVERLOOKS_A_SIGNAL = """
import signal, sys, time
seen = []
signal.signal(signal.SIGINT, lambda *_: sys.exit(0) if seen else seen.append(1))
print(sys.argv[1], flush=True)
while True:
    time.sleep(0.01)
"""
"""Not a shell script: a shell that was started in the background ignores SIGINT, and cannot trap it."""

COUNTED: dict[str, Any] = {
    "@begun": 2,
    "@ended": 2,
    "@on": 0,
    "@calls": {f"{MAIN},{READ}": 1000, f"{MAIN},{WRITE}": 500, f"{BACKGROUND},{FUTEX}": 10, f"{MAIN},{UNKNOWN}": 1},
    "@call_ns": {f"{MAIN},{READ}": 2_000_000, f"{BACKGROUND},{FUTEX}": 7_000_000},
    "@call_bytes": {f"{MAIN},{READ}": 40_000},
    "@off": {f"{MAIN}": 40},
    "@off_ns": {f"{MAIN}": 5_000_000, f"{BACKGROUND}": 9_000_000},
    "@queued": {f"{MAIN}": 40},
    "@queue_ns": {f"{MAIN}": 100_000},
    "@faults": {f"{MAIN}": 3, f"{BACKGROUND}": 4},
    "@block_io": {},
    "@went": {f"{BACKGROUND}": 123},
}


@pytest.fixture
def on_x86_64(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traced, "system_call_names", lambda: NAMES)


@pytest.fixture(scope="module")
def may_trace() -> None:
    obstacle = tracing_obstacle()
    if obstacle is not None:
        pytest.skip(obstacle.reason)


def output(**changes: Any) -> str:
    """Return what bpftrace writes: a document on each line, one for each map."""
    maps = COUNTED | {f"@{name}": values for name, values in changes.items()}
    documents: list[dict[str, Any]] = [{"type": "attached_probes", "data": {"probes": 7}}]
    documents += [{"type": "map", "data": {name: values}} for name, values in maps.items()]
    return "\n".join(map(json.dumps, documents)) + "\n"


def test_the_program_counts_one_process_between_marks_of_one_thread() -> None:
    program = tracing_program(4711, 42, NAMES, [BLOCK_IO])
    assert "/tid == 42/" in program
    assert f"args->id == {NUMBERS['sched_get_priority_max']}" in program
    assert f"args->id == {NUMBERS['sched_get_priority_min']}" in program
    probes = [line for line in program.splitlines() if line.startswith(("tracepoint:", "software:"))]
    assert sum("pid == 4711" in probe for probe in probes) == 4
    assert all("@on == 1" in probe or "tid == 42" in probe for probe in probes)
    assert program.count("{") == program.count("}")
    # What a call returns is a number of bytes for some alone: others return addresses.
    assert f"args->id == {NUMBERS['read']}" in program
    assert f"args->id == {NUMBERS['mmap']}" not in program
    # Nothing is written for single events.
    assert "print" not in program


def test_an_event_that_the_kernel_lacks_is_not_in_the_program() -> None:
    assert "block_rq_issue" in tracing_program(1, 2, NAMES, [BLOCK_IO])
    assert "block_rq_issue" not in tracing_program(1, 2, NAMES, [])
    assert read_traced_counts(output(), []).block_io is None
    assert read_traced_counts(output(), [BLOCK_IO]).block_io == {}


def test_counts_are_read_by_thread_and_system_call() -> None:
    counts = read_traced_counts(output(), [BLOCK_IO])
    assert counts.calls[MAIN, READ] == 1000
    assert counts.call_ns == {(MAIN, READ): 2_000_000, (BACKGROUND, FUTEX): 7_000_000}
    assert counts.call_bytes == {(MAIN, READ): 40_000}
    assert (counts.off, counts.off_ns[MAIN], counts.queue_ns) == ({MAIN: 40}, 5_000_000, {MAIN: 100_000})
    assert counts.faults == {MAIN: 3, BACKGROUND: 4}
    assert counts.threads == {MAIN, BACKGROUND}


def test_maps_that_stayed_empty_are_not_written() -> None:
    nothing = "\n".join(json.dumps({"type": "map", "data": {name: 1}}) for name in ("@begun", "@ended"))
    counts = read_traced_counts(nothing, [])
    assert (counts.calls, counts.off, counts.threads) == ({}, {}, set())


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "not JSON",
        "[]",
        "1",
        "[" * 100_000,
        output(begun=0),
        output(ended=1),
        output(begun="2"),
        output(begun=True),
        output(calls={"100": 1}),
        output(calls={"100,0,1": 1}),
        output(calls={"100,-1": 1}),
        output(calls={"\N{ARABIC-INDIC DIGIT ONE},0": 1}),
        output(calls={"100,0": -1}),
        output(calls={"100,0": 1.5}),
        output(calls={"100,0": 2**70}),
        output(calls={"100,0": {"100,0": 1}}),
        output(calls=[1]),
        output(call_bytes={"100": 1}),
        output(off={"100,0": 1}),
    ],
)
def test_output_of_another_form_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_traced_counts(wrong, [])


@pytest.mark.parametrize("full", ["calls", "off", "entered", "went", "woken"])
def test_a_map_that_is_full_may_have_dropped_keys_and_is_refused(full: str) -> None:
    keys = [f"{thread},{READ}" if full == "calls" else str(thread) for thread in range(4096)]
    assert read_traced_counts(output(**{full: dict.fromkeys(keys[1:], 1)}), []).calls
    with pytest.raises(ValueError, match=f"@{full} has all 4,096 keys"):
        read_traced_counts(output(**{full: dict.fromkeys(keys, 1)}), [])


@pytest.mark.usefixtures("on_x86_64")
def test_system_calls_of_forked_processes_are_apart() -> None:
    written = output(forked={"4712": 1}, forked_calls={f"{WRITE}": 20}, forked_ns={f"{WRITE}": 4_000_000})
    case = traced_case(read_traced_counts(written, [FORK]), {}, 1000)
    (forked,) = [call for call in case.calls if call.thread == "(forked processes)"]
    assert (forked.call, forked.calls_per_op, forked.ns_per_op) == ("write", 0.02, 4000.0)
    program = tracing_program(4711, 42, NAMES, [FORK])
    assert "pid != 4711" in program
    assert "forked" not in tracing_program(4711, 42, NAMES, [])


@pytest.mark.usefixtures("on_x86_64")
def test_metrics_are_per_request_and_waiting_is_of_the_main_thread() -> None:
    metrics = traced_metrics(read_traced_counts(output(), [BLOCK_IO]), 1000, MAIN)
    assert metrics == {
        "traced_syscalls_per_op": 1.511,
        "off_cpu_ns_per_op": 5000.0,
        "run_queue_ns_per_op": 100.0,
        "lock_wait_ns_per_op": 7000.0,
        "page_faults_per_op": 0.007,
        "block_io_per_op": 0.0,
    }
    without = traced_metrics(read_traced_counts(output(), []), 1000, MAIN)
    assert "block_io_per_op" not in without


@pytest.mark.usefixtures("on_x86_64")
def test_threads_of_one_name_are_one_and_names_are_bounded() -> None:
    counts = read_traced_counts(output(), [])
    alike = traced_case(counts, {MAIN: "worker", BACKGROUND: "worker"}, 1000)
    assert [(thread.thread, thread.threads, thread.faults_per_op) for thread in alike.threads] == [("worker", 2, 0.007)]
    hostile = traced_case(counts, {MAIN: "x" * 10_000}, 1000)
    assert {thread.thread for thread in hostile.threads} == {"x" * 200, "(ended thread)"}
    assert [(call.call, call.calls_per_op) for call in hostile.calls] == [
        ("read", 1.0),
        ("write", 0.5),
        ("futex", 0.01),
        ("system call 9999", 0.001),
    ]
    assert hostile.calls[0].ns_per_op == 2000.0
    # Those that move no bytes have none, which is not 0 bytes.
    assert [call.bytes_per_op for call in hostile.calls] == [40.0, 0.0, None, None]


def test_stacks_of_system_calls_are_those_of_the_program_the_most_frequent_first() -> None:
    functions = ["main", "aeMain", "write", "do_syscall_64", "read", "y" * 1000]
    table = {
        "schema": "zerolap.stacks/1",
        "samples": 10,
        "threads": [{"name": "server"}],
        "frames": [
            *(
                {"function": name, "object": "[kernel]" if name == "do_syscall_64" else "server", "inlined": False}
                for name in functions
            ),
            {"function": "write", "object": "libc.so.6", "inlined": True},
        ],
        "stacks": [
            {"thread": 0, "frames": [0, 1, 4, 3], "samples": 1},
            {"thread": 0, "frames": [0, 1, 2, 6, 3], "samples": 6},
            {"thread": 0, "frames": [5] * 1000, "samples": 3},
        ],
    }
    recorded = traced_stacks("system calls", json.dumps(table).encode())
    assert (recorded.event, recorded.samples) == ("system calls", 10)
    stacks = recorded.stacks
    assert [stack.share for stack in stacks] == [0.6, 0.3, 0.1]
    assert stacks[0].frames == ["write", "aeMain", "main"]
    assert len(stacks[1].frames) == 64
    assert {len(frame) for frame in stacks[1].frames} == {200}


def test_stacks_of_waits_weigh_by_their_time() -> None:
    table = {
        "schema": "zerolap.stacks/1",
        "samples": 8_000_000,
        "threads": [{"name": "server"}],
        "frames": [
            {"function": name, "object": object_, "inlined": False}
            for name, object_ in (("main", "server"), ("fdatasync", "libc.so.6"), ("io_schedule", "[kernel]"))
        ],
        "stacks": [
            {"thread": 0, "frames": [0, 2], "samples": 2_000_000},
            {"thread": 0, "frames": [0, 1, 2], "samples": 6_000_000},
        ],
    }
    waits = traced_stacks("waits", json.dumps(table).encode())
    assert (waits.event, waits.samples) == ("waits", 8_000_000)
    assert [(stack.frames, stack.share) for stack in waits.stacks] == [(["fdatasync", "main"], 0.75), (["main"], 0.25)]
    nothing = traced_stacks("waits", json.dumps({**table, "samples": 0, "stacks": []}).encode())
    assert nothing.stacks == []


def a_call(call: str, calls_per_op: float, thread: str = "server", bytes_per_op: float | None = None) -> TracedCall:
    return TracedCall(
        thread=thread, call=call, calls_per_op=calls_per_op, ns_per_op=10 * calls_per_op, bytes_per_op=bytes_per_op
    )


def recorded(share: float, samples: int) -> TracedStacks:
    stack = TracedStack(thread="server", frames=["read"], share=share)
    return TracedStacks(event="system calls", samples=samples, stacks=[stack])


def test_passes_are_merged_by_their_means_and_a_call_of_one_pass_counts_for_all() -> None:
    first = TracedCase(
        threads=[],
        calls=[a_call("read", 1.0, bytes_per_op=30.0), a_call("brk", 0.2)],
        stacks=[recorded(0.5, 100)],
    )
    second = TracedCase(
        threads=[],
        calls=[a_call("read", 3.0, bytes_per_op=50.0)],
        stacks=[recorded(1.0, 300)],
        no_tcp="the server has no TCP connection",
    )
    both = merged([first, second])
    assert [(call.call, call.calls_per_op, call.ns_per_op) for call in both.calls] == [
        ("read", 2.0, 20.0),
        ("brk", 0.1, 1.0),
    ]
    assert [call.bytes_per_op for call in both.calls] == [40.0, None]
    assert both.no_tcp == "the server has no TCP connection"
    (stacks,) = both.stacks
    assert (stacks.samples, stacks.stacks[0].share) == (400, 0.875)


def test_a_side_has_the_range_of_its_passes_and_does_without_one_that_cannot_be_read(tmp_path: Path) -> None:
    blobs = open_blobs(None, tmp_path)
    recorded = TracedCase(threads=[], calls=[a_call("read", 1.0)]).model_dump_json(by_alias=True).encode()
    passes = [
        Measurement(
            metrics={"traced_syscalls_per_op": value, "ops_per_sec": 5.0},
            validity=Validity.of([]),
            traced=blobs.put(content),
        )
        for value, content in ((2.0, recorded), (4.0, b'{"threads": [], "calls": [{}]}'))
    ]
    side = traced_side(passes, blobs)
    assert side is not None
    assert side.metrics == {"traced_syscalls_per_op": (3.0, 2.0, 4.0)}
    assert [call.calls_per_op for call in side.traced.calls] == [1.0]
    assert side.traced.no_stacks == "what a pass recorded cannot be read"
    assert traced_side([], blobs) is None


def test_what_keeps_from_tracing_has_the_command_that_helps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    (programs / "bpftrace").write_text("#!/bin/sh\necho bpftrace v0.17.0\n")
    (programs / "bpftrace").chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    obstacle = tracing_obstacle(tmp_path)
    assert obstacle is not None
    assert "root" in obstacle.reason
    assert obstacle.remedy.startswith("sudo")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    obstacle = tracing_obstacle(tmp_path)
    assert obstacle is not None
    assert obstacle.remedy == "mount -t tracefs tracefs /sys/kernel/tracing"
    for event in NEEDED_EVENTS[1:]:
        (tmp_path / EVENT_DIRECTORIES[1] / event).mkdir(parents=True)
    obstacle = tracing_obstacle(tmp_path)
    assert obstacle is not None
    assert NEEDED_EVENTS[0] in obstacle.reason
    assert "CONFIG_FTRACE_SYSCALLS" in obstacle.remedy
    (tmp_path / EVENT_DIRECTORIES[1] / NEEDED_EVENTS[0]).mkdir()
    assert tracing_obstacle(tmp_path) is None
    (tmp_path / "proc/self/ns").mkdir(parents=True)
    (tmp_path / "proc/self/ns/pid").touch()
    obstacle = tracing_obstacle(tmp_path)
    assert obstacle is not None
    assert "--pid=host" in obstacle.remedy


def test_a_bpftrace_that_may_not_trace_states_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    script = '#!/bin/sh\n[ "$1" = --version ] && { echo v1.0; exit 0; }\necho "ERROR: not permitted" >&2\nexit 1\n'
    (programs / "bpftrace").write_text(script)
    (programs / "bpftrace").chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    for event in NEEDED_EVENTS:
        (tmp_path / EVENT_DIRECTORIES[0] / event).mkdir(parents=True)
    obstacle = tracing_obstacle(tmp_path)
    assert obstacle is not None
    assert obstacle.reason == "bpftrace cannot trace: ERROR: not permitted"


def test_numbers_of_system_calls_are_those_of_the_machine() -> None:
    of_arm = {name: number for number, name in system_call_names("aarch64").items()}
    assert (NUMBERS["write"], of_arm["write"]) == (1, 64)
    assert (NUMBERS["epoll_wait"], of_arm["epoll_pwait"]) == (232, 22)
    assert (NUMBERS["clone3"], of_arm["clone3"]) == (435, 435)
    assert (NUMBERS["io_uring_enter"], of_arm["io_uring_enter"]) == (426, 426)
    assert system_call_names("mips") == {}


def test_a_bpftrace_that_overlooks_a_signal_is_interrupted_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bpftrace, "INTERRUPT_SECONDS", 0.1)
    data, log = tmp_path / "data", tmp_path / "log"
    data.write_text(output())
    with launch(
        [sys.executable, "-c", OVERLOOKS_A_SIGNAL, bpftrace.READY], environment=os.environ, output=log
    ) as child:
        tracer = Tracer(child, data, [])
        tracer.wait_until_ready()
        assert tracer.counts().calls[MAIN, READ] == 1000


def test_a_bpftrace_that_does_not_end_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bpftrace, "INTERRUPT_SECONDS", 0.1)
    monkeypatch.setattr(bpftrace, "END_SECONDS", 0.3)
    ignores = 'trap "" INT; echo "$0"; while :; do sleep 0.01; done'
    log = tmp_path / "log"
    with launch(["sh", "-c", ignores, bpftrace.READY], environment=os.environ, output=log) as child:
        tracer = Tracer(child, tmp_path / "data", [])
        tracer.wait_until_ready()
        with pytest.raises(TrialFailed, match="does not end"):
            tracer.counts()
    assert not Path(f"/proc/{child.number}").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("may_trace")
def test_a_pass_counts_the_system_calls_of_a_server(cases: dict[str, Case], redis_server: Path, tmp_path: Path) -> None:
    place = place_in(tmp_path / "t")
    measurement = measured(Traced(), job_of("traced", cases["good"], redis_server, place), place)
    assert failed_by_the_server(measurement.validity.checks) == []
    assert measurement.metrics["traced_syscalls_per_op"] > 0
    assert measurement.metrics["off_cpu_ns_per_op"] >= measurement.metrics["run_queue_ns_per_op"] >= 0
    assert measurement.traced is not None
    recorded = TracedCase.model_validate_json(place.blobs.get(measurement.traced))
    # However the server waits for requests, it reads and answers them.
    calls = {call.call for call in recorded.calls}
    assert calls & {"read", "recvfrom", "readv"}
    assert calls & {"write", "sendto", "writev"}
    assert sum(call.calls_per_op for call in recorded.calls) == pytest.approx(
        measurement.metrics["traced_syscalls_per_op"]
    )
    # The server is reached over a unix socket: what TCP would count is missing, not 0.
    assert not [name for name in measurement.metrics if name.startswith("tcp_")]
    assert "no TCP connection" in (recorded.no_tcp or "")
    assert any(call.bytes_per_op for call in recorded.calls)


@pytest.mark.slow
@pytest.mark.usefixtures("may_trace")
def test_a_pass_over_tcp_has_segments_and_stacks_of_waits(
    cases: dict[str, Case], redis_server: Path, tmp_path: Path
) -> None:
    if (reason := network_missing()) is not None:
        pytest.skip(reason)
    case = cases["good"].model_copy(update={"topology": Topology(name="tcp", description="", transport="tcp")})
    place = place_in(tmp_path / "t")
    measurement = measured(Traced(), job_of("traced", case, redis_server, place), place)
    assert failed_by_the_server(measurement.validity.checks) == []
    assert measurement.traced is not None
    recorded = TracedCase.model_validate_json(place.blobs.get(measurement.traced))
    if recorded.no_tcp is not None and "kernel's counts cannot be read" in recorded.no_tcp:
        pytest.skip(recorded.no_tcp)
    metrics = measurement.metrics
    assert metrics["tcp_received_bytes_per_op"] > 0
    assert metrics["tcp_segments_sent_per_op"] >= metrics["tcp_data_segments_sent_per_op"] > 0
    if missing_for_sampling() is None:
        assert measurement.stacks is not None
        waits = json.loads(place.blobs.get(measurement.stacks))
        assert waits["event"] == "off-cpu"
        assert waits["samples"] == sum(stack["samples"] for stack in waits["stacks"])


FILLING_PERF = """\
#!/bin/sh
for word; do case $word in fifo:*) channels=${word#fifo:} ;; esac; data=$word; done
exec 3<>"${channels%,*}" 4<>"${channels#*,}"
read -r order <&3
echo ack >&4
exec head -c 3000000 /dev/zero > "$data"
"""


def test_a_recording_of_events_ends_at_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "perf").write_text(FILLING_PERF)
    (tmp_path / "perf").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(perf, "MOST_EVENT_BYTES", 2 << 20)
    data = tmp_path / "events.data"
    with perf.recording(os.getpid(), "raw_syscalls:sys_enter", data, apart=1) as recorder:
        recorder.begin()
        with pytest.raises(LimitReached, match="its limit of 2 MiB"):
            recorder.end()
    assert data.stat().st_size == 2 << 20


@pytest.mark.slow
@pytest.mark.usefixtures("may_trace")
def test_a_pass_whose_stacks_are_too_many_keeps_its_counts(
    cases: dict[str, Case], redis_server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (missing := missing_for_sampling()) is not None:
        pytest.skip(missing.reason)
    monkeypatch.setattr(perf, "MOST_EVENT_BYTES", 1 << 16)
    place = place_in(tmp_path / "t")
    measurement = measured(Traced(), job_of("traced", cases["good"], redis_server, place), place)
    assert measurement.traced is not None
    recorded = TracedCase.model_validate_json(place.blobs.get(measurement.traced))
    assert recorded.calls
    assert "system calls" not in [of_event.event for of_event in recorded.stacks]
    assert "has reached its limit" in (recorded.no_stacks or "")


@pytest.mark.slow
@pytest.mark.usefixtures("may_trace")
def test_a_bpftrace_that_is_killed_ends_the_pass(
    cases: dict[str, Case], redis_server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []

    def begin_and_die(tracer: Tracer) -> None:
        started.append(tracer.process.number)
        os.kill(tracer.process.number, signal.SIGKILL)

    monkeypatch.setattr(bpftrace.Tracer, "begin", begin_and_die)
    place = place_in(tmp_path / "t")
    with pytest.raises(TrialFailed, match="bpftrace"):
        measured(Traced(), job_of("traced", cases["good"], redis_server, place), place)
    assert not Path(f"/proc/{started[0]}").exists()
