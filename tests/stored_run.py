"""A run in a store with what its trials left there, for tests of its reports."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from made_records import (
    FAILED,
    INVALID,
    SERVER,
    SETTINGS,
    VALID,
    a_function,
    a_measurement,
    a_run,
    a_run_case,
    a_slice,
    changed,
)

from zerolap.records import (
    HEAD,
    BinarySource,
    Block,
    BuildSpec,
    Case,
    Check,
    JobFinished,
    Measurement,
    Request,
    RequestedServer,
    Resolved,
    ResolvedServer,
    RunReport,
    ServerSpec,
    Side,
    Timeline,
    TrialDone,
    TrialsJob,
    Validity,
    WrittenClient,
)
from zerolap.store import Store

STARTS, SLICES = 2, 3
NAMES = ["[server]", "main", "lookupKey", "dictFind", "writeToClient"]
STACKS = {"schema": "zerolap.stacks/1", "event": "cpu-clock", "samples": 100, "lost": 0}
SAMPLES = {(1, 2): 10, (1, 2, 3): 60, (1, 4): 30}
DISTURBED = Validity.of([Check(check="steal", ok=False, value=0.5, limit="<= 0.01")])

TIMED = {"cpu_ns_per_op": 1211.2, "ops_per_sec": 817_252.1, "latency_p50_us": 374.6, "latency_p99_us": 727.7}


RUN = a_run(
    [
        a_run_case(
            "get-100B",
            {"instructions_per_op": 3519.6, "syscalls_per_op": 2.5, **TIMED},
            functions=[
                a_function("dictFind", 0.6, self_cpu_ns_per_op=726.7, self_instructions_per_op=881, calls_per_op=1),
                a_function("writeToClient", 0.3, self_cpu_ns_per_op=363.4),
            ],
        ),
        a_run_case(
            "hset",
            {"instructions_per_op": 6293.4},
            group="hash",
            commands=["HSET"],
            functions=[a_function("lpFind", 0.14, self_instructions_per_op=881, calls_per_op=1)],
            limits=["not timed: the machine was disturbed"],
        ),
        a_run_case("get-10B", {"instructions_per_op": 2100}),
        a_run_case("fcall", {}, validity=INVALID, group="function", commands=["FCALL"]),
        a_run_case(
            "set-ex",
            {},
            validity=FAILED,
            failure="the server exited with 139\n# Redis 7.2.4 crashed by signal: 11",
        ),
    ],
    server=changed(
        SERVER,
        name="./src/redis-server",
        commit="1f3c5a7b9d0e4455aa",
        version="7.2.4",
        config={"io-threads": "2"},
    ),
    settings=changed(SETTINGS, engines=["counted", "timed", "sampled"], seed=2**64 - 1),
    notes=["the host was noisy"],
)
"""A case with all there is, one that was counted only, one with little in it, one invalid, one failed."""


SPEC = BuildSpec(content="the server's program")
REQUEST = Request(
    id=RUN.id,
    kind="run",
    created=RUN.created,
    command_line=RUN.command_line,
    servers={
        HEAD: RequestedServer(
            source=BinarySource(name=RUN.server.name, path=Path("/src/redis-server")),
            config=RUN.server.config,
        )
    },
    cases=tuple(
        Case(name=case.case, group=case.group, client=WrittenClient(commands=case.commands).client)
        for case in RUN.cases
    ),
    settings=RUN.settings,
)
RESOLVED = Resolved(
    request=REQUEST,
    platform=RUN.platform,
    servers={
        side: ResolvedServer(source=server.source, variant="", spec=SPEC, config=server.config)
        for side, server in REQUEST.servers.items()
    },
    cases=REQUEST.cases,
)


def stored_run(store: Store) -> RunReport:
    """Record `RUN` and its trials: timed and sampled ones of the first case, the last start disturbed."""
    store.begin(RESOLVED)
    starts = [
        a_measurement(
            validity=VALID if block < STARTS else DISTURBED,
            timeline=store.blobs.put(a_timeline(1 + block).model_dump_json(by_alias=True).encode()),
        )
        for block in range(STARTS + 1)
    ]
    record_trials(store, "get-100B", "timed", starts)
    record_trials(store, "get-100B", "sampled", [a_pass(store)])
    store.record_run(RUN)
    store.end(RUN.id, "done")
    return RUN


def a_pass(store: Store) -> Measurement:
    """Return the measurement of a pass whose stacks are in the store."""
    return a_measurement(stacks=store.blobs.put(json.dumps(a_table()).encode()))


def record_trials(store: Store, name: str, engine: str, measurements: Sequence[Measurement]) -> None:
    """Record a job of `RUN` with a trial of each measurement."""
    case = next(case for case in REQUEST.cases if case.name == name)
    record_job(store, REQUEST.id, case, engine, [{HEAD: of_one} for of_one in measurements], RUN.server.config)


def record_job(
    store: Store,
    request: str,
    case: Case,
    engine: str,
    trials: Sequence[Mapping[Side, Measurement]],
    config: Mapping[str, str] | None = None,
) -> None:
    """Record a finished job of a case, with a block for the measurements of each trial."""
    server = ServerSpec(build=SPEC.digest, topology=case.topology, config=dict(config or {}))
    blocks = tuple(Block(number=number, seed=number) for number in range(len(trials)))
    job = TrialsJob(request=request, case=case, servers=dict.fromkeys(trials[0], server), engine=engine, blocks=blocks)
    store.record_job(job)
    for block, measurements in zip(blocks, trials, strict=True):
        store.record(job, TrialDone(job=job.id, block=block.number, measurements=dict(measurements)))
    store.record(job, JobFinished(job=job.id))


def a_timeline(number: int) -> Timeline:
    """Return a timeline whose slices take a hundredth of a second, each with 100 requests more than the one before."""
    slices = [
        a_slice(
            requests=1000 * number + 100 * place, seconds=0.01, client_busy=0.5, server_busy=0.9, requests_per_read=None
        )
        for place in range(SLICES)
    ]
    return Timeline(schema="zerolap.timeline/1", slices=slices, histogram_ns=[(100_000, 900), (400_000, 100)])


def a_table() -> dict[str, Any]:
    """Return sampled stacks: of the table `zerolap.stacks/1` all that is read."""
    return {
        **STACKS,
        "threads": [{"name": "redis-server"}],
        "frames": [
            {"function": name, "file": f"{name}.c", "object": "redis-server", "inlined": False} for name in NAMES
        ],
        "stacks": [{"thread": 0, "frames": list(path), "samples": samples} for path, samples in SAMPLES.items()],
    }
