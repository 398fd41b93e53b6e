"""The made-up store agrees with itself in either database, and `zerolap serve --demo` shows it and leaves nothing."""

import os
import signal
import socket
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from command_line import Zerolap
from demonstrated_lab import Demonstration
from free_ports import free_port
from waiting import BUILD_PATIENCE_SECONDS, PATIENCE_SECONDS, wait_until

from zerolap.demonstration import ARM, NOT_MEASURED, X86, fill_with_made_up_data
from zerolap.demonstration.made_up_server import ZADD_COMMIT
from zerolap.documents import read_comparison
from zerolap.queries import QUERIES, QuerySources
from zerolap.queries.stack_lines import LineParameters, read_lines
from zerolap.store import Store

MOMENT = datetime(2026, 11, 24, 12, 0, 0, tzinfo=UTC)
PROGRAM = "from zerolap.cli import main; main()"


@pytest.mark.slow
def test_a_planted_regression_is_in_verdicts_reasons_stacks_and_history(either_store: Store) -> None:
    server = fill_with_made_up_data(either_store, seed=3, moment=MOMENT)
    commit = server.commits[ZADD_COMMIT].commit
    open_changes = either_store.published_histories.open_changes(100)
    slower = [change for change in open_changes if change.commit == commit and change.change > 0.05]
    assert len(slower) == 1
    compared = [
        comparison
        for row in either_store.comparisons(200)
        if row.summary is not None
        and (comparison := either_store.comparison(row.id)).head.commit == commit
        and comparison.base.commit == server.commits[ZADD_COMMIT - 1].commit
    ]
    assert {comparison.platform.name for comparison in compared} == {ARM, X86}
    for comparison in compared:
        case = next(case for case in comparison.cases if case.case == "zadd")
        assert case.work == "regression"
        assert case.time == "regression"
        assert case.findings[0].function == "zslUpdateScore"
        trials = [measured for trial, measured in either_store.measurements(comparison.id) if trial.case == "zadd"]
        assert all("zslUpdateScore" in either_store.blobs.get(one.stacks).decode() for one in trials if one.stacks)
        assert NOT_MEASURED in comparison.notes
        lines = read_lines(
            QuerySources(either_store), LineParameters(id=comparison.id, function="dictSdsHash", file="dict.c")
        )
        assert all(side.lined_passes == side.passes > 0 for side in lines.sides)
        assert all(line.text for line in lines.lines)


@pytest.mark.slow
def test_a_comparison_that_goes_on_has_not_used_up_its_budget(store: Store) -> None:
    fill_with_made_up_data(store, seed=3, moment=MOMENT)
    running = [row.id for row in store.comparisons(200) if row.state == "running"]
    assert running
    for identity in running:
        assert not [note for note in read_comparison(store, identity).notes if "budget" in note]


@pytest.mark.slow
def test_equal_seeds_make_equal_data(tmp_path: Path) -> None:
    ids = []
    for name in ("first", "second"):
        with Store.open(str(tmp_path / name)) as store:
            fill_with_made_up_data(store, seed=5, moment=MOMENT)
            ids.append([row.id for row in store.comparisons(200)])
    assert ids[0] == ids[1]


def test_pages_without_parameters_have_something_to_show(demonstration: Demonstration, tmp_path: Path) -> None:
    with demonstration.opened_in(tmp_path / "store") as store:
        for query in QUERIES:
            if all(not field.is_required() for field in query.parameters.model_fields.values()):
                assert query.read(QuerySources(store), query.parameters())


@pytest.mark.slow
def test_serve_demo_shows_made_up_data_and_leaves_nothing(tmp_path: Path, client: httpx.Client) -> None:
    port = free_port()
    command = [sys.executable, "-c", PROGRAM, "serve", "--demo", "--listen", f"127.0.0.1:{port}"]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)

    def answers() -> bool:
        try:
            return client.get(f"http://127.0.0.1:{port}/api/v1/pages/overview").status_code == httpx.codes.OK
        except httpx.TransportError:
            return False

    try:
        wait_until(answers, seconds=BUILD_PATIENCE_SECONDS)
        assert NOT_MEASURED in client.get(f"http://127.0.0.1:{port}/").text
    finally:
        process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0
    assert f"http://127.0.0.1:{port}/" in said
    assert list(tmp_path.iterdir()) == []


def test_a_demonstration_takes_no_store(zerolap: Zerolap) -> None:
    zerolap("serve", "--demo", "--store", "elsewhere").fails_with(2, "--demo shows a store of its own")


def test_a_demonstration_at_a_taken_address_makes_nothing_up(zerolap: Zerolap) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = zerolap("serve", "--demo", "--listen", address)
    ended.fails_with(3, f"cannot listen at {address}")
    assert "making data up" not in ended.err
    assert "the demonstration is at" not in ended.err
