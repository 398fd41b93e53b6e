"""What the comment on a pull request weighs, what acts in it, and what the lab adds to builds and trials before it."""

import itertools
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from hostile_texts import HOSTILE_TEXTS, HostileText
from markdown_page import READERS, Page
from test_comment import (
    LAB,
    LONG_NAMES,
    MARKER,
    OURS,
    a_platform,
    comment_markdown,
    hostile_comparison,
    hostile_state,
    large_comparison,
    large_state,
)
from toy_server import CHECKSUM_ONCE, CHECKSUM_TWICE, ToySource
from zero_touch import Scene, zero_touch

from benches.figures import Figure
from zerolap.report.pull_request.check_run import check_output
from zerolap.report.pull_request.notices import closing_text, issue_body, issue_title
from zerolap.sheets import BranchRegression, PullRequestState
from zerolap.store import Attempt, Store

KIB: Final = 1024
PLATFORMS: Final = 6
CHANGED: Final = (0, 3, 500)
LABELS: Final = 6
POLL_SECONDS: Final = 0.005
PATIENCE_SECONDS: Final = 600
"""It only bounds a hang."""


def markup_figure() -> Figure:
    """Return how many hostile texts act in what is written to GitHub, by two readers of Markdown."""
    acting = [
        f"{hostile.origin}: {hostile.would}: {act}" for hostile in HOSTILE_TEXTS for act in sorted(set(_acts(hostile)))
    ]
    texts = {act.rpartition(": ")[0] for act in acting}
    notes = [f"read by {' and '.join(READERS)}", *acting[:10]]
    return Figure(len(texts), f"of {len(HOSTILE_TEXTS)}", acting, len(HOSTILE_TEXTS) * len(READERS), notes=notes)


def size_figure() -> Figure:
    """Return the size of the largest comment on 500 cases."""
    sizes = [
        (f"{name}, {changed} changed, {platforms} platforms", _kib(large_state(pattern, comparison, platforms)))
        for name, pattern in LONG_NAMES.items()
        for changed in CHANGED
        for comparison in [large_comparison(pattern, changed)]
        for platforms in range(1, PLATFORMS + 1)
    ]
    largest, size = max(sizes, key=lambda named: named[1])
    return Figure(size, "KiB", sizes, len(sizes), notes=[f"of 500 cases on 1 to {PLATFORMS} platforms; {largest}"])


def overhead_figure() -> Figure:
    """Return what the lab adds between a label and the final comment; real builds and trials of the toy server."""
    with tempfile.TemporaryDirectory(prefix="zerolap-bench-", dir="/tmp") as name:
        directory = Path(name)
        source = ToySource(directory / "source")
        with zero_touch(directory, source) as scene:
            # What the lab writes beside its trials is on the disk of the store.
            os.sync()
            scene.start()
            samples = [_overhead_seconds(scene, number) for number in range(LABELS)]
    ordered = sorted(overhead for overhead, _ in samples)
    waited = [round(whole, 3) for _, whole in samples]
    return Figure(
        ordered[len(ordered) // 2],
        "s",
        [round(overhead, 3) for overhead, _ in samples],
        len(samples),
        {"label to comment": waited},
        [f"median; at most {ordered[-1]:.3g} s; of {min(waited):.3g} to {max(waited):.3g} s from label to comment"],
    )


def _overhead_seconds(scene: Scene, number: int) -> tuple[float, float]:
    """Return the time from a label to the final comment: without builds and trials, and with them."""
    twice = f"{CHECKSUM_TWICE} /* {number} */"
    head = scene.source.changed(("commands.c", CHECKSUM_ONCE, twice))
    if number == 0:
        scene.open_pull_request(head)
    began = time.time()
    scene.label(head)
    while not any(head[:12] in body and "more work" in body for body in scene.comments()):
        scene.check()
        if time.time() - began > PATIENCE_SECONDS:
            raise SystemExit(f"no comment came: {scene.log}")
        time.sleep(POLL_SECONDS)
    ended = time.time()
    with Store.open_to_read(str(scene.zerolap.store)) as store:
        attempts = [attempt for attempt in _attempts(store) if attempt.created > began]
    return ended - began - _busy_seconds(attempts), ended - began


def _attempts(store: Store) -> Iterator[Attempt]:
    for work in store.fleet.newest_requests():
        yield from store.fleet.attempts(work.id)


def _busy_seconds(attempts: Sequence[Attempt]) -> float:
    """Return the time in which any of the attempts was carried out."""
    times = sorted((attempt.claimed, attempt.ended) for attempt in attempts if attempt.claimed and attempt.ended)
    busy, until = 0.0, 0.0
    for begin, end in times:
        busy += max(0.0, end - max(begin, until))
        until = max(until, end)
    return busy


def _kib(state: PullRequestState) -> float:
    return len(comment_markdown(state).encode()) / KIB


def _acts(hostile: HostileText) -> Iterator[str]:
    """Yield what acts in texts that have a hostile one wherever a stranger can put one."""
    state = hostile_state(hostile.text)
    platform = a_platform(hostile.text, hostile_comparison(hostile.text), report_url=f"{LAB}/1")
    regression = BranchRegression(state.commits, hostile.text, hostile.text, (platform,))
    comment = comment_markdown(state)
    texts = {
        "comment": comment,
        "check": check_output(state, "never").summary,
        "issue": issue_body(regression),
        "title": issue_title(regression),
        "closing": closing_text(state.commits, hostile.text),
    }
    for (place, text), (reader, read) in itertools.product(texts.items(), READERS.items()):
        for act in _acts_on(read(text), text):
            yield f"{act} in the {place}, by {reader}"
    if comment.count(MARKER) != 1 and hostile.text != MARKER:
        yield "a marker in the comment"


def _acts_on(page: Page, text: str) -> Iterator[str]:
    yield from page.acts
    yield from (f"an element {tag}" for tag in page.tags if tag not in OURS)
    ours = ("https://lab.example.org/", "https://github.com/")
    yield from (f"a link to {target}" for target in page.links if not target.startswith(ours))
    if any(line.lstrip().startswith("/") for line in text.splitlines()):
        yield "a command"
