"""Timed comparisons as a whole, on a real server: what is measured, recorded and told; no time is asserted."""

import shutil
from pathlib import Path

import pytest

from zerolap.build import resolve
from zerolap.cases import load_cases
from zerolap.judge import LOOKS, Batching, Q
from zerolap.lab import CompareRequest, Silent, compare, read_pictures, timed_start, timing
from zerolap.records import Comparison, Settings
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


def timed(store: Store, server: Path, directory: Path) -> Comparison:
    file = directory / "cases.yml"
    file.write_text(CASES)
    settings = Settings(
        engines=["timed"], min_effect={"counted": 0.005, "timed": 0.02}, q=Q, budget_seconds=None, seed=1
    )
    source = resolve(str(server), None)
    found = compare(CompareRequest(source, source, load_cases(file), settings, "zerolap compare"), store, Silent())
    untimed = [note for note in found.notes if note.startswith("no timed verdict")]
    if untimed:
        pytest.skip(f"the machine was not quiet enough: {untimed[0]}")
    return found


def test_a_timed_comparison_is_recorded_with_its_pictures(redis_server: Path, tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "store")) as store:
        found = timed(store, redis_server, tmp_path)
        metrics = {verdict.metric: verdict for verdict in found.cases[0].verdicts}
        assert {"cpu_ns_per_op", "usec_per_call", "ops_per_sec", "latency_p50_us", "latency_p99_us"} <= metrics.keys()
        assert all(verdict.engine == "timed" and verdict.samples >= LOOKS[0] for verdict in metrics.values())
        # A build compared with itself says how much starts differ on this machine.
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
    """One build has equal batches: it is told otherwise here."""
    monkeypatch.setattr(timed_start, "PAIRS_PER_START", 5)
    monkeypatch.setattr(timing, "unequal_batching", lambda _: Batching("read", 8.0, 16.0, 20_000))
    with Store.open(str(tmp_path / "store")) as store:
        found = timed(store, redis_server, tmp_path)
        trials = [(trial, one) for trial, one in store.measurements(found.id) if trial.side == "head"]
    told = next(check for check in found.cases[0].validity.checks if check.check == "batching")
    assert told.value == "8.0 → 16.0 requests a read"
    assert "20,000 requests/s" in told.limit
    rates = [one.metrics["ops_per_sec"] for trial, one in trials if "rate" in {c.check for c in one.validity.checks}]
    assert len(rates) >= LOOKS[0]
    assert all(rate < 21_000 for rate in rates)
    verdicts = {verdict.metric: verdict for verdict in found.cases[0].verdicts}
    assert verdicts["ops_per_sec"].base > 21_000
