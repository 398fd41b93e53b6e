"""Timed comparisons as a whole, on a real server: what is measured, recorded and reported; no time is asserted."""

import shutil
import statistics
from collections.abc import Sequence
from pathlib import Path

import pytest

from zerolap.build import resolve
from zerolap.cases import load_cases
from zerolap.documents import case_trials, read_pictures
from zerolap.engines import timed_checks
from zerolap.host import choose_pinning, disturbance, read_processors
from zerolap.judge import LOOKS, Batching, TimedPair
from zerolap.lab import Lab, Options, compare, comparison_request, planner
from zerolap.records import Comparison, RequestedServer, Timeline
from zerolap.store import Store

CASES = """
group: checks
cases:
  - name: get
    setup: ["SET key:1 value"]
    commands: ["GET __key__"]
    keys: {minimum: 1, maximum: 1, prefix: "key:"}
    expect: {reply: bulk}
"""

pytestmark = pytest.mark.slow
PER_SECOND = 20_000


@pytest.fixture(autouse=True)
def _any_machine_is_good_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the machine does beside a trial, or how fast it is, holds against none, and asks for no more of them."""
    if not choose_pinning(read_processors()).is_clean:
        pytest.skip("server and client need a core each")
    monkeypatch.setattr(planner, "undecided_in_time", lambda *_: frozenset())
    for limit in ("STEAL_LIMIT", "OTHERS_LIMIT", "SWAP_LIMIT", "CLOCK_LIMIT_SECONDS"):
        monkeypatch.setattr(disturbance, limit, float("inf"))
    monkeypatch.setattr(timed_checks, "SHORTEST_SLICE_SECONDS", 0.0)
    monkeypatch.setattr(timed_checks, "CLIENT_BUSY_LIMIT", float("inf"))
    monkeypatch.setattr(timed_checks, "RATE_LIMIT", 0.0)


def timed(store: Store, server: Path, directory: Path) -> Comparison:
    file = directory / "cases.yml"
    file.write_text(CASES)
    server_asked = RequestedServer(source=resolve(str(server), None))
    request = comparison_request(server_asked, server_asked, load_cases(file), Options(engines=["timed"], seed=1))
    found = compare(request, Lab(store))
    assert not [note for note in found.notes if note.startswith("no timed verdict")]
    return found


def test_a_timed_comparison_is_recorded_with_its_pictures(redis_server: Path, tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "store")) as store:
        found = timed(store, redis_server, tmp_path)
        metrics = {verdict.metric: verdict for verdict in found.cases[0].verdicts}
        assert {"cpu_ns_per_op", "usec_per_call", "ops_per_sec", "latency_p50_us", "latency_p99_us"} <= metrics.keys()
        assert all(verdict.engine == "timed" and verdict.samples >= LOOKS[0] for verdict in metrics.values())
        # A build compared with itself shows how much starts differ on this machine.
        assert store.spreads(found.platform.fingerprint, "cpu_ns_per_op")
        pictures = read_pictures(store.comparison(found.id), store).cases["get"]
        assert pictures.stacks is None
        assert pictures.latency is not None
        for points in pictures.latency.values():
            shares, latencies = zip(*points, strict=True)
            assert list(shares) == sorted(shares)
            assert list(latencies) == sorted(latencies)
            assert shares[-1] == 1.0
        assert pictures.throughput is not None
        assert all(0 < len(points) <= 200 for points in pictures.throughput.values())
        assert len(pictures.starts_at) == metrics["cpu_ns_per_op"].samples
        for verdict in metrics.values():
            assert verdict.head == pytest.approx(verdict.base * (1 + verdict.change))
        shutil.rmtree(tmp_path / "store" / "blobs")
        without = read_pictures(store.comparison(found.id), store).cases["get"]
        assert "no blob" in (without.missing or "")


def test_unequal_batches_are_judged_at_an_equal_rate(
    redis_server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One build has equal batches: here they are made to look unequal."""
    at_full_speed: list[TimedPair] = []

    def unequal_at_full_speed(starts: Sequence[TimedPair], _: Sequence[TimedPair]) -> Batching | None:
        at_full_speed.extend(starts if not at_full_speed else [])
        return Batching("read", 8.0, 16.0, PER_SECOND) if starts[0] is at_full_speed[0] else None

    monkeypatch.setattr(planner, "PAIRS_PER_START", 2)
    monkeypatch.setattr(case_trials, "unequal_batching", unequal_at_full_speed)
    with Store.open(str(tmp_path / "store")) as store:
        found = timed(store, redis_server, tmp_path)
        trials = store.measurements(found.id)
        slices = [Timeline.model_validate_json(store.blobs.get(one.timeline or "")).slices for _, one in trials]
    batching = next(check for check in found.cases[0].validity.checks if check.check == "batching")
    assert batching.value == "8.0 → 16.0 requests a read"
    assert "20,000 requests/s" in batching.limit
    has_rate = ["rate" in {check.check for check in one.validity.checks} for _, one in trials]
    assert [trial.per_second for trial, _ in trials] == [PER_SECOND if paced else None for paced in has_rate]
    served_at_the_rate, served_at_full_speed = (
        [one.metrics["ops_per_sec"] for own, has in zip(slices, has_rate, strict=True) if has is paced for one in own]
        for paced in (True, False)
    )
    assert has_rate.count(True) == has_rate.count(False) == 2 * LOOKS[0]
    # Slices are whole pipelines of all 20 connections: the last is due after 19 of 20 parts of the time. A slice that
    # other processes hold up at its beginning is over sooner after that.
    assert min(served_at_the_rate) <= PER_SECOND * 20 / 19
    verdicts = {verdict.metric: verdict for verdict in found.cases[0].verdicts}
    assert verdicts["cpu_ns_per_op"].samples == verdicts["ops_per_sec"].samples == LOOKS[0]
    assert verdicts["full_speed_cpu_ns_per_op"].samples == LOOKS[0]
    centre = statistics.geometric_mean([verdicts["ops_per_sec"].base, verdicts["ops_per_sec"].head])
    assert min(served_at_full_speed) <= centre <= max(served_at_full_speed), "what is served is reported at full speed"
