"""Rows that another version wrote, or that are damaged: what can be read is read, and the others fail alone."""

import hashlib
import json
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from api_client import Asking
from command_line import PROGRAM, Zerolap
from free_ports import free_port
from simulated_fleet import PLATFORM, SimulatedFleet, made_up_cases
from sqlalchemy import Table, update
from stored_comparison import stored_token
from test_retention import DAY, result
from toy_server import CASES, ToySource
from waiting import wait_until

from zerolap.queries import REPORTS, QuerySources, ReportList
from zerolap.records import ArchiveSource, BuildJob, BuildSpec, Request, ServerSpec, TrialsJob, UnreadableRecord
from zerolap.store import Attempt, KnownAgent, Retention, Store, StoredTrigger
from zerolap.store.tables import case_result, document, job, request, trigger
from zerolap.store.triggers import TriggerState
from zerolap.triggers.trigger import PushTrigger
from zerolap.triggers.webhooks.admission_state import stored_trigger

GARBAGE = "{" * 100_000
REPOSITORY = "toy/server"


@pytest.fixture
def fleet(either_store: Store, redis_server: Path) -> SimulatedFleet:
    return SimulatedFleet(either_store, redis_server)


def plant(store: Store, table: Table, identity: str, change: Callable[[dict[str, Any]], object] | str) -> None:
    """Replace the document of a row by garbage, or by what a function makes of it."""
    key = table.c.document_id if table is case_result else table.c.id
    with store._database.write_transaction() as connection:
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
    listed = REPORTS.read(QuerySources(store), REPORTS.parameters())
    assert isinstance(listed, ReportList)
    states = {report.id: report.state for report in listed.reports}
    assert f"the comparison {garbage.id} cannot be read" in states[garbage.id]
    assert states[good.id] == "done"


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


def plant_requests(store: Store, identity: str) -> None:
    """Replace the list of the requests that a trigger has led to by garbage."""
    with store._database.write_transaction() as connection:
        connection.execute(update(trigger).where(trigger.c.id == identity).values(requests=GARBAGE))


def stored_push(number: int, after: str) -> StoredTrigger:
    push = PushTrigger(repository=REPOSITORY, branch="main", before="a" * 40, after=after)
    return stored_trigger(push, f"push {number}", time.time())


def recorded_push(store: Store, number: int, after: str, state: TriggerState = "waiting") -> StoredTrigger:
    stored = replace(stored_push(number, after), state=state)
    store.triggers.add(stored)
    return stored


def test_serve_goes_on_past_triggers_that_cannot_be_read(tmp_path: Path, redis_server: Path, toy: ToySource) -> None:
    place, port, settings = tmp_path / "store", free_port(), tmp_path / "triggers.toml"
    settings.write_text(
        f'[[repository]]\nname = "{REPOSITORY}"\nclone_url = "{toy.path}"\nbranches = ["main"]\n'
        f'cases_directory = "{CASES}"\ncases = ["toy-get"]\nengines = ["counted"]\nregimes = "none"\n'
    )
    with Store.open(str(place)) as store:
        ended = [recorded_push(store, number, "b" * 40, state="done") for number in range(3)]
        plant(store, trigger, ended[0].id, GARBAGE)
        plant_requests(store, ended[1].id)
        lost = SimulatedFleet(store, redis_server).submit(made_up_cases(1))
        plant(store, request, lost.id, GARBAGE)
        store.fleet.set_state(lost.id, "failed", "it cannot be read")
        store.triggers.add(stored_push(5, "b" * 40).ended("done", "", [lost.id]))
        waiting = recorded_push(store, 3, toy.first)
        plant_requests(store, waiting.id)
        harmless = recorded_push(store, 4, toy.first)
        client = Asking(f"http://127.0.0.1:{port}", stored_token(store, "reader", "read"))
        serve = [*PROGRAM, "serve", "--triggers", settings, "--listen", f"127.0.0.1:{port}", "--store", place]
        with (tmp_path / "log").open("w") as log:
            process = subprocess.Popen(list(map(str, serve)), cwd=tmp_path, stdout=log, stderr=log)

        def check() -> None:
            assert process.poll() is None, (tmp_path / "log").read_text()

        try:
            wait_until(lambda: not store.triggers.in_state("waiting"), check)
            assert [stored.id for stored in store.triggers.in_state("failed")] == []
            answer = client.get(f"/triggers/{ended[1].id}")
            assert answer.status_code == HTTPStatus.INTERNAL_SERVER_ERROR
            assert f"the trigger {ended[1].id} cannot be read" in answer.json()["detail"]
            assert client.get(f"/triggers/{harmless.id}").json()["state"] == "done"
            check()
        finally:
            process.terminate()
            process.wait()


def test_pruning_goes_on_past_rows_that_cannot_be_read(either_store: Store) -> None:
    for identity in ("c-0", "c-1", "c-2"):
        result(either_store, identity, days=100)
    plant(either_store, request, "c-0", GARBAGE)
    for name, led_to in (("t-0", ("c-0",)), ("t-1", ("c-1",))):
        stored = StoredTrigger(name, REPOSITORY, "s", "push", "{}", created=1.0)
        either_store.triggers.add(stored.ended("done", "", led_to))
    plant_requests(either_store, "t-0")
    assert either_store.prune(Retention(seconds=DAY)).requests == ["c-0", "c-1", "c-2"]
    assert either_store.fleet.states(["c-0", "c-1", "c-2"]) == {}
    damaged = either_store.triggers.with_id("t-0")
    assert damaged is not None
    with pytest.raises(UnreadableRecord, match="the trigger t-0 cannot be read"):
        _ = damaged.requests
    assert either_store.triggers.with_id("t-1") is None


def test_the_verb_prunes_past_rows_that_cannot_be_read(zerolap: Zerolap) -> None:
    with Store.open(str(zerolap.store)) as store:
        for identity in ("c-0", "c-1"):
            result(store, identity, days=100)
        plant(store, request, "c-0", GARBAGE)
        store.triggers.add(StoredTrigger("t-0", REPOSITORY, "s", "push", "{}", created=1.0, state="done"))
        plant_requests(store, "t-0")
    pruned = zerolap("store", "prune", "--keep", "30d", "--store", zerolap.store, "--json", "-")
    assert (pruned.code, pruned.document()["results"]) == (0, ["c-0", "c-1"])


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
