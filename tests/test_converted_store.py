"""Stores of the revision before the first kept one are converted.

`data/store-0009.sql` is a dump of a store after `zerolap compare redis-server redis-server get-100B --quick`,
`zerolap run hset --quick`, and the comparison again with `--platform all` while `zerolap serve` ran.
"""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from command_line import Zerolap

from zerolap.documents import read_comparison, read_run
from zerolap.store import Store

SCRIPT = Path(__file__).parents[1] / "scripts" / "convert_store.py"
DUMP = Path(__file__).parent / "data" / "store-0009.sql"


@pytest.fixture
def early_store(tmp_path: Path) -> Path:
    directory = tmp_path / "early"
    directory.mkdir()
    with closing(sqlite3.connect(directory / "zerolap.db")) as connection:
        connection.executescript(DUMP.read_text())
    return directory


def converted(early: Path, new: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, SCRIPT, early, new], capture_output=True, text=True, check=False)


def test_an_early_store_is_refused_and_converted(early_store: Path, tmp_path: Path, zerolap: Zerolap) -> None:
    zerolap("explain", "--store", early_store).fails_with(3, "early zerolap", "scripts/convert_store.py")
    new = tmp_path / "new"
    done = converted(early_store, new)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "3 requests; 0 jobs without documents were left out\n"
    with Store.open(str(new)) as store:
        asked_of_fleet, run, compared = store.comparisons()
        assert [row.state for row in (asked_of_fleet, run, compared)] == ["done"] * 3
        assert store.request(asked_of_fleet.id).request.platform == "local"
        assert [work.id for work in store.fleet.newest_requests()] == [asked_of_fleet.id]
        assert len(store.fleet.attempts(asked_of_fleet.id)) == 2
        resolved = store.resolved(compared.id)
        assert resolved is not None
        assert [case.name for case in resolved.cases] == ["get-100B"]
        assert store.unfinished(resolved.digest) == []
        assert [case.verdict for case in read_comparison(store, compared.id).cases] == ["same"]
        assert [case.case for case in read_run(store, run.id).cases] == ["hset"]
        assert len(store.measurements(compared.id)) == 10
        for recorded in store.jobs(compared.id):
            assert recorded.events
    shown = zerolap("explain", run.id, "--store", new)
    assert shown.code == 0, shown.err


def test_other_revisions_are_not_converted(tmp_path: Path) -> None:
    Store.open(str(tmp_path / "current")).close()
    refused = converted(tmp_path / "current", tmp_path / "new")
    assert refused.returncode != 0
    assert "only 0009 is converted" in refused.stderr
