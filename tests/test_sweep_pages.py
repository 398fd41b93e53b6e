"""Sweeps of snapshots over HTTP: their documents, the list, the table of repetitions, and what there is not."""

import csv
import io
import json
from datetime import UTC, datetime

from api_client import request
from http_server import served_lab
from made_snapshots import emulated_report, record_sweep, report, report_of_sides
from report_page import embedded
from stored_comparison import ONLY_WITH_A_TOKEN, reading_token

from zerolap.records import SweepReport
from zerolap.report import document_json, sheet_html, sheet_markdown
from zerolap.sheets import sweep_sheet, with_sweep_reading
from zerolap.store import Store

ID = "w-0123456789abcdef01234567"
SIDES_ID = "w-1123456789abcdef01234567"
PAGES = "/api/v1/pages"


def recorded(store: Store, identity: str = ID, document: SweepReport | None = None) -> SweepReport:
    made = (document or report()).model_copy(update={"id": identity})
    record_sweep(made, datetime.now(UTC), store)
    return made


def test_a_sweep_is_to_be_had_in_each_form(store: Store) -> None:
    document = recorded(store)
    with served_lab(store) as url:
        as_json, markdown, page, drawn = (
            request("GET", f"{url}/snapshots/{ID}{ending}") for ending in (".json", ".md", ".html", "")
        )
    assert as_json.text == document_json(with_sweep_reading(document))
    assert "immutable" in as_json.headers["cache-control"]
    assert markdown.text == sheet_markdown(sweep_sheet(document))
    assert json.loads(embedded(page.text, "document"))["id"] == ID
    assert (drawn.status_code, drawn.headers["content-type"].partition(";")[0]) == (200, "text/html")


def test_what_there_is_not_is_not_found(store: Store) -> None:
    recorded(store)
    with served_lab(store) as url:
        for path in (f"/snapshots/{ID[:-1]}", "/snapshots/w-1.json", "/snapshots/c-1.md", f"{PAGES}/snapshot?id=w-1"):
            assert request("GET", f"{url}{path}").status_code == 404, path
        assert request("GET", f"{url}/runs/{ID}").status_code == 404
        assert request("GET", f"{url}{PAGES}/snapshot?id=c-1").status_code == 422


def test_the_list_has_the_newest_first_page_by_page(store: Store) -> None:
    recorded(store)
    recorded(store, SIDES_ID, report_of_sides(("hz=1", "hz=2")))
    with served_lab(store) as url:
        both = request("GET", f"{url}{PAGES}/snapshots").json()
        first = request("GET", f"{url}{PAGES}/snapshots?limit=1").json()
        second = request("GET", f"{url}{PAGES}/snapshots?limit=1&before={first['next_before']}").json()
        overview = request("GET", f"{url}{PAGES}/overview").json()
        table = request("GET", f"{url}{PAGES}/snapshots.csv").text
    assert [one["id"] for one in both["sweeps"]] == [SIDES_ID, ID]
    assert both["sweeps"][0]["sides"] == ["hz=1", "hz=2"]
    assert both["sweeps"][1]["headline"] == "BGSAVE: fork of 25 ms at 1 GiB to 100 ms at 4 GiB"
    assert "\x1b" not in json.dumps(both)
    assert both["next_before"] is None
    assert [one["id"] for one in first["sweeps"] + second["sweeps"]] == [SIDES_ID, ID]
    assert second["next_before"] is None
    assert (overview["is_empty"], overview["sweeps"]) == (False, both["sweeps"])
    assert [row["id"] for row in csv.DictReader(io.StringIO(table))] == [SIDES_ID, ID]


