"""The doctor: what it reports of machines that this one is not, and that it never hangs."""

import os
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from waiting import PATIENCE_SECONDS

from zerolap.host import (
    DOCTOR_SCHEMA,
    HardwareCounters,
    Processor,
    Processors,
    State,
    doctor,
    doctor_json,
    hardware_counters,
)
from zerolap.host.diagnosis import Diagnosis
from zerolap.host.noise import Noise
from zerolap.host.probes import instruments, isolation, memory, processor, programs
from zerolap.host.system_files import failure_of, run
from zerolap.sandbox import Limits, available, process, socket_directory


def machine(cores: int, siblings: int = 1) -> Processors:
    return Processors(tuple(Processor(n, n % cores, 0) for n in range(cores * siblings)))


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text + "\n")
    return root


def test_processor_probes(tmp_path: Path) -> None:
    base = "sys/devices/system/cpu"
    files = {
        f"{base}/smt/active": "1",
        f"{base}/cpu0/cpufreq/scaling_governor": "powersave",
        f"{base}/intel_pstate/no_turbo": "0",
        "proc/cpuinfo": "flags\t: fpu hypervisor",
    }
    write(tmp_path, files)
    assert processor.cores(machine(1), tmp_path).state is State.MISSING
    assert processor.cores(machine(2), tmp_path).state is State.WARNING
    assert processor.cores(machine(4), tmp_path).state is State.OK
    assert processor.pinning(machine(1, siblings=2)).state is State.MISSING
    assert processor.pinning(Processors(())).state is State.MISSING
    assert processor.simultaneous_threads(tmp_path).state is State.WARNING
    assert processor.governor(tmp_path).found == "powersave"
    assert "no_turbo" in processor.turbo(tmp_path).remedy
    assert processor.virtualisation(tmp_path).found.startswith("virtual machine")


def test_memory_probes(tmp_path: Path) -> None:
    files = {
        "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never",
        "proc/meminfo": "MemTotal: 2097152 kB\nMemAvailable: 524288 kB\nHugePages_Total: 3",
        "proc/sys/vm/overcommit_memory": "0",
        "proc/sys/kernel/randomize_va_space": "0",
    }
    write(tmp_path, files)
    assert memory.transparent_huge_pages(tmp_path).state is State.WARNING
    assert memory.memory(tmp_path).found.startswith("0.5 GiB free of 2.0 GiB")
    assert memory.overcommit(tmp_path).remedy == "sudo sysctl vm.overcommit_memory=1"
    assert memory.address_randomisation(tmp_path).state is State.WARNING
    assert memory.disk(tmp_path / "nowhere").state is State.MISSING


def test_sockets_below_a_long_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert memory.sockets(Path("/tmp")).found == "in /tmp"
    deep = tmp_path / ("y" * 80)
    monkeypatch.setattr(socket_directory, "SHORT_DIRECTORIES", (str(tmp_path),))
    found = memory.sockets(deep)
    assert (found.state, found.found) == (
        State.OK,
        f"in {tmp_path}/zerolap-{os.geteuid()}, as the path of {deep} is too long",
    )
    monkeypatch.setattr(socket_directory, "SHORT_DIRECTORIES", (str(tmp_path / "nowhere"),))
    found = memory.sockets(deep)
    assert found.state is State.MISSING
    assert "TMPDIR" in found.remedy


def test_what_is_missing_has_a_cost_and_a_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    probes = [
        *(programs.redis_server, programs.git, programs.compiler, programs.make, isolation.bubblewrap),
        *(instruments.valgrind, instruments.perf),
        *(instruments.bpftrace, instruments.strace, programs.emulator),
    ]
    for probe in probes:
        found = probe()
        assert found.state is State.MISSING, found
        assert found.cost
        assert "apt-get install" in found.remedy


