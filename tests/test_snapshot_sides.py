"""Servers and settings that a sweep of snapshots measures beside each other: which, their pages, their verdicts."""

import io
import json
import random

import pytest
from made_snapshots import report, report_of_sides
from report_page import embedded
from rich.console import Console

from zerolap.engines import oversubscribed, require_huge_pages_possible
from zerolap.engines.huge_pages import HUGE_PAGE_VARIABLES, huge_page_settings, require_huge_pages
from zerolap.errors import EnvironmentMissing, TrialFailed, UsageError
from zerolap.fail_on import FailOn
from zerolap.host import Processor, Processors
from zerolap.judge import SnapshotPairs, judge_snapshots
from zerolap.lab import Factor, sides_of
from zerolap.records import STANDALONE, BinarySource, RequestedServer, ServerSpec, SnapshotReport
from zerolap.report import document_json, sheet_html, sheet_markdown, show_sheet
from zerolap.server import AnonymousMemory
from zerolap.sheets import snapshot_gate_sentence, sweep_sheet, with_sweep_reading

GIB = 1 << 30
METRICS = ("fork_us", "longest_pause_us", "during_p99_9_us", "event_seconds", "cow_bytes")


def server(name: str = "redis-server", **config: str) -> RequestedServer:
    return RequestedServer(source=BinarySource(name=name, path=f"/usr/bin/{name}"), config=config)


def test_one_server_is_one_side_without_a_name() -> None:
    [side] = sides_of(server(), None, [])
    assert (side.name, side.server, side.huge_pages) == ("", server(), None)


def test_of_two_servers_the_second_one_given_is_the_base() -> None:
    sides = sides_of(server("new"), server("old"), [])
    assert [(side.name, side.server.source.name) for side in sides] == [("base", "old"), ("head", "new")]


def test_each_combination_of_values_is_a_side_the_first_ones_the_base() -> None:
    factors = [Factor("io-threads", ["1", "4", "1"]), Factor("transparent-huge-pages", ["never", "always"])]
    sides = sides_of(server(hz="10"), None, factors)
    assert [side.name for side in sides] == [
        "io-threads=1, transparent-huge-pages=never",
        "io-threads=1, transparent-huge-pages=always",
        "io-threads=4, transparent-huge-pages=never",
        "io-threads=4, transparent-huge-pages=always",
    ]
    assert sides[3].server.config == {"hz": "10", "io-threads": "4"}
    assert sides[3].huge_pages == "always"


