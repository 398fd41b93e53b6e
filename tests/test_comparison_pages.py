"""What pages of comparisons, runs and trials ask for, and the events by which they follow a request."""

import csv
import io
import json
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx
import pytest
from http_server import served_lab
from made_records import a_measurement
from simulated_fleet import SimulatedFleet, made_up_cases
from sqlalchemy import update
from stored_comparison import COMPARISON, ID, ONLY_WITH_A_TOKEN, reading_token, recorded_comparison
from stored_run import REQUEST, RUN, record_trials, stored_run
from waiting import PATIENCE_SECONDS, wait_until

from zerolap.api import request_events
from zerolap.queries.measured_workload import RequestCause, cause_of, workload_of
from zerolap.records import Amounts, Placement, Request
from zerolap.store import Store, StoredTrigger, request_listing as records
from zerolap.store.tables import case_result, request, trial

CASE = COMPARISON.cases[0]


def asked(client: httpx.Client, url: str, query: str, **parameters: Any) -> Any:
    """Return the answer of a query, which must be there."""
    answer = client.get(f"{url}/api/v1/pages/{query}", params=parameters)
    assert answer.status_code == HTTPStatus.OK, answer.text
    return answer.json()


# Comparisons and runs, in parts.


def test_a_comparison_has_a_short_row_a_case(store: Store, client: httpx.Client) -> None:
    other = CASE.model_copy(update={"case": "set", "verdict": "regression", "work": "regression"})
    recorded_comparison(store, cases=[CASE, other])
    with served_lab(store) as url:
        answer = asked(client, url, "comparison", id=ID)
        table = client.get(f"{url}/api/v1/pages/comparison.csv", params={"id": ID}).text.splitlines()
    # What changed is read first.
    assert [row["case"] for row in answer["cases"]] == ["set", CASE.case]
    assert answer["sheet"]["continuation"].endswith("1 case unchanged")
    assert answer["is_final"] is True
    assert answer["cases"][1]["metrics"] == [CASE.deciding]
    [repeating] = [section for section in answer["sheet"]["sections"] if section["key"] == "repeating"]
    assert {"label": "seed", "text": f"`{COMPARISON.settings.seed}`"} in repeating["facts"]
    assert len(table) == 3
    assert table[0].startswith("case,group,topology,commands,verdict,work,time")


def test_the_newest_results_name_their_machines(store: Store, client: httpx.Client) -> None:
    recorded_comparison(store)
    stored_run(store)
    with served_lab(store) as url:
        newest = asked(client, url, "overview")["newest"]
    assert [report["platform"] for report in newest] == [RUN.platform.name, COMPARISON.platform.name]


def test_a_case_is_answered_with_its_evidence(store: Store, client: httpx.Client) -> None:
    recorded_comparison(store)
    with served_lab(store) as url:
        answer = asked(client, url, "comparison-case", id=ID, case=CASE.case)
        missing = client.get(f"{url}/api/v1/pages/comparison-case", params={"id": ID, "case": "none"})
    [figures] = [inner for inner in answer["section"]["sections"] if inner["title"] == "all figures"]
    assert len(figures["tables"][0]["rows"]) == len(CASE.verdicts)
    assert answer["section"]["sentences"][0]["text"].startswith("GET ")
    assert missing.status_code == HTTPStatus.NOT_FOUND
    assert "has no case 'none'" in missing.json()["detail"]


