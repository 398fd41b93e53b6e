"""The order of tests: files that take long begin first, so that at the end no process works on one while others idle.

`scripts/pytest --record-seconds` records anew what each file takes.
"""

import json
import os
from collections import Counter
from pathlib import Path

import pytest

RECORD = Path(__file__).with_name("seconds_of_files.json")


class Recorder:
    """Adds up what the tests of each file take."""

    def __init__(self) -> None:
        self._seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[Path(report.location[0]).name] += report.duration  # type: ignore[assignment]

    def pytest_sessionfinish(self) -> None:
        lines = [f'"{file}": {round(seconds)}' for file, seconds in sorted(self._seconds.items())]
        RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record-seconds", action="store_true", help=f"write what each file takes to {RECORD.name}")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--record-seconds") and "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(Recorder())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    seconds: dict[str, int] = json.loads(RECORD.read_text())
    longest = max(seconds.values())
    # A new file may be the longest.
    items.sort(key=lambda item: -seconds.get(item.path.name, longest))
