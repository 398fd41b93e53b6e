"""What is written elsewhere: how often, in all, and that the last state is always written in the end."""

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from zerolap.github import GitHubUnavailable
from zerolap.records import ZerolapError
from zerolap.store import Post, Store
from zerolap.triggers.outbox import Message, Outbox, write_budget

HOUR_SECONDS = 3600
GITHUB_WRITES_PER_HOUR = 500


@dataclass
class Time:
    """A clock that is set by hand."""

    seconds: float = 1e9

    def __call__(self) -> float:
        return self.seconds


@dataclass
class Desk:
    """An outbox of a real store; `written` are the digests of each subject, with the time of the writing."""

    outbox: Outbox
    time: Time
    written: dict[str, list[tuple[float, str]]] = field(default_factory=dict)

    def show(self, subject: str, digest: str, *, is_final: bool, writing: Callable[[], None] = lambda: None) -> bool:
        async def write(_post: Post) -> str:
            writing()
            self.written.setdefault(subject, []).append((self.time(), digest))
            return "1"

        return asyncio.run(self.outbox.write(Message(subject, "comment", "", digest, is_final), write))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    clock = Time()
    with Store.open(str(tmp_path / "store")) as store:
        yield Desk(Outbox(store.triggers, write_budget(clock), clock), clock)


def test_what_changes_all_the_time_is_written_more_and_more_rarely(desk: Desk) -> None:
    for number in range(2 * HOUR_SECONDS // 20):
        desk.show("a", f"progress {number}", is_final=False)
        desk.time.seconds += 20
    times = [when for when, _ in desk.written["a"]]
    pauses = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert pauses[0] == 60
    assert pauses == sorted(pauses)
    assert pauses[-1] == 600
    assert desk.show("a", "the end", is_final=True)
    assert desk.written["a"][-1][1] == "the end"


def test_a_state_is_written_once(desk: Desk) -> None:
    for _ in range(3):
        assert desk.show("a", "the end", is_final=True)
    assert len(desk.written["a"]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 2])
def test_what_is_asked_for_again_while_it_is_written_is_written_again(desk: Desk, times: int) -> None:
    def ask() -> None:
        desk.outbox.records.write_again("a", "comment", "")

    assert desk.show("a", "the beginning", is_final=True)
    for _ in range(times):
        assert not desk.show("a", "the end", is_final=True, writing=ask)
    assert desk.show("a", "the end", is_final=True)
    assert desk.show("a", "the end", is_final=True)
    assert [digest for _, digest in desk.written["a"]] == ["the beginning", *["the end"] * (times + 1)]
    assert desk.outbox.post("a", "comment", "").external_id == "1"


@pytest.mark.slow
def test_many_pull_requests_share_one_budget_and_all_reach_their_last_state(desk: Desk) -> None:
    subjects = [f"redis/redis#{number}" for number in range(90)]
    begin = desk.time()
    for number in range(HOUR_SECONDS // 90):
        for subject in subjects:
            desk.show(subject, f"progress {number}", is_final=False)
        desk.time.seconds += 90
    unfinished = set(subjects)
    while unfinished:
        unfinished -= {subject for subject in unfinished if desk.show(subject, "the end", is_final=True)}
        desk.time.seconds += 300
        assert desk.time() < begin + 10 * HOUR_SECONDS
    assert all(written[-1][1] == "the end" for written in desk.written.values())
    hours = Counter(int((when - begin) // HOUR_SECONDS) for written in desk.written.values() for when, _ in written)
    assert max(hours.values()) <= GITHUB_WRITES_PER_HOUR


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "first_seconds"), [(ZerolapError("refused"), 60), (GitHubUnavailable("limited", 700.0), 700)]
)
def test_what_fails_is_tried_more_and_more_rarely(desk: Desk, fault: ZerolapError, first_seconds: int) -> None:
    tries: list[float] = []

    def failing() -> None:
        tries.append(desk.time())
        raise fault

    for _ in range(HOUR_SECONDS * 8 // 20):
        assert not desk.show("a", "the end", is_final=True, writing=failing)
        desk.time.seconds += 20
    pauses = [later - earlier for earlier, later in itertools.pairwise(tries)]
    assert pauses[0] == first_seconds
    assert pauses == sorted(pauses)
    assert pauses[-1] == HOUR_SECONDS
    desk.time.seconds += HOUR_SECONDS
    assert desk.show("a", "the end", is_final=True)
