"""The units by which systemd starts bus, conductor and agents, with the paths of this machine."""

import getpass
import shutil
import sys
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final

from zerolap.errors import UsageError

UNITS: Final = "units"
TEMPLATES: Final = "systemd"
NATS_SERVER: Final = "/usr/local/bin/nats-server"
"""Where nats-server is expected when it is not on the PATH."""


@dataclass(frozen=True)
class ConductorUnits:
    """How `zerolap serve` is started: where it listens, its store, and the file of its triggers, if it has any."""

    listen: str
    store: str
    triggers: str = ""


def write_units(directory: Path, conductor: ConductorUnits) -> None:
    """Write the units of bus and conductor to `units` in the directory of a fleet; raises `UsageError`."""
    values = {
        "USER": getpass.getuser(),
        "FLEET": unit_word(directory),
        "NATS_SERVER": unit_word(shutil.which("nats-server") or NATS_SERVER),
        "ZEROLAP": unit_word(program()),
        "LISTEN": unit_word(conductor.listen),
        "STORE": unit_word(conductor.store),
        "TRIGGERS": f" --triggers {unit_word(conductor.triggers)}" if conductor.triggers else "",
    }
    units = directory / UNITS
    units.mkdir(exist_ok=True)
    (units / "zerolap-bus.service").write_text(_filled("bus", values))
    (units / "zerolap-serve.service").write_text(_filled("serve", values))


def write_agent_unit(directory: Path, agent: str, kind: str) -> Path:
    """Write the unit of an agent to its directory, in which `agent.toml` is; raises `UsageError`."""
    values = {
        "USER": getpass.getuser(),
        "NAME": agent,
        "KIND": kind,
        "DIRECTORY": unit_word(directory),
        "ZEROLAP": unit_word(program()),
    }
    path = directory / f"zerolap-agent-{agent}.service"
    path.write_text(_filled("agent", values))
    return path


def program() -> Path:
    """Return the path of the program `zerolap` that is running."""
    beside = Path(sys.executable).parent / "zerolap"
    return beside if beside.exists() else Path(shutil.which("zerolap") or beside)


def _filled(template: str, values: dict[str, str]) -> str:
    text = (resources.files("zerolap.fleet.setup") / TEMPLATES / f"{template}.service").read_text()
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text


def unit_word(value: str | Path) -> str:
    """Return a word as a unit has it; raises `UsageError` for what systemd would take for something else."""
    text = str(value)
    if any(character.isspace() or character in "\"'\\$;" for character in text):
        raise UsageError(f"`{text}` cannot be written to a unit of systemd", hint="use paths without blanks and quotes")
    return text.replace("%", "%%")
