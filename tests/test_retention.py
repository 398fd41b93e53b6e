"""What is kept of results, and what is removed with its files, in both databases."""

import os
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from command_line import Zerolap
from published_history import ARM, MadeUp, keep
from sqlalchemy import update
from test_store import a_full_measurement, a_job, a_resolved, a_trial_done
from toy_server import ToySource

from zerolap.api.upkeep import look_after, usage
from zerolap.records import CountedWork, Measurement, Validity
from zerolap.store import Retention, Store, StoredTrigger
from zerolap.store.retention import TRIAL_BLOBS, outlived_histories, remove_history
from zerolap.store.tables import request
from zerolap.triggers.mirror import KEPT_COMMITS, Mirror

DAY = 86_400.0
LONG_AGO = time.time() - 400 * DAY


def result(
    store: Store, identity: str, *, days: float = 0.0, topic: str = "", state: str = "done", size: int = 0
) -> str:
    """Record a request of some days ago, and return the digest of a file of it."""
    store.begin(a_resolved(identity, topic=topic))
    job = a_job(identity)
    store.record_job(job)
    digest = store.blobs.put(os.urandom(size) if size else identity.encode())
    store.record(
        job, a_trial_done(job, 0, head=a_full_measurement(graph=digest), base=a_full_measurement(graph=digest))
    )
    if state != "running":
        store.end(identity, state)  # type: ignore[arg-type]
    with store._database.write_transaction() as connection:
        made = time.time() - days * DAY
        connection.execute(update(request).where(request.c.id == identity).values(submitted=made))
    return digest


@pytest.fixture
def store(either_store: Store) -> Store:
    return either_store


def age_blobs(store: Store) -> None:
    """Have all files been stored long ago."""
    container = store.blobs._container
    for blob in list(store.blobs.stored()):
        path = Path(container.describe(f"{blob.digest[:2]}/{blob.digest[2:]}"))
        os.utime(path, (LONG_AGO, LONG_AGO))


def ids(store: Store) -> list[str]:
    return [f"c-{number}" for number in range(10) if store.fleet.states([f"c-{number}"])]


def test_age_and_number_decide_and_open_requests_stay(store: Store) -> None:
    digests = {
        identity: result(store, identity, days=days, topic=topic, state=state)
        for identity, days, topic, state in (
            ("c-0", 300, "main", "done"),
            ("c-1", 200, "main", "failed"),
            ("c-2", 200, "pr-1", "cancelled"),
            ("c-3", 200, "other", "running"),
            ("c-4", 1, "pr-1", "done"),
        )
    }
    age_blobs(store)
    assert store.prune(Retention()).requests == []
    assert all(store.blobs.has(digest) for digest in digests.values())
    both = Retention(seconds=30 * DAY, per_branch=1)
    assert store.prune(both, dry_run=True).requests == ["c-0", "c-2"]
    assert ids(store) == ["c-0", "c-1", "c-2", "c-3", "c-4"]
    removed = store.prune(both)
    assert (removed.requests, removed.blobs) == (["c-0", "c-2"], 2)
    assert ids(store) == ["c-1", "c-3", "c-4"]
    assert [identity for identity, digest in digests.items() if store.blobs.has(digest)] == ["c-1", "c-3", "c-4"]
    assert store.prune(Retention(seconds=30 * DAY)).requests == ["c-1"]
    assert len(store.measurements("c-4")) == 2


def test_all_files_that_a_measurement_refers_to_are_kept_with_it() -> None:
    digests = {name: name for name, field in Measurement.model_fields.items() if field.annotation == str | None}
    measurement = Measurement(metrics={}, validity=Validity.of([]), **digests)
    assert sorted(measurement.blobs) == sorted(digests) == sorted(column.name for column in TRIAL_BLOBS)


def test_what_was_found_in_call_graphs_goes_with_them(store: Store) -> None:
    graphs = [result(store, "c-0", days=300), result(store, "c-1")]
    work = CountedWork(instructions_per_op=1.0, is_by_source=True, functions=(), categories={}, opportunities=())
    store.work.keep(dict.fromkeys([*graphs, "of no trial"], work), "this version", has_build=True)
    store.prune(Retention(seconds=30 * DAY))
    assert store.work.kept(CountedWork, [*graphs, "of no trial"], "this version") == {graphs[1]: work}


def test_the_oldest_go_first_where_files_take_too_much(store: Store) -> None:
    for number in range(4):
        result(store, f"c-{number}", size=100_000)
    age_blobs(store)
    assert store.prune(Retention(blob_bytes=250_000)).requests == ["c-0", "c-1"]
    assert sum(blob.size_bytes for blob in store.blobs.stored()) <= 250_000
    assert store.prune(Retention(blob_bytes=250_000)).requests == []


def test_what_nothing_refers_to_is_removed_after_a_day(store: Store) -> None:
    kept = result(store, "c-0")
    old = store.blobs.put(b"left by a build that failed")
    again = store.blobs.put(b"stored again")
    age_blobs(store)
    store.blobs.put(b"stored again")
    new = store.blobs.put(b"uploaded a moment ago")
    assert store.prune(Retention()).blobs == 1
    assert [store.blobs.has(digest) for digest in (kept, old, again, new)] == [True, False, True, True]


