"""The order of tests: files that take long begin first, so that at the end no process works on one while others idle.

`scripts/pytest --record-seconds` records anew what each file takes without its slow tests.
"""

import json
import os
from collections import Counter
from pathlib import Path

import pytest

RECORD = Path(__file__).with_name("seconds_of_files.json")
SECONDS_OF_A_SLOW_TEST = 8


class Recorder:
    """Adds up what the tests of each file take."""

    def __init__(self) -> None:
        self._seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if "slow" not in report.keywords:
            self._seconds[Path(report.location[0]).name] += report.duration  # type: ignore[assignment]

    def pytest_sessionfinish(self) -> None:
        lines = [f'"{file}": {round(seconds)}' for file, seconds in sorted(self._seconds.items())]
        RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record-seconds", action="store_true", help=f"write what each file takes to {RECORD.name}")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--record-seconds") and "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(Recorder())


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort what is left to be run."""
    recorded: dict[str, int] = json.loads(RECORD.read_text())
    # A new file may be the longest.
    seconds = {item.path.name: recorded.get(item.path.name, max(recorded.values())) for item in items}
    for item in items:
        if item.get_closest_marker("slow") is not None:
            seconds[item.path.name] += SECONDS_OF_A_SLOW_TEST
    items.sort(key=lambda item: -seconds[item.path.name])
