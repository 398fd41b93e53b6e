"""The dashboard for Grafana: it reads only what the lab has. No Grafana draws it here."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from api_client import request
from http_server import served_lab
from prometheus_client.parser import text_string_to_metric_families

from zerolap.api.metrics import EventCounts, LabCollector, metrics_text
from zerolap.api.refusals import Refusals
from zerolap.fleet import Conductor, ServedPlatform
from zerolap.fleet.in_process import InProcess
from zerolap.queries import QUERIES
from zerolap.store import Store

DASHBOARD = Path(__file__).parents[1] / "deploy" / "grafana" / "zerolap.dashboard.json"
METRIC = re.compile(r"\bzerolap_[a-z_]+")
LABELS = re.compile(r"by \(([^)]*)\) \((?:increase\(|rate\()?(zerolap_[a-z_]+)")


def targets(source: str) -> Iterator[dict[str, Any]]:
    dashboard = json.loads(DASHBOARD.read_text())
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            if target["datasource"]["uid"] == source:
                yield target


def collector(store: Store) -> LabCollector:
    conductor = Conductor(store, InProcess(), [ServedPlatform("local", builder="local")])
    return LabCollector(conductor, EventCounts(), Refusals(), None, None, None, regressions={})


def exported(store: Store) -> dict[str, set[str]]:
    """Return the names that Prometheus reads, with their labels."""
    names = {}
    for family in collector(store).collect():
        name = f"{family.name}_total" if family.type == "counter" else family.name
        names[name] = set(getattr(family, "_labelnames", ()))
    return names


def test_every_metric_of_the_dashboard_is_exported_with_its_labels(store: Store) -> None:
    known = exported(store)
    assert {f.name for f in text_string_to_metric_families(metrics_text(collector(store)).decode())} <= {
        name.removesuffix("_total") for name in known
    }
    queries = [target["expr"] for target in targets("${prometheus}")]
    assert len(queries) > 10
    for query in queries:
        assert set(METRIC.findall(query)) <= set(known), query
        for labels, name in LABELS.findall(query):
            assert set(labels.split(", ")) <= known[name], query


def test_every_metric_of_the_lab_is_on_the_dashboard(store: Store) -> None:
    shown = {name for target in targets("${prometheus}") for name in METRIC.findall(target["expr"])}
    assert set(exported(store)) <= shown


def test_tables_read_fields_that_the_pages_queries_answer_with(store: Store) -> None:
    known = {query.name: query for query in QUERIES}
    read = list(targets("${infinity}"))
    assert read
    for target in read:
        path = target["url"].partition("?")[0].removeprefix("/api/v1/pages/")
        query = known[path.removesuffix(".csv")]
        selectors = [column["selector"] for column in target["columns"]]
        if path.endswith(".csv"):
            with served_lab(store) as url:
                head = request("GET", f"{url}/api/v1/pages/{path}").text.splitlines()[0]
            assert set(selectors) <= set(head.split(","))
            continue
        schema = query.result.model_json_schema()
        rows = schema["properties"][target["root_selector"]]["items"]["$ref"].rpartition("/")[2]
        for selector in selectors:
            assert selector.partition(".")[0] in schema["$defs"][rows]["properties"], selector


def test_panels_have_places_of_their_own() -> None:
    panels = json.loads(DASHBOARD.read_text())["panels"]
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24
        taken |= cells
    assert len({panel["id"] for panel in panels}) == len(panels)
