"""The file that a bench writes: the host and figures with their raw samples."""

import json
import platform
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from zerolap.host import fingerprint

DIRECTORY = Path(".bench")


@dataclass(frozen=True)
class Figure:
    """A figure with what it was computed from; `trials` counts the measurements behind it."""

    value: float
    unit: str
    samples: list[Any]
    trials: int
    peers: dict[str, list[float]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def write_figures(name: str, figures: dict[str, Figure]) -> Path:
    """Write `.bench/NAME.json` and return its path."""
    host = fingerprint().model_dump() | {"python": platform.python_version()}
    DIRECTORY.mkdir(exist_ok=True)
    path = DIRECTORY / f"{name}.json"
    document = {"host": host, "figures": {key: asdict(figure) for key, figure in figures.items()}}
    path.write_text(json.dumps(document, indent=2) + "\n")
    return path


def read_figures(name: str) -> dict[str, Figure]:
    """Return the figures of `.bench/NAME.json`; none where nothing was measured yet."""
    path = DIRECTORY / f"{name}.json"
    if not path.exists():
        return {}
    return {key: Figure(**fields) for key, fields in json.loads(path.read_text())["figures"].items()}


def show_figures(figures: dict[str, Figure]) -> None:
    """Print a table of the figures."""
    for key, figure in figures.items():
        print(f"{key:28} {figure.value:12.6g} {figure.unit:24} {figure.trials} trials")
        for note in figure.notes:
            print(f"{'':28} {note}")
