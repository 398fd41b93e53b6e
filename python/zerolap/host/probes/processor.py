"""Processors: their number, their assignment to server and client, and the stability of their speed."""

from pathlib import Path

from zerolap.host import machine_settings as settings
from zerolap.host.diagnosis import Diagnosis, fine, missing, warning
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
    if physical < 3:
        return warning(
            "cores",
            found,
            "no timed verdict on servers with I/O threads or replicas; other processes disturb timed trials",
            "give the machine four processors or more",
        )
    return fine("cores", found)


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
    active = read_text(f"{PROCESSORS}/smt/active", root)
    if active == "1":
        return warning(
            "smt",
            "on",
            "work on the sibling of the server's processor slows the server by a third or more, without being noticed",
            "echo off | sudo tee /sys/devices/system/cpu/smt/control",
        )
    return fine("smt", "off" if active == "0" else "not reported by the kernel")


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
    if found != "performance":
        return warning(
            "governor",
            found,
            "the frequency changes during timed trials, so verdicts need more of them",
            "sudo cpupower frequency-set -g performance",
        )
    return fine("governor", found)


def turbo(root: Path = ROOT) -> Diagnosis:
    """Whether the frequency depends on temperature and on other cores."""
    state = settings.turbo(root)
    if state == "on":
        intel = read_text(f"{PROCESSORS}/intel_pstate/no_turbo", root) is not None
        return warning(
            "turbo",
            "on",
            "the frequency depends on temperature and on the load of other cores: timed trials scatter",
            "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
            if intel
            else "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost",
        )
    return fine("turbo", state or "not visible")


def virtualisation(root: Path = ROOT) -> Diagnosis:
    """Whether other machines share the hardware."""
    found = settings.virtualisation(root)
    if found:
        return warning(
            "virtualisation",
            found,
            "other guests disturb timed trials, and hardware counters may be hidden; counted trials are not affected",
            "measure on your own hardware where microseconds matter",
        )
    return fine("virtualisation", "none")
