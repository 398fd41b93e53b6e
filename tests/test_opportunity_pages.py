"""What the query of opportunities answers, from a store of planted call graphs, over HTTP."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from http_server import served_lab
from made_records import a_measurement
from stored_comparison import ID, ONLY_WITH_A_TOKEN, reading_token, recorded_comparison
from stored_opportunities import HOSTILE, counted_run, planted_graph, run_of_many_cases
from stored_run import RUN, record_trials, stored_run
from waiting import PATIENCE_SECONDS

from zerolap.explain import BUILT_IN_DETECTORS, Detector
from zerolap.opportunities.opportunities_in_time import AT_ONCE
from zerolap.queries import opportunity_list
from zerolap.store import Store

DOCUMENTS = Path(__file__).parents[1] / "docs" / "detectors"
PATH = "/api/v1/pages/opportunities"


@pytest.fixture
def lab(store: Store) -> Iterator[httpx.Client]:
    with served_lab(store) as url, httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_SECONDS) as client:
        yield client


def answered(lab: httpx.Client, **parameters: Any) -> Any:
    answer = lab.get(PATH, params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_document_is_that_of_the_newest_result_that_was_counted(store: Store, lab: httpx.Client) -> None:
    counted_run(store)
    recorded_comparison(store)
    answer = answered(lab)
    assert (answer["result"]["id"], [result["id"] for result in answer["newest"]]) == (RUN.id, [RUN.id])
    assert (answer["counted_cases"], answer["waiting_cases"]) == (2, [])
    document = answer["document"]
    assert (document["schema"], document["weights"]["kind"]) == ("zerolap.opportunities/1", "command")
    [opportunity] = document["opportunities"]
    assert (opportunity["function"], opportunity["all_cases"], opportunity["commands"]) == (
        "addReplyDouble",
        2,
        ["GET", "HSET"],
    )
    assert [case["case"] for case in opportunity["cases"]] == ["hset", "get-100B"]
    assert answered(lab, id=RUN.id, weights="equal")["document"]["weights"]["kind"] == "equal"


def test_the_document_is_that_of_the_result_with_most_cases(store: Store, lab: httpx.Client) -> None:
    counted_run(store)
    newest = run_of_many_cases(store, 1)
    answer = answered(lab)
    assert (answer["result"]["id"], [result["id"] for result in answer["newest"]]) == (RUN.id, [newest, RUN.id])


def test_an_empty_lab_has_no_document(lab: httpx.Client) -> None:
    answer = answered(lab)
    assert (answer["document"], answer["result"], answer["newest"]) == (None, None, [])


def test_opportunities_and_their_cases_are_bounded(store: Store, lab: httpx.Client) -> None:
    counted_run(store)
    [opportunity] = answered(lab, cases=1)["document"]["opportunities"]
    assert ([case["case"] for case in opportunity["cases"]], opportunity["all_cases"]) == (["hset"], 2)
    document = answered(lab, detector="costly-formatting", function="addReplyDouble", file="server.c")["document"]
    assert (len(document["opportunities"]), document["all_opportunities"]) == (1, 1)
    for other in ({"detector": "atomics"}, {"function": "call"}, {"file": "other.c"}):
        assert answered(lab, **other)["document"]["all_opportunities"] == 0


def test_what_takes_too_long_is_looked_through_when_it_is_asked_for_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opportunity_list, "EXAMINING_SECONDS", 0.0)
    monkeypatch.setattr("zerolap.api.page_responses.FRESH_SECONDS", 0.0)
    number = 3 * AT_ONCE + 3
    run_of_many_cases(store, number)
    with served_lab(store) as url, httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_SECONDS) as lab:
        for examined in (AT_ONCE, 2 * AT_ONCE, 3 * AT_ONCE, number):
            answer = answered(lab)
            assert answer["counted_cases"] == number
            assert len(answer["document"]["cases"]) == examined
            assert len(answer["waiting_cases"]) == number - examined
        assert answer["document"]["opportunities"][0]["all_cases"] == number


def test_what_cannot_be_kept_is_answered_in_part(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opportunity_list, "EXAMINING_SECONDS", 0.0)
    monkeypatch.setattr(store.work, "keep", lambda works, revision, has_build: None)
    run_of_many_cases(store, 3 * AT_ONCE)
    with served_lab(store) as url, httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_SECONDS) as lab:
        answer = answered(lab)
        assert (len(answer["document"]["cases"]), len(answer["waiting_cases"])) == (AT_ONCE, 2 * AT_ONCE)


def test_cases_with_sampled_stacks_are_named(store: Store, lab: httpx.Client) -> None:
    counted_run(store)
    assert answered(lab)["sampled"] == {"get-100B": RUN.id}


def test_the_table_has_a_row_for_each_opportunity_and_case(store: Store, lab: httpx.Client) -> None:
    counted_run(store)
    rows = list(csv.DictReader(io.StringIO(lab.get(f"{PATH}.csv").text)))
    assert [(row["rank"], row["function"], row["case"]) for row in rows] == [
        ("1", "addReplyDouble", "hset"),
        ("1", "addReplyDouble", "get-100B"),
    ]
    assert rows[0]["frames"].endswith("> addReplyDouble")
    assert float(rows[0]["saved"]) > float(rows[1]["saved"]) > 0
    calibration = answered(lab)["document"]["opportunities"][0]["calibration"]
    assert (int(rows[0]["known edits"]), calibration["edits"]) == (2, 2)
    assert float(rows[0]["measured of predicted, smallest"]) == calibration["smallest_ratio"]


@pytest.mark.parametrize(
    ("parameters", "status"),
    [
        ({"id": "r-0000"}, 404),
        ({"id": "c-fedcba9876543210fedcba98"}, 404),
        ({"id": RUN.id, "side": "base"}, 404),
        ({"id": "../etc"}, 422),
        ({"side": "both"}, 422),
        ({"weights": "/etc/passwd"}, 422),
        ({"weights": "tcp://127.0.0.1:6379"}, 422),
        ({"weights": "priority"}, 404),
        ({"function": "a\0"}, 422),
        ({"file": "a" * 501}, 422),
        ({"limit": 0}, 422),
        ({"cases": 10**23}, 422),
    ],
)
def test_what_there_is_not_is_refused(parameters: dict[str, Any], status: int, store: Store, lab: httpx.Client) -> None:
    counted_run(store)
    for path in (PATH, f"{PATH}.csv"):
        refused = lab.get(path, params=parameters)
        assert (refused.status_code, refused.headers["content-type"]) == (status, "application/problem+json")


def test_a_result_that_was_not_counted_names_what_counts(store: Store, lab: httpx.Client) -> None:
    stored_run(store)
    refused = lab.get(PATH, params={"id": RUN.id})
    assert (refused.status_code, "--engine counted" in refused.json()["hint"]) == (404, True)
    recorded_comparison(store)
    assert lab.get(PATH, params={"id": ID}).status_code == 404


def test_call_graphs_that_cannot_be_read_are_reported(store: Store, lab: httpx.Client) -> None:
    stored_run(store)
    record_trials(store, "hset", "counted", [a_measurement(graph=store.blobs.put(b'{"schema": "another"}'))])
    refused = lab.get(PATH)
    assert (refused.status_code, "damaged" in refused.json()["detail"]) == (404, True)


def test_names_of_others_are_bounded_and_no_formulas(store: Store, lab: httpx.Client) -> None:
    stored_run(store)
    name = f"={HOSTILE}{'x' * 10_000}"
    graph = planted_graph(formatting=name)
    record_trials(store, "hset", "counted", [a_measurement(graph=store.blobs.put(graph))])
    [opportunity] = answered(lab)["document"]["opportunities"]
    assert opportunity["function"].startswith(f"={HOSTILE}")
    assert len(opportunity["function"]) < 500
    [row] = csv.DictReader(io.StringIO(lab.get(f"{PATH}.csv").text))
    assert row["function"].startswith("'=")


@pytest.mark.parametrize("detector", BUILT_IN_DETECTORS, ids=lambda detector: detector.name)
def test_each_detector_has_a_page(detector: Detector) -> None:
    assert (DOCUMENTS / f"{detector.name}.md").read_text().startswith(f"# {detector.name}\n")


def test_reading_takes_a_token_unless_reports_are_public(store: Store) -> None:
    counted_run(store)
    token = reading_token(store)
    with (
        served_lab(store, ONLY_WITH_A_TOKEN) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_SECONDS) as lab,
    ):
        for path in (PATH, f"{PATH}.csv"):
            assert lab.get(path).status_code == 401
            assert lab.get(path, headers={"Authorization": f"Bearer {token}"}).status_code == 200


def test_results_that_were_counted_are_found_in_both_databases(either_store: Store) -> None:
    counted_run(either_store)
    recorded_comparison(either_store)
    assert either_store.work.newest_results(5) == {RUN.id: 2}
