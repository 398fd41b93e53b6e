"""Forks that are counted in emulated machines: the command line, and how counts are read."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command_line import Zerolap
from made_snapshots import MIB, emulated_report
from rich.console import Console

from zerolap.engines import require_visible_in_guest
from zerolap.errors import UsageError
from zerolap.records import EmulatedSide, FailedSize
from zerolap.report import count_pictures, show_sweep, sweep_html, sweep_json, sweep_markdown


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
    document = json.loads(sweep_json(emulated_report()))
    assert document["schema"] == "zerolap.emulated-snapshot/1"
    assert document["points"][2]["runs"][0]["kernel_fork_ticks"] == 25_000_000
    headline = "fork at 1 GiB: 25 million instructions with fork=copy, 0.5 with fork=async (2.0 %)"
    assert document["reading"]["headline"] == headline
    [growth, compared] = document["reading"]["sentences"]
    assert growth.startswith("fork=copy: the fork takes 25 million instructions more for each GiB")
    assert "the longest wait in instructions of the server 10.0 %" in compared


def test_runs_that_are_equal_or_differ_are_named() -> None:
    assert "all 3 runs counted the same at each size" in sweep_markdown(emulated_report(is_repeated=True))
    assert "runs differ by" in sweep_markdown(emulated_report(is_repeated=False))


def test_a_failed_size_and_a_kernel_without_counters_are_named() -> None:
    failed = emulated_report().model_copy(update={"failed": [FailedSize(size_bytes=64 * MIB, reason="panic")]})
    assert "64 MiB failed: panic" in sweep_markdown(failed)
    points = [
        point.model_copy(update={"runs": [{"wait_server_longest": 5, "wait_ticks_longest": 6}]})
        for point in emulated_report().points
    ]
    plain = emulated_report().model_copy(update={"points": points, "sides": [EmulatedSide(name="fork=copy")]})
    assert "has no /proc/async_fork" in json.loads(sweep_json(plain))["reading"]["warnings"][0]


def test_no_format_shows_a_count_as_a_time() -> None:
    console = Console(width=200, record=True, file=None)
    with console.capture() as shown:
        show_sweep(emulated_report(), console)
    text = re.sub(r"emulated in .*", "", shown.get())
    for written in (text, sweep_markdown(emulated_report()), sweep_html(emulated_report())):
        assert "25" in written
        assert not re.search(r"\d (ms|us|µs|ns|s)\b", written)


def test_pictures_describe_themselves_and_have_a_line_for_each_side() -> None:
    fork, wait = count_pictures(emulated_report())
    drawn = fork.svg
    assert drawn.count('<path class="line') == 2 * 2  # and one in the legend
    assert 'role="img"' in drawn
    assert fork.description == "fork=copy: 2 at 64 MiB, 25 at 1 GiB; fork=async: 0.1 at 64 MiB, 0.5 at 1 GiB"
    assert f"<desc>{fork.description}</desc>" in drawn
    assert "(right axis)" in drawn
    assert "(right axis)" not in wait.svg


def test_a_picture_is_well_formed_whatever_its_sides_are_called() -> None:
    name = "evil\x1b[31m</text><script>&\x00"
    document = emulated_report()
    sides = [side.model_copy(update={"name": name}) for side in document.sides]
    points = [point.model_copy(update={"side": name}) for point in document.points]
    for picture in count_pictures(document.model_copy(update={"sides": sides, "points": points})):
        assert "script" not in {
            element.tag.rpartition("}")[2] for element in ElementTree.fromstring(picture.svg).iter()
        }


def test_sizes_that_lie_close_to_each_other_are_not_written_over_each_other() -> None:
    document = emulated_report()
    points = [
        document.points[0].model_copy(update={"side": "fork=copy", "size_bytes": size * MIB})
        for size in (64, 128, 256, 512, 1024, 1100)
    ]
    fork, _ = count_pictures(document.model_copy(update={"points": points}))
    texts = [
        element.text for element in ElementTree.fromstring(fork.svg).iter() if element.get("text-anchor") == "middle"
    ]
    assert texts == ["1.07 GiB", "512 MiB", "256 MiB", "64 MiB"]


def test_names_of_others_do_not_act_in_a_page() -> None:
    hostile = emulated_report().model_copy(update={"notes": ["<script>alert(1)</script>"]})
    page = sweep_html(hostile)
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