def test_a_variant_adds_its_words() -> None:
    given = server().model_copy(update={"variant": "-O2"})
    sides = sides_of(given, None, [Factor("variant", ["jemalloc", "libc"])])
    assert [side.server.variant for side in sides] == ["-O2,jemalloc", "-O2,libc"]


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ([Factor("hz", ["1"]), Factor("hz", ["2"])], "`hz` is varied twice"),
        ([Factor("transparent-huge-pages", ["madvise"])], "`--vary transparent-huge-pages=madvise` is not valid"),
        ([Factor("variant", ["tcmalloc"])], "`tcmalloc` is not a word of a variant"),
        ([Factor("hz", [str(number) for number in range(17)])], "17 combinations are too many"),
    ],
)
def test_factors_that_mean_nothing_are_refused(factors: list[Factor], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        sides_of(server(), None, factors)


def test_a_second_server_and_what_is_varied_exclude_each_other() -> None:
    with pytest.raises(UsageError, match="`--base` and `--vary`"):
        sides_of(server(), server(), [Factor("hz", ["1", "2"])])


def test_a_side_with_more_busy_threads_than_processors_is_oversubscribed() -> None:
    machine = Processors(tuple(Processor(number, core=number, cache=0) for number in range(3)))
    few, many = (ServerSpec(build="b-1", topology=STANDALONE, config={"io-threads": count}) for count in ("2", "3"))
    assert oversubscribed(few, machine) == ""
    assert oversubscribed(many, machine) == "oversubscribed: 3 busy threads and the load generator share 3 processors"


def test_huge_pages_are_asked_for_by_the_process_alone() -> None:
    assert huge_page_settings("always", "always") == {"disable-thp": "no"}
    assert huge_page_settings("always", "madvise") == huge_page_settings("never", "always") == {}
    assert huge_page_settings(None, "always") == {}
    assert set(HUGE_PAGE_VARIABLES) == {"always", "never"}
    require_huge_pages_possible("never", "")
    require_huge_pages_possible("always", "madvise")
    with pytest.raises(EnvironmentMissing, match="no server can have transparent huge pages"):
        require_huge_pages_possible("always", "never")


def test_a_server_without_the_wanted_pages_is_no_measurement() -> None:
    require_huge_pages("always", AnonymousMemory(10 * GIB, 6 * GIB))
    require_huge_pages("never", AnonymousMemory(GIB, 0))
    with pytest.raises(TrialFailed, match="1 GiB of its 10 GiB lie in huge pages"):
        require_huge_pages("always", AnonymousMemory(10 * GIB, GIB))
    with pytest.raises(TrialFailed, match="does not do as transparent-huge-pages=never asks"):
        require_huge_pages("never", AnonymousMemory(2 * GIB, GIB))
    with pytest.raises(TrialFailed, match="does not show"):
        require_huge_pages("always", None)


def places(factors: list[float], spread: float, pairs: int = 5) -> list[SnapshotPairs]:
    """Return places at which the head takes so many times what the base does."""
    drawn = random.Random(5)
    made = []
    for factor in factors:
        base = [{name: 1000 * drawn.lognormvariate(0, spread) for name in METRICS} for _ in range(pairs)]
        head = [
            {name: value * factor * drawn.lognormvariate(0, spread) for name, value in metrics.items()}
            for metrics in base
        ]
        made.append(SnapshotPairs("open", base, head))
    return made


def test_changes_are_judged_by_pairs_of_starts() -> None:
    equal, slower, faster = judge_snapshots(places([1.0, 1.5, 0.6], 0.02), 0.1)
    assert {verdict.verdict for verdict in equal} == {"same"}
    assert {verdict.verdict for verdict in slower} == {"regression"}
    assert {verdict.verdict for verdict in faster} == {"improvement"}
    assert [verdict.metric for verdict in slower] == list(METRICS)
    for verdict in slower:
        assert verdict.low < 0.5 < verdict.high
        assert verdict.low <= verdict.change <= verdict.high
        assert verdict.head / verdict.base == pytest.approx(1 + verdict.change)
        assert (verdict.samples, verdict.pairs) == (5, 5)
        assert verdict.q is not None
        assert verdict.q < 0.01


def test_a_change_below_the_minimum_effect_is_none() -> None:
    [judged] = judge_snapshots(places([1.05], 0.001), 0.1)
    assert {verdict.verdict for verdict in judged} == {"same"}


def test_few_pairs_that_scatter_are_unsure() -> None:
    [judged] = judge_snapshots(places([1.2], 0.5, pairs=3), 0.1)
    assert {verdict.verdict for verdict in judged} == {"unsure"}


def test_what_a_side_did_not_report_throughout_has_no_verdict() -> None:
    base = [{"fork_us": 100.0, "cow_bytes": 0.0, "event_seconds": 1.0}, {"fork_us": 101.0, "cow_bytes": 5.0}]
    head = [{"fork_us": 100.0, "cow_bytes": 5.0, "event_seconds": 1.0}, {"fork_us": 100.0, "cow_bytes": 5.0}]
    [judged] = judge_snapshots([SnapshotPairs("open", base, head)], 0.1)
    assert [verdict.metric for verdict in judged] == ["fork_us"]
    assert judge_snapshots([SnapshotPairs("open", base[:1], head[:1])], 0.1) == [[]]


def shown(document: SnapshotReport) -> str:
    output = io.StringIO()
    show_sheet(sweep_sheet(document), Console(file=output, width=160))
    return output.getvalue()


def test_a_terminal_shows_verdicts_and_the_points_of_each_side() -> None:
    text = shown(report_of_sides())
    assert text.startswith("BGSAVE: 4 improvements, 4 same\n")
    assert "\nbase evil" in text
    assert "7.0.15, head evil" in text
    assert "\x1b" not in text
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "base → head" in lines
    assert any(line.startswith("1 GiB open fork, ms 25.2 → 12.6 -50.0 %") for line in lines)
    assert any(line.startswith("base 1 GiB open 1.08") for line in lines)
    assert any(line.startswith("head 4 GiB open 4.32") for line in lines)
    assert "copied" not in text.split("data")[1], "a metric that was 0 has no verdict"


def test_what_was_varied_names_rows_and_verdicts() -> None:
    text = shown(report_of_sides(("io-threads=1", "io-threads=2", "io-threads=4")))
    assert "io-threads=1 → io-threads=4" in text
    assert "io-threads=2 → io-threads=4" not in text


def test_markdown_has_the_verdicts() -> None:
    text = sheet_markdown(sweep_sheet(report_of_sides(("io-threads=1", "io-threads=`4`"))))
    assert "| data | load | metric | values | change | interval | verdict |" in text
    assert "| server | data | load | resident, GiB |" in text
    assert "**`io-threads=1` → `` io-threads=`4` ``**" in text


def test_the_document_of_sides_is_read_back_also_from_the_page() -> None:
    document = report_of_sides()
    text = document_json(with_sweep_reading(document))
    read = SnapshotReport.model_validate_json(text)
    assert read.model_copy(update={"reading": None}) == document
    assert json.loads(
        embedded(sheet_html(with_sweep_reading(document), sweep_sheet(document)), "document")
    ) == json.loads(text)


@pytest.mark.parametrize(
    ("factor", "when", "expected"),
    [
        (0.5, "never", None),
        (0.5, "regression", None),
        (0.5, "unsure", None),
        (
            2.0,
            "regression",
            "--fail-on regression applies: regression of fork at 1 GiB, open loop, longest pause at 1 GiB, open loop, "
            "fork at 4 GiB, open loop, longest pause at 4 GiB, open loop",
        ),
    ],
)
def test_the_gate_looks_at_verdicts(factor: float, when: FailOn, expected: str | None) -> None:
    assert snapshot_gate_sentence(report_of_sides(factor=factor), when) == expected


def test_the_gate_applies_where_nothing_was_judged() -> None:
    sentence = snapshot_gate_sentence(report(), "regression")
    assert sentence == "--fail-on regression applies: there are no verdicts, so a regression cannot be ruled out"