def test_triggers_whose_results_are_removed_go_with_them(store: Store) -> None:
    for identity in ("c-0", "c-1", "c-2"):
        result(store, identity, days=0 if identity == "c-2" else 100)
    for name, led_to in (("t-0", ("c-0",)), ("t-1", ("c-1", "c-2"))):
        store.triggers.add(
            StoredTrigger(name, "redis/redis", "s", "push", document="{}", created=1.0).ended("done", "", led_to)
        )
    assert store.prune(Retention(seconds=30 * DAY)).requests == ["c-0", "c-1"]
    assert store.triggers.with_id("t-0") is None
    left = store.triggers.with_id("t-1")
    assert left is not None
    assert left.requests == ("c-2",)


def days_ago(days: float) -> str:
    return datetime.fromtimestamp(time.time() - days * DAY, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def histories(store: Store) -> set[tuple[str, str, str]]:
    """Return the range, variant and platform of each published history."""
    return {(of.range, of.variant, of.platform_name) for of in store.published_histories.histories(100)}


def test_age_and_number_decide_on_histories_as_on_results(store: Store) -> None:
    few = {"string": ("GET",)}
    for days, made_up in (
        (300, MadeUp(cases=few, range="main", variant="O2")),
        (200, MadeUp(cases=few, range="main")),
        (200, MadeUp(cases=few, range="main", platform=ARM)),
        (200, MadeUp(cases=few, range="v1..v2")),
        (1, MadeUp(cases=few, range="main", variant="O3")),
    ):
        keep(store, replace(made_up, created=days_ago(days)))
    assert store.prune(Retention(blob_bytes=1)).histories == 0
    newest = {("main", "O3", "x86"), ("main", "default", "arm"), ("v1..v2", "default", "x86")}
    both = Retention(seconds=30 * DAY, per_branch=1)
    assert store.prune(both, dry_run=True).histories == 2
    assert len(histories(store)) == 5
    assert store.prune(both).histories == 2
    assert histories(store) == newest
    assert store.prune(Retention(per_branch=1)).histories == 0
    assert store.prune(Retention(seconds=30 * DAY)).histories == 2
    assert histories(store) == {("main", "O3", "x86")}


def test_a_history_that_is_judged_again_is_young(store: Store) -> None:
    keep(store, MadeUp(range="main", created=days_ago(200)))
    with store._database.read_transaction() as connection:
        [outlived] = outlived_histories(connection, Retention(seconds=30 * DAY), time.time())
    keep(store, MadeUp(range="main", created=days_ago(0)))
    # Meanwhile found to be too old, it stays.
    with store._database.write_transaction() as connection:
        remove_history(connection, outlived)
    assert histories(store) == {("main", "default", "x86")}


@pytest.mark.slow
def test_the_verb_removes_builds_that_were_not_used(zerolap: Zerolap, toy_program: Path) -> None:
    cases = Path(__file__).parent / "servers" / "toy" / "cases.yml"
    common = ["--cases", cases, "--engine", "counted", "--quick", "--store", zerolap.store]
    assert zerolap("run", "toy-get", "--server", toy_program, *common).code == 0
    [build] = (zerolap.store / "builds").iterdir()
    with Store.open(str(zerolap.store)) as store:
        assert look_after(store, Retention()).builds == 0
        assert usage(store).builds > 0
        os.utime(build, (LONG_AGO, LONG_AGO))
    foreseen = zerolap("store", "prune", "--dry-run", "--store", zerolap.store)
    assert "would remove 0 results, 0 histories, 0 files (0 B), 1 builds" in foreseen.out
    assert build.is_dir()
    assert zerolap("store", "prune", "--keep", "30d", "--store", zerolap.store, "--json", "-").document()["builds"] == 1
    assert not build.exists()
    assert zerolap("store", "usage", "--store", zerolap.store).out.startswith("blobs ")
    # What is not there any more is built again.
    assert zerolap("run", "toy-get", "--server", toy_program, *common).code == 0
    zerolap("store", "prune", "--keep", "soon", "--store", zerolap.store).fails_with(2, "--keep", "90d")


def test_a_mirror_keeps_its_branches_and_the_newest_commits(toy: ToySource, tmp_path: Path) -> None:
    mirror = Mirror.below(tmp_path, str(toy.path))
    commits = [toy.commit(f"commit {number}") for number in range(3)]
    mirror.fetch(commits)
    for number in range(KEPT_COMMITS):
        toy.git("--git-dir", str(mirror.directory), "update-ref", f"refs/zerolap/{number:040x}", commits[-1])
    mirror.tidy()
    assert mirror.has(commits[-1])
    left = toy.git("--git-dir", str(mirror.directory), "for-each-ref", "--format=%(refname)").splitlines()
    assert len(left) == KEPT_COMMITS