def test_counters_are_reported_with_those_that_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, {"proc/sys/kernel/perf_event_paranoid": "2"})
    complete = HardwareCounters([["instructions:u", "cycles:u"], ["cache-misses:u"]])
    found = instruments.processor_counters(tmp_path, complete)
    assert (found.state, found.found) == (
        State.OK,
        "instructions:u, cycles:u, cache-misses:u (perf_event_paranoid is 2)",
    )
    found = instruments.processor_counters(tmp_path, replace(complete, refused={"cycles:k": "not permitted"}))
    assert found.state is State.WARNING
    assert "cycles:k" in found.cost
    assert found.remedy == "sudo sysctl kernel.perf_event_paranoid=1"
    found = instruments.processor_counters(
        tmp_path, replace(complete, refused={"dTLB-load-misses:u": "there are too few counters"})
    )
    assert found.state is State.WARNING
    assert "nmi_watchdog" in found.remedy


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [("not supported by this machine", "virtual machine"), ("not permitted", "perf_event_paranoid")],
)
def test_a_machine_without_counters_is_reported_with_the_reason(tmp_path: Path, reason: str, remedy: str) -> None:
    without = HardwareCounters(refused={"instructions:u": reason, "cycles:u": reason})
    found = instruments.processor_counters(tmp_path, without)
    assert (found.state, found.found) == (State.MISSING, reason)
    assert remedy in found.remedy


def test_the_doctor_finds_the_counters_that_trials_use() -> None:
    found = instruments.processor_counters()
    assert (found.state is State.MISSING) == (not hardware_counters().groups)


def test_a_program_that_fails_is_not_taken_for_one_that_works(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bwrap = tmp_path / "bwrap"
    bwrap.write_text("#!/bin/sh\n[ \"$1\" = --version ] && echo 'bubblewrap 0.8.0' && exit\necho 'no' >&2; exit 1\n")
    bwrap.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert isolation.bubblewrap().found == "0.8.0, but: no"


def test_limits_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    if (reason := available()) is not None:
        pytest.skip(f"no sandbox: {reason}")
    probes = (isolation.memory_limit, isolation.process_limit, isolation.disk_limit, isolation.time_limit)
    # A slow machine has time to reach the other limits before that of time.
    monkeypatch.setattr(isolation, "TRY_SECONDS", PATIENCE_SECONDS)
    for probe in probes:
        assert probe().state is State.OK, probe()
    monkeypatch.setattr(process, "usable_parents", lambda: None)
    monkeypatch.setattr(Limits, "rlimits", lambda *_, **__: [])
    monkeypatch.setattr(process, "descendants", lambda number: [])
    monkeypatch.setattr(isolation, "TRY_SECONDS", 0.5)
    for probe in (isolation.memory_limit, isolation.process_limit):
        diagnosis = probe()
        assert diagnosis.state is State.WARNING
        assert "does not hold" in diagnosis.found


def test_without_a_sandbox_no_limit_is_reported_as_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "available", lambda: "bubblewrap is not installed")
    monkeypatch.setattr(isolation, "network_missing", lambda: "bubblewrap is not installed")
    for probe in (isolation.memory_limit, isolation.process_limit, isolation.disk_limit, isolation.network):
        diagnosis = probe()
        assert (diagnosis.state, diagnosis.found) == (State.MISSING, "bubblewrap is not installed")
        assert diagnosis.cost
        assert "apt-get install" in diagnosis.remedy


def test_a_program_that_hangs_is_stopped() -> None:
    outcome = run(["sleep", "30"], seconds=0.05)
    assert outcome is not None
    assert outcome.status is None
    assert failure_of(["sleep", "30"], seconds=0.05) == "it did not end in time"


def test_disturbance_is_reported() -> None:
    noisy = Noise(seconds=1.0, steal=0.2, others=1.5, swapped_pages=3.0)
    quiet = Noise(seconds=1.0, steal=0.0, others=0.0, swapped_pages=0.0)
    for probe in (processor.steal, memory.swap, processor.load):
        assert probe(noisy).state is State.WARNING
        assert probe(quiet).state is State.OK


def test_the_doctor_tells_a_cost_and_a_remedy_for_all_that_is_not_well() -> None:
    found = doctor()
    assert len({item.subject for item in found}) == len(found)
    assert all(item.cost and item.remedy for item in found if item.state is not State.OK)
    document = doctor_json(found)
    assert document["schema"] == DOCTOR_SCHEMA
    assert sum(document["summary"].values()) == len(found)
    assert document["diagnoses"][0] == asdict(Diagnosis(**document["diagnoses"][0]))
