"""What is read while nothing is recorded: nothing. And how ids are found by their beginnings."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from simulated_fleet import PLATFORM, SimulatedFleet, made_up_cases
from sqlalchemy import event, text
from test_progress import SUBJECT, Pull
from toy_server import ToySource

from zerolap.documents import FalseAlarmRecord
from zerolap.records import UsageError
from zerolap.store import Attempt, KnownAgent, Store
from zerolap.store.database import Database
from zerolap.store.triggers import Post


@contextmanager
def statements(database: Database) -> Iterator[list[str]]:
    """Collect the statements that are executed."""
    executed: list[str] = []

    def note(*arguments: object) -> None:
        executed.append(str(arguments[2]))

    event.listen(database._engine, "before_cursor_execute", note)
    try:
        yield executed
    finally:
        event.remove(database._engine, "before_cursor_execute", note)


def test_nothing_is_read_of_a_pull_request_while_nothing_is_recorded(tmp_path: Path, toy: ToySource) -> None:
    pull = Pull(tmp_path, toy)
    pull.label(pull.head)
    first = pull.progress_reader.pull_request(SUBJECT)
    assert first is not None
    with statements(pull.store._database) as executed:
        # Signs of life and what is written elsewhere change nothing.
        pull.store.fleet.saw_agents([KnownAgent("agent", "lab", PLATFORM, "{}", 1.0)])
        pull.store.triggers.set_post(Post(SUBJECT, "comment", digest="d"))
        executed.clear()
        assert pull.progress_reader.pull_request(SUBJECT) is first
        assert [one for one in executed if one.startswith("SELECT")] == []
        pull.run("get-*", "running")
        assert pull.progress_reader.pull_request(SUBJECT) != first
        # Jobs are counted by the database.
        assert not [one for one in executed if "FROM attempt JOIN job" in one and "job.document" in one]
    pull.store.close()


def test_the_count_of_false_alarms_reads_each_document_once(store: Store) -> None:
    record = FalseAlarmRecord(store)
    assert record.of(PLATFORM) is None
    with statements(store._database) as executed:
        assert record.of(PLATFORM) is None
        assert executed == []


def test_jobs_are_counted_by_kind_and_state(store: Store, redis_server: Path) -> None:
    fleet = SimulatedFleet(store, redis_server)
    request = fleet.submit(made_up_cases(2))

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(request) == ["done"]

    fleet.run(scenario)
    counts = store.fleet.job_counts([request.id])[request.id]
    assert counts["build", "done"] == 1
    assert {state for _, state in counts} == {"done"}
    [job] = [one.job for one in store.fleet.attempts(request.id)][-1:]
    store.fleet.add_attempts([Attempt("a-again", request.id, PLATFORM, job)])
    again = store.fleet.job_counts([request.id])[request.id]
    # The last attempt at a job counts.
    assert again["trials", "ready"] == 1
    assert sum(again.values()) == sum(counts.values())
    assert store.fleet.attempt_counts(request.id) == {"done": sum(counts.values()), "ready": 1}


def test_ids_are_found_by_their_beginnings_with_an_index(store: Store, redis_server: Path) -> None:
    ids = [SimulatedFleet(store, redis_server).submit(made_up_cases(1)).id for _ in range(3)]
    assert store.request(ids[1][:12]).request.id == ids[1]
    for wanted in ("c-", "c_", "c%", "\N{LATIN SMALL LETTER E WITH ACUTE}"):
        with pytest.raises(UsageError):
            store.request(wanted)
    with store._database.read_transaction() as connection:
        is_sqlite = connection.dialect.name == "sqlite"
        if not is_sqlite:
            connection.execute(text("SET LOCAL enable_seqscan = off"))
        explain = "EXPLAIN QUERY PLAN" if is_sqlite else "EXPLAIN"
        for where in ("id >= 'c-1' AND id < 'c-2'", "id = 'c-1'"):
            plan = str(connection.execute(text(f"{explain} SELECT id FROM request WHERE {where}")).all())
            assert "uq_request_id" in plan or "sqlite_autoindex_request_1" in plan, plan
        of_kind = "SELECT subject FROM trigger WHERE kind = 'push' AND created >= 1"
        plan = str(connection.execute(text(f"{explain} {of_kind}")).all())
        assert "ix_trigger_kind_created" in plan, plan


@pytest.fixture
def store(either_store: Store) -> Store:
    return either_store
