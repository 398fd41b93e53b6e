"""Forks that are counted in emulated machines: the command line, and how counts are read."""

import json
import re
from pathlib import Path

import pytest
from command_line import Zerolap
from made_snapshots import MIB, emulated_report
from report_page import embedded
from rich.console import Console

from zerolap.engines import require_visible_in_guest
from zerolap.errors import UsageError
from zerolap.records import EmulatedSide, FailedSize
from zerolap.report import document_json, sheet_html, sheet_markdown, show_sheet
from zerolap.sheets import sweep_sheet, with_sweep_reading


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


@pytest.mark.parametrize("directory", ["/data/lab/builds", "/data", "/dev/shm/lab"])
def test_a_store_that_the_machine_would_hide_is_refused(directory: str) -> None:
    with pytest.raises(UsageError, match="cannot be started in an emulated machine") as refused:
        require_visible_in_guest(Path(directory))
    assert "--store" in (refused.value.hint or "")


@pytest.mark.parametrize("directory", ["/var/lib/database/builds", "/database", "/tmp/lab/builds"])
def test_a_store_elsewhere_is_not(directory: str) -> None:
    require_visible_in_guest(Path(directory))


def test_the_document_states_counts_and_how_they_are_read() -> None:
    document = json.loads(document_json(with_sweep_reading(emulated_report())))
    assert document["schema"] == "zerolap.emulated-snapshot/1"
    assert document["points"][2]["runs"][0]["kernel_fork_ticks"] == 25_000_000
    headline = "fork at 1 GiB: 25 million instructions with fork=copy, 0.5 with fork=async (2.0 %)"
    assert document["reading"]["headline"] == headline
    [growth, compared] = document["reading"]["sentences"]
    assert growth.startswith("fork=copy: the fork takes 25 million instructions more for each GiB")
    assert "the longest wait in instructions of the server 10.0 %" in compared


def test_runs_that_are_equal_or_differ_are_named() -> None:
    assert "all 3 runs counted the same at each size" in sheet_markdown(sweep_sheet(emulated_report(is_repeated=True)))
    assert "runs differ by" in sheet_markdown(sweep_sheet(emulated_report(is_repeated=False)))


def test_a_failed_size_and_a_kernel_without_counters_are_named() -> None:
    failed = emulated_report().model_copy(update={"failed": [FailedSize(size_bytes=64 * MIB, reason="panic")]})
    assert "64 MiB failed: panic" in sheet_markdown(sweep_sheet(failed))
    points = [
        point.model_copy(update={"runs": [{"wait_server_longest": 5, "wait_ticks_longest": 6}]})
        for point in emulated_report().points
    ]
    plain = emulated_report().model_copy(update={"points": points, "sides": [EmulatedSide(name="fork=copy")]})
    assert "has no /proc/async_fork" in json.loads(document_json(with_sweep_reading(plain)))["reading"]["warnings"][0]


def test_no_format_shows_a_count_as_a_time() -> None:
    console = Console(width=200, record=True, file=None)
    with console.capture() as shown:
        show_sheet(sweep_sheet(emulated_report()), console)
    page = sheet_html(with_sweep_reading(emulated_report()), sweep_sheet(emulated_report()))
    for text in (shown.get(), sheet_markdown(sweep_sheet(emulated_report())), embedded(page, "sheet")):
        # What the emulation itself took is a time, and comes last.
        written = text.partition("emulated in")[0]
        assert "25" in written
        assert not re.search(r"\d (ms|us|µs|ns|s)\b", written)


def test_names_of_others_do_not_act_in_a_page() -> None:
    hostile = emulated_report().model_copy(update={"notes": ["<script>alert(1)</script>"]})
    page = sheet_html(with_sweep_reading(hostile), sweep_sheet(hostile))
    assert "<script>alert(1)" not in page
    assert "<script>alert(1)" in embedded(page, "sheet")