def test_a_page_draws_one_series_a_point_and_the_table_has_all_repetitions(store: Store) -> None:
    seed = 2**63 - 1
    document = report_of_sides()
    recorded(
        store, document=document.model_copy(update={"settings": document.settings.model_copy(update={"seed": seed})})
    )
    with served_lab(store) as url:
        answer = request("GET", f"{url}{PAGES}/snapshot?id={ID}").json()
        table = request("GET", f"{url}{PAGES}/snapshot.csv?id={ID}").text
    assert answer["seed"] == str(seed)
    for point in answer["report"]["points"]:
        assert [bool(repetition["series"]) for repetition in point["repetitions"]] == [True] + [False] * 4
    assert answer["report"]["reading"]["headline"] == "BGSAVE: 4 improvements, 4 same"
    rows = list(csv.DictReader(io.StringIO(table)))
    assert len(rows) == sum(len(point.repetitions) for point in document.points)
    assert {row["side"] for row in rows} == {"base", "head"}
    assert float(rows[0]["fork_us"]) == document.points[0].repetitions[0].metrics["fork_us"]


def test_counted_forks_are_to_be_had_in_each_form(store: Store) -> None:
    document = recorded(store, document=emulated_report())
    with served_lab(store) as url:
        as_json, markdown, page, drawn = (
            request("GET", f"{url}/snapshots/{ID}{ending}") for ending in (".json", ".md", ".html", "")
        )
    assert as_json.text == document_json(with_sweep_reading(document))
    assert markdown.text == sheet_markdown(sweep_sheet(document))
    assert page.text == sheet_html(with_sweep_reading(document), sweep_sheet(document))
    assert page.headers["content-security-policy"].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in page.headers["content-security-policy"]
    assert drawn.status_code == 200


def test_the_list_tells_both_kinds_apart(store: Store) -> None:
    recorded(store)
    recorded(store, SIDES_ID, emulated_report())
    with served_lab(store) as url:
        counted, measured = request("GET", f"{url}{PAGES}/snapshots").json()["sweeps"]
        table = request("GET", f"{url}{PAGES}/snapshots.csv").text
        overview = request("GET", f"{url}{PAGES}/overview").json()
    assert counted["kernel"] == "Linux 6.1.192 with async-fork.patch"
    assert counted["servers"] == "redis-server 7.0.15"
    assert counted["sides"] == ["fork=copy", "fork=async"]
    assert measured["kernel"] == ""
    assert [row["kernel"] for row in csv.DictReader(io.StringIO(table))] == [counted["kernel"], ""]
    assert overview["sweeps"] == [counted, measured]


def test_counted_forks_have_pictures_and_a_row_for_each_run(store: Store) -> None:
    document = emulated_report()
    runs = [document.points[0].runs[0] | {"requests": number} for number in (7, 8)]
    first = document.points[0].model_copy(update={"runs": [*runs, {"filled_keys": 9}]})
    recorded(store, document=document.model_copy(update={"points": [first, *document.points[1:]]}))
    with served_lab(store) as url:
        answer = request("GET", f"{url}{PAGES}/snapshot?id={ID}").json()
        table = request("GET", f"{url}{PAGES}/snapshot.csv?id={ID}").text
    assert answer["report"]["schema"] == "zerolap.emulated-snapshot/1"
    [counts] = answer["sheet"]["tables"]
    assert [column["heading"] for column in counts["columns"]][:3] == ["data", "side", "fork"]
    assert [cell["text"] for cell in counts["rows"][2]][:3] == ["1 GiB", "fork=copy", "25"]
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [(row["size_bytes"], row["side"], row["run"]) for row in rows[:4]] == [
        (str(first.size_bytes), "fork=copy", "1"),
        (str(first.size_bytes), "fork=copy", "2"),
        (str(first.size_bytes), "fork=copy", "3"),
        (str(first.size_bytes), "fork=async", "1"),
    ]
    assert [row["requests"] for row in rows[:3]] == ["7", "8", ""]
    assert rows[2]["filled_keys"] == "9"


def test_sweeps_take_a_token_unless_reports_are_public(store: Store) -> None:
    recorded(store)
    headers = {"Authorization": f"Bearer {reading_token(store)}"}
    with served_lab(store, ONLY_WITH_A_TOKEN) as url:
        for path in (f"/snapshots/{ID}.json", f"{PAGES}/snapshots", f"{PAGES}/snapshot?id={ID}"):
            assert request("GET", f"{url}{path}").status_code == 401, path
            assert request("GET", f"{url}{path}", headers=headers).status_code == 200, path