def test_a_comparison_states_what_asked_for_it_and_a_case_what_it_sends(
    store: Store, client: httpx.Client, redis_server: Path
) -> None:
    store.triggers.add(StoredTrigger("t-1", "redis/redis", "redis/redis#12", "pull request", "{}"))
    fleet = SimulatedFleet(store, redis_server)
    by_hand = fleet.submit(made_up_cases(2))
    document = by_hand.model_dump(mode="json", by_alias=True) | {"trigger": "t-1"}
    recorded_comparison(store)
    with store._database.write_transaction() as connection:
        of_request = update(request).where(request.c.id == ID)
        connection.execute(of_request.values(document=json.dumps(document), resolved=json.dumps(document)))
    [sent, _] = by_hand.cases
    assert cause_of(store, ID) == RequestCause(
        trigger="t-1", kind="pull request", subject="redis/redis#12", repository="redis/redis", pull_request=12
    )
    workload = workload_of(store, ID, sent.name)
    assert workload is not None
    assert workload.commands == tuple(command.line for command in sent.client.sent)
    assert (workload.connections, workload.pipeline) == (sent.client.connections, sent.client.pipeline)
    assert workload_of(store, ID, "none") is None
    with served_lab(store) as url:
        assert asked(client, url, "comparison", id=ID)["cause"]["subject"] == "redis/redis#12"
        # The case of the document is none of the request: what it sends is unknown.
        assert asked(client, url, "comparison-case", id=ID, case=CASE.case)["workload"] is None


def test_a_case_that_cannot_be_read_fails_alone(store: Store, client: httpx.Client) -> None:
    recorded_comparison(store, cases=[CASE, CASE.model_copy(update={"case": "set"})])
    with store._database.write_transaction() as connection:
        connection.execute(update(case_result).where(case_result.c.case == "set").values(document="{"))
    with served_lab(store) as url:
        answer = asked(client, url, "comparison", id=ID)
        damaged = client.get(f"{url}/api/v1/pages/comparison-case", params={"id": ID, "case": "set"})
        assert asked(client, url, "comparison-case", id=ID, case=CASE.case)["section"]["key"] == CASE.case
    assert [row["case"] for row in answer["cases"]] == [CASE.case]
    assert "`set`: the case set cannot be read" in answer["sheet"]["sentences"][0]["text"]
    assert damaged.status_code == HTTPStatus.INTERNAL_SERVER_ERROR
    assert "cannot be read" in damaged.json()["detail"]


def test_a_run_is_answered_in_parts(store: Store, client: httpx.Client) -> None:
    stored_run(store)
    with served_lab(store) as url:
        answer = asked(client, url, "run", id=RUN.id)
        case = asked(client, url, "run-case", id=RUN.id, case="get-100B")
        drawn = asked(client, url, "case-pictures", id=RUN.id, case="get-100B")
        without = asked(client, url, "case-pictures", id=RUN.id, case="hset")
    assert [row["case"] for row in answer["cases"]] == [entry.case for entry in RUN.cases]
    assert answer["sheet"]["sections"][-1]["facts"][1] == {"label": "seed", "text": f"`{2**64 - 1}`"}
    functions = case["section"]["tables"][0]["rows"]
    assert [cell["text"] for row in functions for cell in row if cell["is_name"]][::2] == ["dictFind", "writeToClient"]
    assert case["trials"] == {"head": 4}
    [sent] = [of for of in REQUEST.cases if of.name == "get-100B"]
    assert case["workload"]["commands"] == [command.line for command in sent.client.sent]
    assert case["workload"]["connections"] == sent.client.connections
    assert len(drawn["pictures"]["throughput"]["head"]) == 6
    assert {frame["function"] for frame in drawn["frames"]} >= {"dictFind", "writeToClient"}
    assert without == {"frames": [], "sources": [], "pictures": None}


def test_what_charts_of_a_case_show_is_a_table(store: Store, client: httpx.Client) -> None:
    stored_run(store)
    with served_lab(store) as url:
        pictures = asked(client, url, "case-pictures", id=RUN.id, case="get-100B")["pictures"]
        drawn, nothing = (
            client.get(f"{url}/api/v1/pages/case-pictures.csv", params={"id": RUN.id, "case": name}).text
            for name in ("get-100B", "hset")
        )
    heads, *rows = csv.reader(io.StringIO(drawn))
    assert heads == ["chart", "side", "share of requests", "latency us", "seconds", "requests per second"]
    latencies = [(float(row[2]), float(row[3])) for row in rows if row[:2] == ["latency", "head"]]
    assert latencies == [tuple(point) for point in pictures["latency"]["head"]]
    rates = [(float(row[4]), float(row[5])) for row in rows if row[:2] == ["throughput", "head"]]
    assert rates == [tuple(point) for point in pictures["throughput"]["head"]]
    assert [float(row[4]) for row in rows if row[0] == "start of servers"] == pictures["starts_at"]
    assert nothing.splitlines() == [",".join(heads)]


