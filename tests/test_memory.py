"""Bytes of real servers: a build takes the same ones each time, and a key that takes more is a regression."""

from pathlib import Path
from typing import Any

import pytest
from command_line import Ended, Zerolap
from toy_server import CASES, ToySource

pytestmark = pytest.mark.usefixtures("valgrind")

COPY = "malloc(source.length + 1)"
BUCKETS = "#define BUCKETS 4096"
DISTANCE = (
    '\n__asm__(".bss\\nmore_begins: .zero {}\\nmore_ends: .zero 64\\n.text");'
    "\nextern char more_begins[], more_ends[];\n"
)
"""Two places whose distance only the assembler knows: code that takes their difference has two addresses in it."""


@pytest.fixture
def compare(zerolap: Zerolap, toy: ToySource, shared_store: Path) -> Any:
    """Runs a quick comparison over the toy's repository."""

    def run(base: str, head: str, *arguments: str) -> Ended:
        common: list[str | Path] = [
            "--repo",
            toy.path,
            "--cases",
            CASES,
            "--store",
            shared_store,
            "--quick",
            "--json",
            "-",
            "--seed",
            "1",
        ]
        ended = zerolap("compare", base, head, *common, *arguments)
        zerolap.leaves_nothing()
        return ended

    return run


def with_larger_copies(toy: ToySource, more: int) -> str:
    """Return a commit whose copies of keys and values are larger, by a difference of addresses, which are no code."""
    distance = BUCKETS + DISTANCE.replace("{}", str(more))
    return toy.changed(
        ("table.c", BUCKETS, distance), ("table.c", COPY, "malloc(source.length + (more_ends - more_begins))")
    )


def by_case(ended: Ended) -> dict[str, Any]:
    return {case["case"]: case for case in ended.document()["cases"]}


def memory_verdicts(case: Any) -> dict[str, Any]:
    names = ("memory_bytes_per_key", "used_memory_bytes")
    return {verdict["metric"]: verdict for verdict in case["verdicts"] if verdict["metric"] in names}


def test_a_key_that_takes_more_bytes_is_a_regression_though_the_work_is_the_same(compare: Any, toy: ToySource) -> None:
    ended = compare(
        with_larger_copies(toy, 1), with_larger_copies(toy, 33), "toy-get", "toy-work", "--fail-on", "memory"
    )
    assert ended.code == 1, ended.err
    cases = by_case(ended)
    grown = cases["toy-get"]
    assert grown["work"] in ("identical", "same")
    assert (grown["memory"], grown["verdict"]) == ("regression", "regression")
    assert grown["deciding"] == grown["memory_deciding"] == "memory_bytes_per_key"
    verdict = memory_verdicts(grown)["memory_bytes_per_key"]
    # A key and a value, each 32 bytes larger, in the C library's sizes, which are steps of 16.
    assert 32 <= verdict["head"] - verdict["base"] <= 80
    assert verdict["q"] < 0.01
    # It stores nothing.
    assert cases["toy-work"]["memory"] == "identical"
    assert ended.document()["summary"]["memory_regression"] == 1
    assert "more memory per key" in ended.document()["reading"]["headline"]


def test_the_same_build_takes_the_same_bytes(compare: Any, toy: ToySource) -> None:
    ended = compare(
        toy.first, toy.changed(("commands.c", "cmdstat_%s", "cmdstat_%s")), "toy-get", "toy-set", "--fail-on", "memory"
    )
    assert ended.code == 0, ended.err
    for case in by_case(ended).values():
        assert case["memory"] == "identical"
        assert memory_verdicts(case)["memory_bytes_per_key"]["change"] == 0


def test_the_site_that_allocates_more_is_named(compare: Any, toy: ToySource) -> None:
    ended = compare(toy.first, toy.changed(("table.c", COPY, "malloc(source.length + 33)")), "toy-get")
    assert ended.code == 0, ended.err
    grown = by_case(ended)["toy-get"]
    assert grown["memory"] == "regression"
    [site, *_] = [finding for finding in grown["findings"] if finding["kind"] == "allocation"]
    assert (site["function"], site["file"], site["in_diff"]) == ("copy_of", "table.c", True)
    assert site["bytes_per_key"]["head"] - site["bytes_per_key"]["base"] == pytest.approx(64, abs=1)
    assert "`copy_of` allocates" in site["text"]
    assert "(table.c:36)" in site["text"]
