"""A run in a store with what its trials left there, for tests of its reports."""

import json
from typing import Any

from zerolap.records import Check, Measurement, RunReport, SliceRecord, Timeline, Trial, Validity
from zerolap.store import Store

STARTS, SLICES = 2, 3
NAMES = ["[server]", "main", "lookupKey", "dictFind", "writeToClient"]
STACKS = {"schema": "zerolap.stacks/1", "event": "cpu-clock", "samples": 100, "lost": 0}
SAMPLES = {(1, 2): 10, (1, 2, 3): 60, (1, 4): 30}
CHECK = Check(check="hit_rate", ok=True, value=1.0, limit=">= 0.99")
VALID = Validity.of([CHECK])
LOST = Validity.of([CHECK.model_copy(update={"ok": False, "value": 0.125})])
DISTURBED = Validity.of([Check(check="steal", ok=False, value=0.5, limit="<= 0.01")])

SERVER = {
    "name": "./src/redis-server",
    "commit": "1f3c5a7b9d0e4455aa",
    "version": "7.2.4",
    "build": "b-1",
    "build_id": "ff",
    "flags": "-O2 -g",
    "config": {"io-threads": "2"},
}
SETTINGS = {
    "engines": ["counted", "timed", "sampled"],
    "min_effect": {"counted": 0.005},
    "q": 0.01,
    "budget_seconds": None,
    "seed": 2**64 - 1,
}
TIMED = {"cpu_ns_per_op": 1211.2, "ops_per_sec": 817_252.1, "latency_p50_us": 374.6, "latency_p99_us": 727.7}


def a_case(name: str, metrics: dict[str, float], **changes: Any) -> dict[str, Any]:
    """Return a case of a run as its document has it."""
    case = {
        "case": name,
        "commands": ["GET"],
        "group": "string",
        "topology": "standalone",
        "validity": VALID.model_dump(),
        "metrics": metrics,
        "functions": [],
        "samples": 3,
    }
    return {**case, **changes}


def a_function(name: str, share: float, **costs: float) -> dict[str, Any]:
    """Return a function's costs as a run's document has them."""
    return {"function": name, "file": f"{name}.c", "share": share, **costs}


def a_run(cases: list[dict[str, Any]], **changes: Any) -> RunReport:
    """Return a run of these cases."""
    document = {
        "schema": "zerolap.run/1",
        "id": "r-4f1a",
        "created": "2026-11-20T21:00:00Z",
        "command_line": "zerolap run --server ./src/redis-server",
        "server": SERVER,
        "platform": {"name": "laptop", "fingerprint": "p-1", "cpu": "a cpu", "cores": 2, "kernel": "6.1"},
        "settings": SETTINGS,
        "machine_seconds": 412.4,
        "notes": ["the host was noisy"],
        "cases": cases,
    }
    return RunReport.model_validate({**document, **changes})


RUN = a_run(
    [
        a_case(
            "get-100B",
            {"instructions_per_op": 3519.6, "syscalls_per_op": 2.5, **TIMED},
            functions=[
                a_function("dictFind", 0.6, self_cpu_ns_per_op=726.7, self_instructions_per_op=881, calls_per_op=1),
                a_function("writeToClient", 0.3, self_cpu_ns_per_op=363.4),
            ],
        ),
        a_case(
            "hset",
            {"instructions_per_op": 6293.4},
            group="hash",
            commands=["HSET"],
            functions=[a_function("lpFind", 0.14, self_instructions_per_op=881, calls_per_op=1)],
            limits=["not timed: the machine was disturbed"],
        ),
        a_case("get-10B", {"instructions_per_op": 2100}, validity=VALID.model_dump()),
        a_case("fcall", {}, validity=LOST.model_dump(), group="function", commands=["FCALL"]),
        a_case(
            "set-ex",
            {},
            validity={"valid": False, "checks": []},
            failure="the server exited with 139\n# Redis 7.2.4 crashed by signal: 11",
        ),
    ]
)
"""A case with all there is, one that was counted only, one that says little, one invalid, one failed."""


def stored_run(store: Store) -> RunReport:
    """Record `RUN` and its trials: timed and sampled ones of the first case, the last start disturbed."""
    store.begin_run(RUN)
    for block in range(STARTS + 1):
        validity = VALID if block < STARTS else DISTURBED
        _record(store, "timed", block, a_timeline(1 + block).model_dump_json(by_alias=True).encode(), validity)
    _record(store, "sampled", 0, json.dumps(a_table()).encode(), VALID)
    store.finish_run(RUN)
    return RUN


def a_timeline(number: int) -> Timeline:
    """Return a timeline whose slices take a hundredth of a second, each with 100 requests more than the one before."""
    slices = [
        SliceRecord(
            requests=1000 * number + 100 * place,
            seconds=0.01,
            client_busy=0.5,
            server_busy=0.9,
            requests_per_read=None,
            requests_per_cycle=None,
            metrics={},
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


def _record(store: Store, engine: str, block: int, content: bytes, validity: Validity) -> None:
    trial = Trial.model_validate({"case": "get-100B", "side": "base", "engine": engine, "block": block, "seed": block})
    measurement = Measurement(metrics={}, validity=validity, profile=store.blobs.put(content), seconds=0.5)
    store.record_trial(RUN.id, trial, measurement)