def test_a_blob_that_is_damaged_costs_only_the_pictures(store: Store, client: httpx.Client) -> None:
    stored_run(store)
    with store._database.write_transaction() as connection:
        connection.execute(update(trial).where(trial.c.timeline.is_not(None)).values(timeline="0" * 64))
    with served_lab(store) as url:
        drawn = asked(client, url, "case-pictures", id=RUN.id, case="get-100B")
        number = asked(client, url, "trials", id=RUN.id, case="get-100B")["trials"][0]["number"]
        details = asked(client, url, "trial", number=number)
    assert drawn["pictures"]["missing"]
    assert details["slices"] == details["bars"] == []
    assert details["missing"][0].startswith("slices and latencies: ")
    assert details["checks"]


# Trials.


def test_trials_of_a_case_are_listed_page_by_page(store: Store, client: httpx.Client) -> None:
    stored_run(store)
    with served_lab(store) as url:
        everything = asked(client, url, "trials", id=RUN.id, case="get-100B")
        first = asked(client, url, "trials", id=RUN.id, case="get-100B", limit=3)
        second = asked(client, url, "trials", id=RUN.id, case="get-100B", limit=3, after=first["next_after"])
        none = asked(client, url, "trials", id=RUN.id, case="get-100B", side="base")
        table = client.get(f"{url}/api/v1/pages/trials.csv", params={"id": RUN.id, "case": "get-100B"}).text
    assert everything["next_after"] is None
    assert [*first["trials"], *second["trials"]] == everything["trials"]
    assert [listed["engine"] for listed in everything["trials"]] == ["timed", "timed", "timed", "sampled"]
    assert [listed["valid"] for listed in everything["trials"]] == [True, True, False, True]
    assert everything["trials"][2]["failed"] == ["steal is 0.5, expected <= 0.01"]
    assert none["trials"] == []
    assert len(table.splitlines()) == 5


def test_a_trial_is_answered_with_what_belongs_to_it(store: Store, client: httpx.Client) -> None:
    stored_run(store)
    placed = a_measurement(placement=Placement(seed=7), metrics={"cpu_ns_per_op": 12.5}, amounts=Amounts(pairs=20))
    record_trials(store, "hset", "timed", [placed])
    with served_lab(store) as url:
        listed = asked(client, url, "trials", id=RUN.id, case="get-100B")["trials"]
        details = asked(client, url, "trial", number=listed[0]["number"])
        [other] = asked(client, url, "trials", id=RUN.id, case="hset")["trials"]
        of_hset = asked(client, url, "trial", number=other["number"])
        unknown = client.get(f"{url}/api/v1/pages/trial", params={"number": 10_000})
        page = client.get(f"{url}/trials/{listed[0]['number']}")
    assert (details["request"], details["path"], details["case"], details["side"]) == (
        RUN.id,
        "runs",
        "get-100B",
        "head",
    )
    assert [point["requests_per_sec"] for point in details["slices"]] == [100_000, 110_000, 120_000]
    assert sum(bar["requests"] for bar in details["bars"]) == 1000
    assert details["latency"][-1][0] == 1.0
    assert details["platform"]["name"] == "laptop"
    assert of_hset["placement"] == other["placement"] == "functions in the order of seed 7"
    assert of_hset["metrics"] == {"cpu_ns_per_op": 12.5}
    assert unknown.status_code == HTTPStatus.NOT_FOUND
    assert page.status_code == HTTPStatus.OK


