"""Settings of the machine that can affect measurements, as text; empty if the kernel does not report them."""

import platform
from pathlib import Path

from zerolap.host.processors import PROCESSORS
from zerolap.host.system_files import ROOT, chosen, read_fields, read_number, read_text

_HUGE_PAGES = "sys/kernel/mm/transparent_hugepage"


def cpu_model(root: Path = ROOT) -> str:
    """Return the processor's name as reported by the kernel, or else the architecture."""
    fields = read_fields("proc/cpuinfo", root)
    model = fields.get("model name") or fields.get("cpu model") or fields.get("Model") or platform.machine()
    return " ".join(model.split())


def governors(root: Path = ROOT) -> str:
    """Return the frequency governors in use, separated by commas."""
    files = (root / PROCESSORS).glob("cpu[0-9]*/cpufreq/scaling_governor")
    in_use = {read_text(str(path.relative_to(root)), root) for path in files}
    return ",".join(sorted(filter(None, in_use)))


def turbo(root: Path = ROOT) -> str:
    """Return `on` or `off`: whether the processor may exceed its nominal frequency."""
    no_turbo = read_number(f"{PROCESSORS}/intel_pstate/no_turbo", root)
    if no_turbo is not None:
        return "off" if no_turbo else "on"
    boost = read_number(f"{PROCESSORS}/cpufreq/boost", root)
    return "" if boost is None else ("on" if boost else "off")


def huge_pages(root: Path = ROOT) -> str:
    """Return when transparent huge pages are used: `always`, `madvise` or `never`."""
    return chosen(read_text(f"{_HUGE_PAGES}/enabled", root) or "")


def huge_pages_defragmentation(root: Path = ROOT) -> str:
    """Return when the kernel compacts memory to make huge pages."""
    return chosen(read_text(f"{_HUGE_PAGES}/defrag", root) or "")


def virtualisation(root: Path = ROOT) -> str:
    """Return the hypervisor's name, `container`, or both; empty on a physical machine."""
    layers = []
    if "hypervisor" in read_fields("proc/cpuinfo", root).get("flags", "").split():
        product = read_text("sys/class/dmi/id/product_name", root) or read_text("sys/hypervisor/type", root)
        layers.append(product or "virtual machine")
    if (root / ".dockerenv").exists() or (root / "run/.containerenv").exists():
        layers.append("container")
    return ", ".join(layers)


def clock_source(root: Path = ROOT) -> str:
    """Return the kernel's clock source."""
    return read_text("sys/devices/system/clocksource/clocksource0/current_clocksource", root) or ""


def mitigations(root: Path = ROOT) -> dict[str, str]:
    """Return the state of each processor vulnerability, by its name."""
    directory = root / PROCESSORS / "vulnerabilities"
    try:
        names = sorted(entry.name for entry in directory.iterdir())
    except OSError:
        return {}
    return {name: read_text(f"{PROCESSORS}/vulnerabilities/{name}", root) or "" for name in names}


def memory_bytes(root: Path = ROOT) -> dict[str, int]:
    """Return the fields of /proc/meminfo in bytes."""
    fields = {}
    for name, value in read_fields("proc/meminfo", root).items():
        words = value.split()
        if words and words[0].isdigit():
            fields[name] = int(words[0]) * (1024 if words[-1] == "kB" else 1)
    return fields


def available_bytes(root: Path = ROOT) -> int:
    """Return the memory available without swapping, within the limit of this control group."""
    free = memory_bytes(root).get("MemAvailable", 0)
    limit, used = (read_text(f"sys/fs/cgroup/memory.{name}", root) for name in ("max", "current"))
    if limit is not None and used is not None and limit.isdigit() and used.isdigit():
        free = min(free, int(limit) - int(used))
    return free
