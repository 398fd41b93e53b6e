"""How the outcome of a bisection reads: on a terminal, as Markdown and as JSON."""

import io
from collections.abc import Callable, Sequence

import pytest
from markdown_page import READERS, Page
from rich.console import Console

from zerolap.records import BisectCulprit, BisectMeasurement, BisectOutcome, BisectReport, Platform, RangeCommit
from zerolap.report import document_json, sheet_markdown, show_sheet
from zerolap.sheets import bisect_sheet

COMMITS = [f"{number:x}" * 40 for number in range(10, 15)]


def report(outcome: BisectOutcome, culprits: Sequence[BisectCulprit] = (), subject: str = "change") -> BisectReport:
    commits = [
        RangeCommit(
            commit=commit,
            time="2026-11-24T10:00:00Z",
            subject=f"{subject} {number}",
            failure="`x` does not build" if number == 2 else None,
        )
        for number, commit in enumerate(COMMITS)
    ]
    return BisectReport(
        schema="zerolap.bisect/1",
        created="2026-11-24T10:00:00Z",
        command_line="zerolap bisect A B toy-get",
        repository="/source",
        case="toy-get",
        topology="standalone",
        variant="default",
        config={},
        platform=Platform(name="host", fingerprint="f", cpu="cpu", cores=2, kernel="6.1"),
        outcome=outcome,
        engine="timed",
        metric="cpu_ns_per_op",
        change=0.05,
        low=0.04,
        high=0.06,
        commits=tuple(commits),
        culprits=tuple(culprits),
        measured=(BisectMeasurement(position=4, starts=6, change=0.05, low=0.04, high=0.06),),
        machine_seconds=12.0,
    )


def culprit(*positions: int, probability: float = 0.97, confirmed: bool | None = True) -> BisectCulprit:
    return BisectCulprit(
        positions=positions,
        probability=probability,
        change=0.05,
        low=0.04,
        high=0.06,
        is_certain=confirmed is not None,
        comparison=None if confirmed is None else "c-1",
        confirmed=confirmed,
    )


def shown(document: BisectReport) -> str:
    text = io.StringIO()
    show_sheet(bisect_sheet(document), Console(file=text, width=200))
    return text.getvalue()


def written(document: BisectReport) -> str:
    return sheet_markdown(bisect_sheet(document))


@pytest.mark.parametrize("write", [shown, written])
def test_a_culprit_is_named_with_size_and_certainty(write: Callable[[BisectReport], str]) -> None:
    text = write(report("found", [culprit(1)]))
    for part in (
        COMMITS[1][:12],
        "change 1",
        "+5.0 %",
        "probability 97 %",
        "a comparison with its parent shows it too",
    ):
        assert part in text
    assert "does not build" in text


def test_a_culprit_that_its_comparison_does_not_show_is_marked() -> None:
    assert "its comparison does not show it (c-1)" in shown(report("found", [culprit(1, confirmed=False)]))


def test_no_probability_is_rounded_to_certainty() -> None:
    assert "probability over 99 %" in shown(report("found", [culprit(1, probability=0.99999)]))


def test_candidates_are_listed_with_why_they_were_not_measured() -> None:
    text = shown(report("found", [culprit(2, 3)]))
    assert "one of 2 commits" in text
    assert f"{COMMITS[2][:12]} change 2: `x` does not build" in text
    assert f"{COMMITS[3][:12]} change 3\n" in text


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("identical", "executes the same instructions on both ends"),
        ("no difference", "no difference found in toy-get between"),
        ("undecided", "the culprit is not certain yet"),
    ],
)
def test_each_outcome_has_its_sentence(outcome: BisectOutcome, words: str) -> None:
    assert words in shown(report(outcome)).splitlines()[0]
    assert words in written(report(outcome))


def test_the_document_is_read_back_as_it_was() -> None:
    document = report("found", [culprit(1)])
    assert BisectReport.model_validate_json(document_json(document)) == document


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_subjects_of_commits_steer_neither_terminal_nor_page(read: Callable[[str], Page]) -> None:
    hostile = report("found", [culprit(1)], subject="\x1b[31m</details><script>")
    assert "\x1b" not in shown(hostile)
    page = read(written(hostile))
    assert page.acts == []
    assert "script" not in page.tags