def test_a_trial_of_which_a_part_cannot_be_read_leaves_the_others(store: Store, client: httpx.Client) -> None:
    stored_run(store)
    with store._database.write_transaction() as connection:
        connection.execute(update(trial).where(trial.c.block == 1).values(validity="{"))
    with served_lab(store) as url:
        listed = asked(client, url, "trials", id=RUN.id, case="get-100B")["trials"]
        damaged = client.get(f"{url}/api/v1/pages/trial", params={"number": listed[1]["number"]})
        assert asked(client, url, "trial", number=listed[0]["number"])["valid"] is True
    assert [bool(entry["unreadable"]) for entry in listed] == [False, True, False, False]
    assert damaged.status_code == HTTPStatus.INTERNAL_SERVER_ERROR


# The list.


def test_requests_are_listed_page_by_page_and_filtered(
    either_store: Store, redis_server: Path, client: httpx.Client
) -> None:
    store = either_store
    recorded_comparison(store)
    stored_run(store)
    fleet = SimulatedFleet(store, redis_server)
    waiting, failed = fleet.submit(made_up_cases(1)), fleet.submit(made_up_cases(1))
    store.fleet.set_state(failed.id, "failed", "it does not build")

    def ids(**parameters: Any) -> list[str]:
        return [report["id"] for report in asked(client, url, "reports", **parameters)["reports"]]

    with served_lab(store) as url:
        assert ids() == [failed.id, waiting.id, RUN.id, ID]
        first = asked(client, url, "reports", limit=3)
        assert ids(before=first["next_before"]) == [ID]
        assert asked(client, url, "reports", before=first["next_before"])["next_before"] is None
        assert ids(state="waiting") == [waiting.id]
        assert ids(kind="run") == [RUN.id]
        assert ids(platform="laptop") == [RUN.id]
        assert ids(text=ID[4:12].upper()) == [ID]
        assert ids(text="src/REDIS-server") == [RUN.id]
        assert ids(text='no such "text"') == []
        assert "it does not build" not in client.get(f"{url}/api/v1/pages/reports.csv").text


def test_a_text_is_sought_in_some_thousand_requests_at_once(
    store: Store, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "SEARCHED_AT_ONCE", 1)
    recorded_comparison(store)
    stored_run(store)
    with served_lab(store) as url:
        first = asked(client, url, "reports", text="zerolap COMPARE")
        assert first["reports"] == []
        second = asked(client, url, "reports", text="zerolap COMPARE", before=first["next_before"])
    assert [report["id"] for report in second["reports"]] == [ID]


# Events.


