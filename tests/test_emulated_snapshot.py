"""Forks that are counted in emulated machines: the command line, and how counts are read."""

import json
import re
from pathlib import Path

import pytest
from command_line import Zerolap
from rich.console import Console

from zerolap.host import fingerprint
from zerolap.records import (
    EmulatedPoint,
    EmulatedSettings,
    EmulatedSide,
    EmulatedSnapshotReport,
    FailedSize,
    Kernel,
    KernelPatch,
    LineFit,
    MeasuredServer,
)
from zerolap.report import (
    emulated_snapshot_html,
    emulated_snapshot_json,
    emulated_snapshot_markdown,
    fork_picture,
    show_emulated_snapshot,
    wait_picture,
)

MIB = 1 << 20


def counts(fork: int, server: int) -> dict[str, int]:
    return {
        "kernel_fork_ticks": fork,
        "kernel_fork_tables": 10,
        "kernel_tables_deferred": 30,
        "kernel_fork_entries": 512,
        "wait_server_longest": server,
        "wait_ticks_longest": 2 * server,
        "requests": 100,
    }


def report(*, is_repeated: bool | None = None) -> EmulatedSnapshotReport:
    fit = LineFit(slope_per_gib=25e6, intercept=0, r2=0.999, repetitions=2)
    return EmulatedSnapshotReport(
        created="2026-11-26T00:00:00Z",
        command_line="zerolap snapshot redis-server --kernel linux.tar.xz",
        server=MeasuredServer(name="redis-server", commit=None, build="b-1", build_id="", flags="", version="7.0.15"),
        kernel=Kernel(
            digest="1",
            name="linux.tar.xz",
            version="6.1.192",
            patches=[KernelPatch(name="async-fork.patch", digest="2")],
            compiler="gcc",
        ),
        platform=fingerprint(),
        settings=EmulatedSettings(
            sizes_bytes=[64 * MIB, 1024 * MIB],
            value_bytes=1000,
            repetitions=1 if is_repeated is None else 3,
            seed=1,
            emulator="QEMU 7.2",
            machine="pc",
            processor="qemu64",
        ),
        machine_seconds=100,
        sides=[
            EmulatedSide(name="fork=copy", fits={"kernel_fork_ticks": fit}),
            EmulatedSide(name="fork=async", fork="async"),
        ],
        points=[
            EmulatedPoint(side=side, size_bytes=size * MIB, keys=size, runs=[run], is_repeated=is_repeated)
            for side, size, run in (
                ("fork=copy", 64, counts(2_000_000, 3_000_000)),
                ("fork=async", 64, counts(100_000, 500_000)),
                ("fork=copy", 1024, counts(25_000_000, 30_000_000)),
                ("fork=async", 1024, counts(500_000, 3_000_000)),
            )
        ],
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--kernel-patch", "a.patch"], "need a kernel"),
        (["--kernel", "no/such/source.tar.xz"], "is not there"),
        (["--kernel", "/etc/passwd"], "neither a directory nor a tarball"),
        (["--kernel", "/usr"], "is not the source tree of a kernel"),
        (["--kernel", "/usr", "--base", "redis-server"], "`--base` does not go with `--kernel`"),
        (["--kernel", "/usr", "--trace"], "`--trace` does not go with `--kernel`"),
        (["--kernel", "/usr", "--min-effect", "5%"], "`--min-effect` does not go with `--kernel`"),
        (["--kernel", "TARBALL", "--kernel-patch", "no-such.patch"], "`no-such.patch` is not a file"),
        (["--kernel", "TARBALL", "--vary", "fork=slow"], "`--vary fork=slow` is not valid"),
        (["--kernel", "TARBALL", "--vary", "fork=copy", "--vary", "fork=async"], "varied twice"),
    ],
)
def test_wrong_usage_is_refused_at_once(zerolap: Zerolap, tmp_path: Path, words: list[str], message: str) -> None:
    tarball = tmp_path / "linux-6.1.tar.xz"
    tarball.touch()
    words = [word.replace("TARBALL", str(tarball)) for word in words]
    zerolap("snapshot", "redis-server", *words).fails_with(2, message)


def test_a_running_server_cannot_be_in_an_emulated_machine(zerolap: Zerolap, tmp_path: Path) -> None:
    tarball = tmp_path / "linux-6.1.tar.xz"
    tarball.touch()
    ended = zerolap("snapshot", "tcp://127.0.0.1:1", "--kernel", str(tarball))
    ended.fails_with(2, "cannot be started in an emulated machine")


def test_the_document_states_counts_and_how_they_are_read() -> None:
    document = json.loads(emulated_snapshot_json(report()))
    assert document["schema"] == "zerolap.emulated-snapshot/1"
    assert document["points"][2]["runs"][0]["kernel_fork_ticks"] == 25_000_000
    headline = "fork at 1 GiB: 25 million instructions with fork=copy, 0.5 with fork=async (2.0 %)"
    assert document["reading"]["headline"] == headline
    [growth, compared] = document["reading"]["sentences"]
    assert growth.startswith("fork=copy: the fork takes 25 million instructions more for each GiB")
    assert "the longest wait in instructions of the server 10.0 %" in compared


def test_runs_that_are_equal_or_differ_are_named() -> None:
    assert "all 3 runs counted the same at each size" in emulated_snapshot_markdown(report(is_repeated=True))
    assert "runs differ by" in emulated_snapshot_markdown(report(is_repeated=False))


def test_a_failed_size_and_a_kernel_without_counters_are_named() -> None:
    failed = report().model_copy(update={"failed": [FailedSize(size_bytes=64 * MIB, reason="panic")]})
    assert "64 MiB failed: panic" in emulated_snapshot_markdown(failed)
    points = [
        point.model_copy(update={"runs": [{"wait_server_longest": 5, "wait_ticks_longest": 6}]})
        for point in report().points
    ]
    plain = report().model_copy(update={"points": points, "sides": [EmulatedSide(name="fork=copy")]})
    assert "has no /proc/async_fork" in json.loads(emulated_snapshot_json(plain))["reading"]["warnings"][0]


def test_no_format_shows_a_count_as_a_time() -> None:
    console = Console(width=200, record=True, file=None)
    with console.capture() as shown:
        show_emulated_snapshot(report(), console)
    text = re.sub(r"emulated in .*", "", shown.get())
    for written in (text, emulated_snapshot_markdown(report()), emulated_snapshot_html(report())):
        assert "25" in written
        assert not re.search(r"\d (ms|us|µs|ns|s)\b", written)


def test_pictures_describe_themselves_and_have_a_line_for_each_side() -> None:
    drawn = fork_picture(report())
    assert drawn.count('<path class="line') == 2 * 2  # and one in the legend
    assert 'role="img"' in drawn
    assert "fork=copy: 2 at 64 MiB, 25 at 1 GiB; fork=async: 0.1 at 64 MiB, 0.5 at 1 GiB" in drawn
    assert "(right axis)" in drawn
    assert "(right axis)" not in wait_picture(report())


def test_names_of_others_do_not_act_in_a_page() -> None:
    hostile = report().model_copy(update={"notes": ["<script>alert(1)</script>"]})
    page = emulated_snapshot_html(hostile)
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
