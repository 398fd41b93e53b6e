"""The machine's description: topologies and settings of machines that this one is not."""

import platform
from pathlib import Path

import pytest

from zerolap.host import (
    MachineTimes,
    Processor,
    Processors,
    Sharing,
    choose_pinning,
    fingerprint,
    measure_noise,
    noise_between,
    read_processors,
)
from zerolap.host.platform_identity import hardware, software
from zerolap.host.system_files import chosen, cpu_list


def machine(cores: int, siblings: int = 1, cores_of_cache: int = 64) -> Processors:
    """A machine whose siblings are numbered after all first processors, as Linux does on most machines."""
    return Processors(
        tuple(
            Processor(number=core + cores * thread, core=core, cache=core - core % cores_of_cache)
            for thread in range(siblings)
            for core in range(cores)
        )
    )


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text + "\n")
    return root


@pytest.mark.parametrize(
    ("topology", "threads", "server", "client", "sharing", "oversubscribed"),
    [
        (machine(1), (1, 1), (0,), (0,), Sharing.PROCESSOR, True),
        (machine(1, siblings=2), (1, 1), (0,), (1,), Sharing.CORE, False),
        (machine(2), (1, 1), (1,), (0,), Sharing.CACHE, False),
        (machine(2, siblings=2), (1, 1), (1,), (0,), Sharing.CACHE, False),
        (machine(2), (4, 1), (1,), (0,), Sharing.CACHE, True),
        (machine(4), (1, 2), (1,), (2, 3), Sharing.CACHE, False),
        (machine(8, siblings=2), (4, 2), (1, 2, 3, 4), (5, 6), Sharing.CACHE, False),
        (machine(8, cores_of_cache=4), (1, 1), (1,), (2,), Sharing.CACHE, False),
        (machine(2, cores_of_cache=1), (1, 1), (0,), (1,), Sharing.NOTHING, False),
        (machine(1), (1, 0), (0,), (), Sharing.NOTHING, False),
        (machine(2), (1, 0), (1,), (), Sharing.NOTHING, False),
        (machine(2), (2, 0), (0, 1), (), Sharing.NOTHING, False),
        (machine(2), (3, 0), (0, 1), (), Sharing.NOTHING, True),
        (machine(1, siblings=2), (2, 0), (0, 1), (), Sharing.CORE, False),
    ],
)
def test_pinning(
    topology: Processors,
    threads: tuple[int, int],
    server: tuple[int, ...],
    client: tuple[int, ...],
    sharing: Sharing,
    oversubscribed: bool,
) -> None:
    plan = choose_pinning(topology, *threads)
    assert (plan.server, plan.client, plan.sharing, plan.oversubscribed) == (server, client, sharing, oversubscribed)
    assert plan.is_clean == (sharing in {Sharing.CACHE, Sharing.NOTHING} and not oversubscribed)


def test_pinning_leaves_the_siblings_of_the_server_idle() -> None:
    topology = machine(4, siblings=2)
    plan = choose_pinning(topology, 2, 2)
    used = [next(item.core for item in topology.processors if item.number == n) for n in plan.server + plan.client]
    assert len(used) == len(set(used))


@pytest.mark.parametrize(
    ("topology", "threads"), [(Processors(()), (1, 1)), (machine(2), (0, 1)), (machine(2), (1, -1))]
)
def test_pinning_refuses_what_makes_no_sense(topology: Processors, threads: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=r"processor|thread"):
        choose_pinning(topology, *threads)


def test_topology_is_read_with_siblings_and_the_last_cache(tmp_path: Path) -> None:
    files = {}
    for number in range(4):
        base = f"sys/devices/system/cpu/cpu{number}"
        core = number % 2
        files |= {
            f"{base}/topology/thread_siblings_list": f"{core},{core + 2}",
            f"{base}/cache/index0/level": "1",
            f"{base}/cache/index0/shared_cpu_list": f"{core},{core + 2}",
            f"{base}/cache/index3/level": "3",
            f"{base}/cache/index3/shared_cpu_list": "0-3",
        }
    topology = read_processors(range(4), write(tmp_path, files))
    assert topology.cores == (0, 1)
    assert len(topology.cores) < len(topology.processors)
    assert {item.cache for item in topology.processors} == {0}
    assert topology.on_core(1) == (1, 3)


