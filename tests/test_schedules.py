"""What is due at a time of the day or week, once, and the order of versions."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from test_mirror import Remote

from zerolap.store import Store
from zerolap.triggers.schedules import Schedules, last_due
from zerolap.triggers.settings import ScheduleSettings, TriggerSettings, checked_settings
from zerolap.triggers.trigger import PushTrigger, TagTrigger, Trigger, read_trigger
from zerolap.triggers.versions import tag_before, version_of

SUNDAY = datetime(2026, 11, 22, tzinfo=UTC)


def schedule(**fields: Any) -> ScheduleSettings:
    given = {"at": "02:30", "repository": "redis/redis", "branch": "unstable"} | fields
    return ScheduleSettings.model_validate(given)


@pytest.mark.parametrize(
    ("weekday", "now", "due"),
    [
        (None, SUNDAY.replace(hour=3), SUNDAY.replace(hour=2, minute=30)),
        (None, SUNDAY.replace(hour=2, minute=30), SUNDAY.replace(hour=2, minute=30)),
        (None, SUNDAY.replace(hour=2, minute=29), SUNDAY.replace(hour=2, minute=30) - timedelta(days=1)),
        ("sunday", SUNDAY.replace(hour=3), SUNDAY.replace(hour=2, minute=30)),
        ("sunday", SUNDAY.replace(hour=2), SUNDAY.replace(hour=2, minute=30) - timedelta(days=7)),
        ("saturday", SUNDAY.replace(hour=2), SUNDAY.replace(hour=2, minute=30) - timedelta(days=1)),
        ("monday", SUNDAY.replace(hour=2), SUNDAY.replace(hour=2, minute=30) - timedelta(days=6)),
    ],
)
def test_the_last_time_is_not_in_the_future(weekday: str | None, now: datetime, due: datetime) -> None:
    assert last_due(schedule(weekday=weekday), now) == due


class Lab:
    """Schedules of a repository with a store."""

    def __init__(self, directory: Path, remote: Remote, *schedules: dict[str, Any]) -> None:
        self.directory, self.remote = directory, remote
        self.store = Store.open(str(directory / "store"))
        self.settings = settings_with(remote, *schedules)
        self.schedules = self.restarted()

    def restarted(self) -> Schedules:
        return Schedules(self.settings, self.store, self.directory / "mirrors", lambda: None)

    def triggers(self) -> list[Trigger]:
        return [read_trigger(stored.document) for stored in self.store.triggers.in_state("waiting")]


def settings_with(remote: Remote, *schedules: dict[str, Any]) -> TriggerSettings:
    repository = {"name": "redis/redis", "clone_url": str(remote.path)}
    return checked_settings(
        {"repository": [repository], "schedule": [{"repository": "redis/redis"} | one for one in schedules]}, Path()
    )


@pytest.fixture
def remote(compiler: None, tmp_path: Path) -> Remote:
    return Remote(tmp_path / "remote")


def test_a_branch_is_due_once_a_night_also_over_a_restart(tmp_path: Path, remote: Remote) -> None:
    lab = Lab(tmp_path, remote, {"at": "02:30", "branch": "main"})
    night = SUNDAY.replace(hour=2, minute=30)
    assert lab.schedules.look(night - timedelta(minutes=1) - timedelta(hours=10)) == 0
    assert lab.schedules.look(night) == 1
    assert lab.schedules.look(night + timedelta(minutes=1)) == 0
    assert lab.restarted().look(night + timedelta(minutes=2)) == 0
    [due] = lab.triggers()
    assert isinstance(due, PushTrigger)
    assert (due.branch, due.after, due.scope, due.schedule) == ("main", remote.first, "all", "nightly")
    assert due.subject == "redis/redis@main:nightly"
    second = remote.commit("second")
    assert lab.restarted().look(night + timedelta(days=1)) == 1
    assert [trigger.after for trigger in lab.triggers() if isinstance(trigger, PushTrigger)] == [remote.first, second]


def test_what_was_due_long_ago_is_left_out(tmp_path: Path, remote: Remote) -> None:
    lab = Lab(tmp_path, remote, {"at": "02:30", "branch": "main"})
    assert lab.schedules.look(SUNDAY.replace(hour=15)) == 0
    assert lab.schedules.look(SUNDAY.replace(hour=14)) == 1


def test_releases_are_compared_each_with_the_one_before_once(tmp_path: Path, remote: Remote) -> None:
    for tag in ("v1.9", "v1.10", "v2.0-rc1", "v2.0", "other"):
        remote.commit(tag)
        remote.git("tag", "--annotate", "--message", tag, tag)
    lab = Lab(tmp_path, remote, {"at": "02:30", "weekday": "sunday", "against": "v*"})
    assert lab.schedules.look(SUNDAY.replace(hour=3)) == 3
    tags = [trigger for trigger in lab.triggers() if isinstance(trigger, TagTrigger)]
    assert [(trigger.previous, trigger.tag) for trigger in tags] == [
        ("v1.9", "v1.10"),
        ("v1.10", "v2.0-rc1"),
        ("v2.0-rc1", "v2.0"),
    ]
    assert tags[-1].commit == remote.git("rev-parse", "v2.0^{commit}")
    # A week later only what is new.
    remote.commit("v2.1")
    remote.git("tag", "v2.1")
    assert lab.schedules.look(SUNDAY.replace(hour=3) + timedelta(days=7)) == 1


def test_two_schedules_of_a_branch_are_subjects_of_their_own(tmp_path: Path, remote: Remote) -> None:
    nightly, weekly = {"at": "02:30", "branch": "main"}, {"at": "02:30", "branch": "main", "weekday": "sunday"}
    lab = Lab(tmp_path, remote, nightly, weekly)
    assert lab.schedules.look(SUNDAY.replace(hour=3)) == 2
    subjects = ["redis/redis@main:each sunday", "redis/redis@main:nightly"]
    assert sorted(trigger.subject for trigger in lab.triggers()) == subjects


def test_a_remote_that_is_away_is_asked_again(tmp_path: Path, remote: Remote) -> None:
    lab = Lab(tmp_path, remote, {"at": "02:30", "branch": "main"})
    away = remote.path.rename(tmp_path / "away")
    assert lab.schedules.look(SUNDAY.replace(hour=3)) == 0
    away.rename(remote.path)
    assert lab.schedules.look(SUNDAY.replace(hour=3)) == 1


def test_a_schedule_whose_remote_is_away_does_not_hold_back_the_others(tmp_path: Path, remote: Remote) -> None:
    lab = Lab(tmp_path, remote, {"at": "02:30", "branch": "main"})
    elsewhere = {"name": "valkey-io/valkey", "clone_url": str(tmp_path / "nowhere")}
    lab.settings = checked_settings(
        {
            "repository": [elsewhere, {"name": "redis/redis", "clone_url": str(remote.path)}],
            "schedule": [
                {"at": "02:30", "repository": "valkey-io/valkey", "branch": "main"},
                {"at": "02:30", "repository": "redis/redis", "branch": "main"},
            ],
        },
        Path(),
    )
    assert lab.restarted().look(SUNDAY.replace(hour=3)) == 1
    assert [trigger.repository for trigger in lab.triggers()] == ["redis/redis"]


def test_a_branch_that_is_not_there_leads_to_nothing(tmp_path: Path, remote: Remote) -> None:
    lab = Lab(tmp_path, remote, {"at": "02:30", "branch": "mian"})
    assert lab.schedules.look(SUNDAY.replace(hour=3)) == 0


@pytest.mark.parametrize(
    "ordered",
    [
        ["1.9", "1.10", "2.0-rc1", "2.0-rc2", "2.0-rc10", "2.0", "2.0.1", "10.0"],
        ["v7.4-rc1", "v7.4", "v7.4.0", "v8.0.0-m01", "v8.0.0"],
        ["7.0.0", "7.0.15", "7.2-rc1", "7.2.0"],
        ["release-1.2", "release-1.3-beta", "release-1.3"],
    ],
)
def test_versions_have_an_order(ordered: Sequence[str]) -> None:
    mixed = random.Random(1).sample(ordered, len(ordered))
    assert sorted(mixed, key=version_of) == list(ordered)


@pytest.mark.parametrize(
    ("tag", "globs", "before"),
    [
        ("7.4.0", ["7.*"], "7.4-rc1"),
        ("7.4.0", ["7.*.*"], "7.2.5"),
        ("7.2.5", ["7.*"], None),
        ("7.4.0", [], "7.4-rc1"),
        ("7.4.0", ["8.*"], None),
    ],
)
def test_the_tag_before_is_the_newest_of_those_that_are_measured(
    tag: str, globs: list[str], before: str | None
) -> None:
    assert tag_before(tag, ["8.0.0", "7.4.0", "7.4-rc1", "7.2.5", "nightly"], globs) == before