def events_of(client: httpx.Client, url: str, identity: str, stopping: Any = None) -> list[dict[str, Any]]:
    """Return the events of a request until they end; `stopping` is called with each."""
    statuses: list[dict[str, Any]] = []
    with client.stream("GET", f"{url}/api/v1/requests/{identity}/events") as answer:
        assert answer.status_code == HTTPStatus.OK
        assert answer.headers["content-type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            if line.startswith("data: "):
                statuses.append(json.loads(line.removeprefix("data: ")))
                if stopping is not None:
                    stopping(statuses)
    return statuses


def submitted(store: Store, redis_server: Path) -> Request:
    return SimulatedFleet(store, redis_server).submit(made_up_cases(2))


def test_events_end_with_the_request(store: Store, redis_server: Path, client: httpx.Client) -> None:
    request = submitted(store, redis_server)

    def fail(statuses: list[dict[str, Any]]) -> None:
        if len(statuses) == 1:
            store.fleet.set_state(request.id, "failed", "the reason")

    with served_lab(store) as url:
        statuses = events_of(client, url, request.id, fail)
        recorded_comparison(store)
        of_ended = events_of(client, url, ID)
    assert [status["state"] for status in statuses] == ["waiting", "failed"]
    assert (statuses[0]["cases_asked"], statuses[0]["cases"], statuses[0]["has_report"]) == (2, 0, False)
    assert statuses[1]["reasons"] == ["the reason"]
    assert [(status["state"], status["has_report"]) for status in of_ended] == [("done", True)]


def test_events_show_that_they_are_still_there(
    store: Store, redis_server: Path, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_events, "HEARTBEAT_SECONDS", 0.05)
    request = submitted(store, redis_server)
    with served_lab(store) as url, client.stream("GET", f"{url}/api/v1/requests/{request.id}/events") as answer:
        assert any(line == ": still there" for line in answer.iter_lines())


@pytest.mark.parametrize("kind", ["token", "session"])
def test_events_end_for_who_may_not_read_any_more(
    kind: str, store: Store, redis_server: Path, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_events, "HEARTBEAT_SECONDS", 0.05)
    monkeypatch.setattr(request_events, "CHECKED_AFTER_SECONDS", 0.0)
    request, token = submitted(store, redis_server), reading_token(store)
    lines: list[str] = []
    with served_lab(store, ONLY_WITH_A_TOKEN) as url:
        headers = {"Authorization": f"Bearer {token}"}
        if kind == "session":
            signed_in = client.post(f"{url}/api/v1/session", json={"token": token}, headers={"Origin": url})
            assert signed_in.status_code == HTTPStatus.NO_CONTENT
            headers = {}
        with client.stream("GET", f"{url}/api/v1/requests/{request.id}/events", headers=headers) as answer:
            assert answer.status_code == HTTPStatus.OK
            for line in answer.iter_lines():
                lines.append(line)
                if line != ": still there":
                    continue
                if kind == "token":
                    store.triggers.remove_token("reader")
                else:
                    client.delete(f"{url}/api/v1/session", headers={"Origin": url})
    # The request goes on: it is the reader's right that has ended.
    assert ": still there" in lines
    assert store.fleet.states([request.id]) == {request.id: "waiting"}


def test_places_of_an_address_are_few_and_are_given_back(
    store: Store, redis_server: Path, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_events, "MOST_OF_ADDRESS", 2)
    request = submitted(store, redis_server)
    with served_lab(store) as url:
        path = f"{url}/api/v1/requests/{request.id}/events"
        with client.stream("GET", path) as first, client.stream("GET", path) as second:
            assert first.status_code == second.status_code == HTTPStatus.OK
            refused = client.get(path)
            assert refused.status_code == HTTPStatus.TOO_MANY_REQUESTS
            assert int(refused.headers["retry-after"]) > 0

        def is_followed() -> bool:
            with client.stream("GET", path) as answer:
                return answer.status_code == HTTPStatus.OK

        # Both clients have gone away.
        wait_until(is_followed)
        wait_until(lambda: client.get(f"{url}/api/v1/requests/c-0/events").status_code == HTTPStatus.NOT_FOUND)
        # An unknown request takes no place for good.
        unknown = [client.get(f"{url}/api/v1/requests/c-0/events").status_code for _ in range(3)]
        assert unknown == [HTTPStatus.NOT_FOUND] * 3


def test_events_end_after_their_longest_time(
    store: Store, redis_server: Path, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_events, "HEARTBEAT_SECONDS", 0.05)
    monkeypatch.setattr(request_events, "LONGEST_SECONDS", 0.2)
    request = submitted(store, redis_server)
    with served_lab(store) as url:
        assert [status["state"] for status in events_of(client, url, request.id)] == ["waiting"]


def test_events_need_the_token_of_pages_and_have_few_listeners(
    store: Store, redis_server: Path, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = submitted(store, redis_server)
    token = reading_token(store)
    store.fleet.set_state(request.id, "cancelled")
    with served_lab(store, ONLY_WITH_A_TOKEN) as url:
        path = f"{url}/api/v1/requests/{request.id}/events"
        assert client.get(path).status_code == HTTPStatus.UNAUTHORIZED
        assert client.get(path, headers={"Authorization": f"Bearer {token}"}).status_code == HTTPStatus.OK
    monkeypatch.setattr(request_events, "MOST_LISTENERS", 0)
    with served_lab(store) as url:
        refused = client.get(f"{url}/api/v1/requests/{request.id}/events")
        unknown = client.get(f"{url}/api/v1/requests/c-0/events", timeout=PATIENCE_SECONDS)
    assert refused.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert int(refused.headers["retry-after"]) > 0
    assert unknown.status_code in (HTTPStatus.NOT_FOUND, HTTPStatus.SERVICE_UNAVAILABLE)