def test_topology_of_a_kernel_that_tells_nothing(tmp_path: Path) -> None:
    assert read_processors([0, 1], tmp_path) == Processors((Processor(0, 0, 0), Processor(1, 1, 1)))


def test_lists_and_choices() -> None:
    assert cpu_list("0-2,8,10-11\n") == (0, 1, 2, 8, 10, 11)
    assert cpu_list("") == ()
    assert chosen("always [madvise] never") == "madvise"
    assert chosen("performance") == "performance"


def test_noise_between_two_readings() -> None:
    before = MachineTimes(clock=10.0, total=100.0, busy=20.0, steal=1.0, own=5.0, swapped_pages=7)
    after = MachineTimes(clock=12.0, total=104.0, busy=22.0, steal=1.2, own=6.0, swapped_pages=17)
    noise = noise_between(before, after)
    assert noise.steal == pytest.approx(0.05)
    assert noise.others == pytest.approx(0.5)
    assert noise.swapped_pages == pytest.approx(5.0)
    assert noise_between(before, before).others == 0.0


def test_noise_of_this_machine_is_in_range() -> None:
    noise = measure_noise(0.02)
    assert 0 <= noise.steal <= 1
    assert noise.others >= 0


MACHINE_FILES = {
    "proc/cpuinfo": "model name\t: A  Processor\nmicrocode\t: 0x1\nflags\t: fpu",
    "proc/meminfo": "MemTotal: 8388608 kB",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance",
    "sys/devices/system/cpu/vulnerabilities/meltdown": "Not affected",
}


def test_fingerprint_is_steady(tmp_path: Path) -> None:
    write(tmp_path, MACHINE_FILES)
    first = fingerprint(machine(2), tmp_path)
    assert first == fingerprint(machine(2), tmp_path)
    assert (first.cpu, first.cores) == ("A Processor", 2)
    assert set(first.facts) == {*hardware(machine(2), tmp_path), *software(tmp_path)}


@pytest.mark.parametrize(
    ("file", "text", "fact", "value"),
    [
        ("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never", "huge_pages", "always"),
        ("proc/cpuinfo", MACHINE_FILES["proc/cpuinfo"].replace("0x1", "0x2"), "microcode", "0x2"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave", "governor", "powersave"),
        ("sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI", "mitigations", "Mitigation: PTI"),
        ("proc/sys/kernel/randomize_va_space", "0", "address_randomisation", "0"),
    ],
)
def test_a_setting_is_a_fact_and_no_other_machine(tmp_path: Path, file: str, text: str, fact: str, value: str) -> None:
    before = fingerprint(machine(2), write(tmp_path, MACHINE_FILES))
    after = fingerprint(machine(2), write(tmp_path, {file: text}))
    assert after.fingerprint == before.fingerprint
    assert value in after.facts[fact]
    assert {name for name in before.facts if before.facts[name] != after.facts[name]} == {fact}


def test_a_kernel_patch_is_a_fact_and_no_other_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, MACHINE_FILES)
    platforms = []
    for kernel in ("6.1.0-28", "6.1.0-29"):
        monkeypatch.setattr(platform, "release", lambda kernel=kernel: kernel)
        platforms.append(fingerprint(machine(2), tmp_path))
    before, after = platforms
    assert after.fingerprint == before.fingerprint
    assert [(one.kernel, one.facts["kernel"]) for one in platforms] == [("6.1.0-28",) * 2, ("6.1.0-29",) * 2]


@pytest.mark.parametrize(
    ("processors", "files"),
    [
        (machine(4), {}),
        (machine(2, cores_of_cache=1), {}),
        (machine(1, siblings=2), {}),
        (machine(2), {"proc/cpuinfo": "model name\t: Another Processor"}),
        (machine(2), {"proc/meminfo": "MemTotal: 16777216 kB"}),
        (machine(2), {"proc/cpuinfo": MACHINE_FILES["proc/cpuinfo"] + " hypervisor"}),
    ],
    ids=["processors", "caches", "siblings", "model", "memory", "virtualisation"],
)
def test_other_equipment_is_another_machine(tmp_path: Path, processors: Processors, files: dict[str, str]) -> None:
    before = fingerprint(machine(2), write(tmp_path, MACHINE_FILES))
    assert fingerprint(processors, write(tmp_path, files)).fingerprint != before.fingerprint
