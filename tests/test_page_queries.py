"""All queries of pages: described in OpenAPI, and to be had as JSON and CSV."""

import csv
import io
from collections.abc import Iterator
from typing import Any

import pytest
from api_client import request
from http_server import served_lab
from stored_comparison import ID, recorded_comparison
from test_store import a_job, a_resolved

from zerolap.queries import QUERIES, PageQuery, comparison_page
from zerolap.queries.comparison_page import change_of
from zerolap.records import Comparison
from zerolap.sheets.case_words import STATES
from zerolap.store import Store

WITHOUT_TABLE = {"request", "job-failure", "comparison-case", "run-case", "search"}
"""The state of a request, the log of a job, all there is of a case, what a text names: it is listed in other tables."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with Store.open(str(tmp_path_factory.mktemp("store"))) as store, served_lab(store) as url:
        yield url


@pytest.fixture(scope="module")
def description(lab: str) -> Any:
    return request("GET", f"{lab}/openapi.json").json()


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_a_query_is_described_with_its_parameters_and_its_answer(query: PageQuery, description: Any) -> None:
    operation = description["paths"][f"/api/v1/pages/{query.name}"]["get"]
    assert operation["summary"] == query.summary
    described = {parameter["name"]: parameter for parameter in operation.get("parameters", ())}
    assert set(described) == set(query.parameters.model_fields)
    for name, parameter in described.items():
        assert parameter.get("description"), name
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    answer = description["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    assert answer["description"]
    for status in ("401", "404", "422", "503"):
        assert "application/problem+json" in operation["responses"][status]["content"]


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_a_list_or_chart_is_to_be_had_as_csv(query: PageQuery, lab: str, description: Any) -> None:
    path = f"/api/v1/pages/{query.name}.csv"
    assert (query.table is None) == (path not in description["paths"])
    if query.table is None:
        assert query.name in WITHOUT_TABLE
        return
    assert "text/csv" in description["paths"][path]["get"]["responses"]["200"]["content"]
    if any(field.is_required() for field in query.parameters.model_fields.values()):
        return
    shown = request("GET", f"{lab}{path}")
    assert (shown.status_code, shown.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    rows = list(csv.reader(io.StringIO(shown.text)))
    assert rows
    assert all(len(row) == len(rows[0]) for row in rows)
    assert request("GET", f"{lab}/api/v1/pages/{query.name}").status_code == 200


@pytest.mark.parametrize(
    "asked",
    [
        "reports?before=9223372036854775808",
        f"trials?id=c-1&case=get&after={10**23}",
        "series?case=a%00b",
        "reports?platform=%00",
        "trial-values?case=get&platform=a&platform=b%00",
    ],
)
def test_what_no_database_takes_is_refused(asked: str, lab: str) -> None:
    refused = request("GET", f"{lab}/api/v1/pages/{asked}")
    assert (refused.status_code, refused.headers["content-type"]) == (422, "application/problem+json")


def test_an_answer_follows_its_document(either_store: Store) -> None:
    store = either_store
    comparison = recorded_comparison(store, notes=["before"])
    [case] = comparison.cases
    answers = []
    with served_lab(store) as url:
        for changes in ({"notes": ["after"]}, {"cases": [case.model_copy(update={"verdict": "regression"})]}, {}):
            answer = request("GET", f"{url}/api/v1/pages/comparison?id={ID}").json()
            answers.append((answer["sheet"]["notes"], answer["cases"][0]["outcomes"][0]))
            # SQLite gives the new row of the case the number of the old one.
            comparison = comparison.model_copy(update=changes)
            store.record_comparison(comparison)
    assert answers == [(["before"], case.verdict), (["after"], case.verdict), (["after"], "regression")]


def test_an_answer_that_was_overtaken_is_not_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    comparison = recorded_comparison(store, notes=["before"])
    read, overtaking = store.comparison_without_cases, ["after"]

    def overtaken(identity: str) -> Comparison:
        # Between the look at what has changed and the answer.
        if overtaking:
            store.record_comparison(comparison.model_copy(update={"notes": [overtaking.pop()]}))
        return read(identity)

    monkeypatch.setattr(store, "comparison_without_cases", overtaken)
    with served_lab(store) as url:
        asked = f"{url}/api/v1/pages/comparison?id={ID}"
        assert request("GET", asked).json()["sheet"]["notes"] == ["after"]
        store.record_comparison(comparison)
        assert request("GET", asked).json()["sheet"]["notes"] == ["before"]


def test_an_answer_about_work_that_goes_on_is_kept_for_a_moment(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded_comparison(store)
    of_done = change_of(store, ID)
    store.end(ID, "running")
    monkeypatch.setattr(comparison_page, "OPEN_SECONDS", 1e9)
    assert change_of(store, ID) == change_of(store, ID)
    monkeypatch.setattr(comparison_page, "OPEN_SECONDS", 1e-9)
    assert change_of(store, ID) != change_of(store, ID)
    store.end(ID, "done")
    assert change_of(store, ID) == of_done


def test_a_job_that_is_planned_changes_what_is_known(store: Store) -> None:
    resolved = a_resolved("c-0")
    store.begin(resolved)
    before = store.reports.progress("c-0")
    # Its case counts as measured no more.
    store.record_job(a_job("c-0"))
    after = store.reports.progress("c-0")
    assert before is not None
    assert after is not None
    assert before.change != after.change


def test_an_answer_follows_its_request_whatever_is_asked_beside_it(store: Store) -> None:
    recorded_comparison(store, notes=["before"])
    with served_lab(store) as url:
        asked = f"{url}/api/v1/pages/comparison?id={ID}"
        before = request("GET", asked).json()
        store.end(ID, "interrupted")
        after = request("GET", asked).json()
        beside = request("GET", f"{asked}&as_of=anything").json()
    stated = [[sentence["text"] for sentence in answer["sheet"]["sentences"]] for answer in (before, after, beside)]
    assert stated == [[], [STATES["interrupted"]], [STATES["interrupted"]]]
