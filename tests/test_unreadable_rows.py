"""Rows that another version wrote, or that are damaged: what can be read is read, and the others fail alone."""

import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import Zerolap
from simulated_fleet import PLATFORM, SimulatedFleet, made_up_cases
from sqlalchemy import Table, update

from zerolap.api.plain_pages import index_page
from zerolap.records import ArchiveSource, BuildJob, BuildSpec, Request, ServerSpec, TrialsJob, UnreadableRecord
from zerolap.store import Attempt, KnownAgent, Store
from zerolap.store.tables import case_result, document, job, request

GARBAGE = "{" * 100_000


@pytest.fixture
def fleet(either_store: Store, redis_server: Path) -> SimulatedFleet:
    return SimulatedFleet(either_store, redis_server)


def plant(store: Store, table: Table, identity: str, change: Callable[[dict[str, Any]], object] | str) -> None:
    """Replace the document of a row by garbage, or by what a function makes of it."""
    key = table.c.document_id if table is case_result else table.c.id
    with store._database.writing() as connection:
        text = connection.execute(table.select().where(key == identity)).first().document  # type: ignore[union-attr]
        if isinstance(change, str):
            text = change
        else:
            content = json.loads(text)
            change(content)
            text = json.dumps(content)
        connection.execute(update(table).where(key == identity).values(document=text))


def with_unknown_fields(content: Any) -> None:
    """Add a field to all objects within a document of which this version knows the fields."""
    if isinstance(content, dict) and content:
        for name, part in content.items():
            if name not in ("config", "servers", "min_effect"):
                with_unknown_fields(part)
        for server in content.get("servers", {}).values():
            with_unknown_fields(server)
        content["of_a_newer_version"] = {"x": 1}
    elif isinstance(content, list):
        for part in content:
            with_unknown_fields(part)


def test_a_request_that_cannot_be_read_fails_alone(fleet: SimulatedFleet) -> None:
    good, newer, lacking, garbage = (fleet.submit(made_up_cases(1)) for _ in range(4))
    plant(fleet.store, request, newer.id, with_unknown_fields)
    plant(fleet.store, request, lacking.id, lambda content: content.pop("settings"))
    plant(fleet.store, request, garbage.id, GARBAGE)
    assert fleet.store.request(newer.id).request == newer

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(good, newer, lacking, garbage) == ["done", "done", "failed", "failed"]

    fleet.run(scenario)
    reasons = {asked.id: asked for asked in fleet.store.fleet.newest_requests()}
    assert reasons[lacking.id].reason == f"the request {lacking.id} cannot be read: settings: Field required"
    assert f"the request {garbage.id} cannot be read" in reasons[garbage.id].reason
    assert reasons[garbage.id].unreadable
    assert not reasons[newer.id].unreadable


def test_an_attempt_whose_job_cannot_be_read_fails_its_request_alone(fleet: SimulatedFleet) -> None:
    good, newer, garbage = (fleet.submit(made_up_cases(1)) for _ in range(3))

    for asked in (newer, garbage):
        source = asked.servers["base"].source
        spec = BuildSpec(content=hashlib.sha256(fleet.server.read_bytes()).hexdigest())
        assert isinstance(source, ArchiveSource)
        build = BuildJob(request=asked.id, source=source, variant="default", spec=spec)
        fleet.store.fleet.add_attempts([Attempt(f"a-{asked.id}", asked.id, PLATFORM, build)])
        plant(fleet.store, job, build.id, with_unknown_fields if asked is newer else GARBAGE)

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(good, newer, garbage) == ["done", "done", "failed"]

    fleet.run(scenario)
    assert "cannot be read" in fleet.store.request(garbage.id).reason
    assert not fleet.store.fleet.open_attempts()


def test_a_document_that_cannot_be_read_is_shown_as_such(fleet: SimulatedFleet) -> None:
    store = fleet.store
    good, newer, garbage, of_case = (fleet.submit(made_up_cases(1)) for _ in range(4))

    async def scenario(fleet: SimulatedFleet) -> None:
        assert set(await fleet.ended(good, newer, garbage, of_case)) == {"done"}

    fleet.run(scenario)
    before = store.comparison(newer.id)
    plant(store, document, newer.id, lambda content: content.update(of_a_newer_version=[1]))
    plant(store, document, garbage.id, GARBAGE)
    plant(store, case_result, of_case.id, "[]")
    assert store.comparison(newer.id) == before
    for identity in (garbage.id, of_case.id):
        with pytest.raises(UnreadableRecord, match=f"the comparison {identity} cannot be read"):
            store.comparison(identity)
    unreadable = {row.id for row in store.comparisons() if row.unreadable}
    assert unreadable == {garbage.id}
    assert f"the comparison {garbage.id} cannot be read".encode() in index_page(store.comparisons()).content


def test_trials_that_cannot_be_read_fail_their_request_alone(fleet: SimulatedFleet) -> None:
    good, garbage = (fleet.submit(made_up_cases(1)) for _ in range(2))
    [trials] = jobs_of(garbage)
    fleet.store.fleet.add_attempts([Attempt("a-1", garbage.id, PLATFORM, trials, state="claimed", agent="agent-0")])
    plant(fleet.store, job, trials.id, GARBAGE)

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(good, garbage) == ["done", "failed"]

    fleet.run(scenario)
    assert f"the job {trials.id} cannot be read" in fleet.store.request(garbage.id).reason


def jobs_of(asked: Request) -> list[TrialsJob]:
    """Return a job for each case of a request."""
    server = ServerSpec(build="b-1", topology=asked.cases[0].topology)
    return [
        TrialsJob(request=asked.id, case=case, servers={"base": server}, engine="counted", blocks=())
        for case in asked.cases
    ]


def test_the_command_line_names_what_cannot_be_read(tmp_path: Path, redis_server: Path, zerolap: Zerolap) -> None:
    with Store.open(str(tmp_path / "store")) as store:
        lost = SimulatedFleet(store, redis_server).submit(made_up_cases(1))
        [trials] = jobs_of(lost)
        store.fleet.add_attempts([Attempt("a-1", lost.id, PLATFORM, trials, state="claimed", agent="agent-0")])
        store.fleet.saw_agents([KnownAgent("agent-0", "lab", PLATFORM, "{}", time.time())])
        plant(store, job, trials.id, GARBAGE)
        plant(store, request, lost.id, GARBAGE)
    shown = zerolap("fleet", "status", "--store", "store")
    for name in (f"the request {lost.id}", f"the job {trials.id}"):
        assert f"{name} cannot be read" in " ".join(shown.out.split())
