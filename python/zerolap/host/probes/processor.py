"""Processors: their number, their assignment to server and client, and the stability of their speed."""

from pathlib import Path

from zerolap.host import machine_settings as settings
from zerolap.host.diagnosis import Diagnosis, fine, fine_if, missing, warning
from zerolap.host.noise import Noise
from zerolap.host.pinning import choose_pinning
from zerolap.host.processors import PROCESSORS, Processors, read_processors
from zerolap.host.system_files import ROOT, read_text


def cores(machine: Processors | None = None, root: Path = ROOT) -> Diagnosis:
    """Whether there are processors for server, client and everything else."""
    machine = read_processors(root=root) if machine is None else machine
    usable, physical = len(machine.processors), len(machine.cores)
    found = f"{usable} usable, {physical} physical: {settings.cpu_model(root)}"
    if usable < 2:
        return missing(
            "cores",
            found,
            "no timed trials: server and client would compete for one processor; counted trials work",
            "give the machine two processors or more",
        )
    return fine_if(
        physical >= 3,
        "cores",
        found,
        "no timed verdict on servers with I/O threads or replicas; other processes disturb timed trials",
        "give the machine four processors or more",
    )


def pinning(machine: Processors | None = None, root: Path = ROOT) -> Diagnosis:
    """Whether server and client can run on separate cores."""
    machine = read_processors(root=root) if machine is None else machine
    if not machine.processors:
        return missing("pinning", "no processor is usable", "no timed trials", "check the cpuset of this process")
    plan = choose_pinning(machine)
    places = [",".join(map(str, part)) for part in (plan.server, plan.client)]
    found = f"server on processor {places[0]}, client on {places[1]}; shared: {plan.sharing}"
    if plan.is_clean:
        return fine("pinning", found)
    return missing(
        "pinning",
        found,
        "no timed verdict: server and client share a physical core",
        "give this process two physical cores (see taskset -p, and the cpuset of its control group)",
    )


def simultaneous_threads(root: Path = ROOT) -> Diagnosis:
    """Whether two processors share a physical core."""
    active = read_text(f"{PROCESSORS}/smt/active", root) or ""
    return fine_if(
        active != "1",
        "smt",
        {"1": "on", "0": "off"}.get(active, "not reported by the kernel"),
        "work on the sibling of the server's processor slows the server by a third or more, without being noticed",
        "echo off | sudo tee /sys/devices/system/cpu/smt/control",
    )


def governor(root: Path = ROOT) -> Diagnosis:
    """Whether the frequency is constant."""
    found = settings.governors(root)
    if not found:
        return warning(
            "governor",
            "not visible: set by the host of this machine",
            "the frequency may change during timed trials; pairs cancel the slow part of it",
            "on your own hardware: sudo cpupower frequency-set -g performance, on the host",
        )
    return fine_if(
        found == "performance",
        "governor",
        found,
        "the frequency changes during timed trials, so verdicts need more of them",
        "sudo cpupower frequency-set -g performance",
    )


def turbo(root: Path = ROOT) -> Diagnosis:
    """Whether the frequency depends on temperature and on other cores."""
    state = settings.turbo(root)
    is_intel = read_text(f"{PROCESSORS}/intel_pstate/no_turbo", root) is not None
    return fine_if(
        state != "on",
        "turbo",
        state or "not visible",
        "the frequency depends on temperature and on the load of other cores: timed trials scatter",
        f"echo {'1' if is_intel else '0'} | sudo tee "
        f"/sys/devices/system/cpu/{'intel_pstate/no_turbo' if is_intel else 'cpufreq/boost'}",
    )


def virtualisation(root: Path = ROOT) -> Diagnosis:
    """Whether other machines share the hardware."""
    found = settings.virtualisation(root)
    return fine_if(
        not found,
        "virtualisation",
        found or "none",
        "other guests disturb timed trials, and hardware counters may be hidden; counted trials are not affected",
        "measure on your own hardware where microseconds matter",
    )


def steal(noise: Noise) -> Diagnosis:
    """Whether the hypervisor gives processor time to other machines."""
    return fine_if(
        noise.steal <= 0.01,
        "steal",
        f"{noise.steal:.1%} over {noise.seconds:.1f} s",
        "timed trials scatter and need more pairs, or end unsure",
        "measure when the host is quiet, or with dedicated processors",
    )


def load(noise: Noise) -> Diagnosis:
    """Whether other processes keep processors busy."""
    return fine_if(
        noise.others <= 0.2,
        "load by others",
        f"{noise.others:.2f} processors busy with other processes",
        "timed trials scatter and need more pairs, or end unsure; counted trials only take longer",
        "stop other work (see top)",
    )
