"""Directories that hostile code has written to are walked, removed and read, whatever is in them."""

import logging
import multiprocessing
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import Zerolap
from nested import nest
from sources import revision_source, tree_source
from toy_server import CASES, ToySource

from zerolap.build import changes_between, pack_source
from zerolap.build.compilers import copy_files
from zerolap.build.source import content_digest
from zerolap.engines import windows
from zerolap.records import Changes, TrialFailed, UsageError
from zerolap.sandbox import (
    Confinement,
    FileRefused,
    LimitReached,
    Limits,
    available,
    launch,
    read_file,
    remove,
    scratch_directory,
    walk,
)
from zerolap.sandbox.limits import used_bytes
from zerolap.store import open_blobs

LEVELS = 5_000
MIB = 1 << 20
NOBODY = 65534
needs_sandbox = pytest.mark.skipif(available() is not None, reason=f"no sandbox: {available()}")


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


# Walking and removing


def test_directories_of_any_depth_are_walked_and_removed(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    nest(tree, LEVELS)
    before, entries, depth, most_open = open_descriptors(), 0, 0, 0
    for entry in walk(tree):
        entries, depth = entries + 1, len(entry.parents)
        if entries % 1000 == 0:
            most_open = max(most_open, open_descriptors())
    assert (entries, depth) == (LEVELS + 1, LEVELS)
    assert most_open <= before + 4
    remove(tree)
    assert list(tmp_path.iterdir()) == []
    assert open_descriptors() <= before


def test_wide_and_deep_trees_are_removed_whole(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    for outer in range(20):
        for inner in range(20):
            (tree / str(outer) / str(inner)).mkdir(parents=True)
            (tree / str(outer) / str(inner) / "file").touch()
        nest(tree / str(outer), 50)
    assert sum(1 for _ in walk(tree)) == 20 * (1 + 20 * 2 + 50 + 1)
    remove(tree)
    assert not tree.exists()


def test_links_lead_nowhere(tmp_path: Path) -> None:
    outside, tree = tmp_path / "outside", tmp_path / "tree"
    (outside / "kept").mkdir(parents=True)
    tree.mkdir()
    (tree / "to a directory").symlink_to(outside)
    (tree / "to nothing").symlink_to("nothing")
    os.mkfifo(tree / "pipe")
    assert sorted(str(entry.path) for entry in walk(tree)) == ["pipe", "to a directory", "to nothing"]
    remove(tree)
    assert not tree.exists()
    (tmp_path / "link").symlink_to(outside)
    remove(tmp_path / "link")
    assert not (tmp_path / "link").is_symlink()
    assert (outside / "kept").exists()


def test_a_tree_that_is_moved_while_it_is_walked_is_left_without_an_error(tmp_path: Path) -> None:
    tree, elsewhere = tmp_path / "tree", tmp_path / "elsewhere"
    for name in ("first", "second"):
        (tree / name / "a" / "b" / "c").mkdir(parents=True)
    elsewhere.mkdir()
    walked = []
    for entry in walk(tree):
        walked.append(str(entry.path))
        if entry.name == "c" and not list(elsewhere.iterdir()):
            # The way back from here, by the directories above, now leads elsewhere.
            (tree / entry.parents[0] / "a").rename(elsewhere / "a")
    assert {"first/a/b/c", "second/a/b/c"} <= set(walked)
    assert not any("elsewhere" in path for path in walked)


def as_nobody(work: Callable[[], None]) -> None:
    """Run work as a user without rights, where the tests run as root; an assertion in it fails the test."""
    if os.geteuid() != 0:
        work()
        return

    def run() -> None:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        work()

    child = multiprocessing.get_context("fork").Process(target=run)
    child.start()
    child.join()
    assert child.exitcode == 0


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A directory that every user can write to, and reach."""
    with scratch_directory("zerolap-test-", Path("/tmp")) as directory:
        directory.chmod(0o777)
        yield directory


@pytest.mark.parametrize("mode", [0o000, 0o300, 0o400, 0o500])
def test_directories_that_forbid_access_are_counted_and_removed(open_to_all: Path, mode: int) -> None:
    def work() -> None:
        tree = open_to_all / "tree"
        (tree / "outer" / "inner").mkdir(parents=True)
        (tree / "outer" / "inner" / "file").write_bytes(bytes(MIB))
        (tree / "outer" / "inner").chmod(mode)
        (tree / "outer").chmod(mode)
        assert used_bytes([tree], 1 << 40) >= MIB
        (tree / "outer" / "inner").chmod(mode)
        (tree / "outer").chmod(mode)
        tree.chmod(mode)
        remove(tree)
        assert not tree.exists()

    as_nobody(work)


def test_what_cannot_be_removed_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").touch()
    with caplog.at_level(logging.WARNING):
        remove(tmp_path / "nothing")
        assert caplog.messages == []
        remove(tmp_path / "file" / "below")
    assert caplog.messages == [f"{tmp_path}/file/below cannot be removed: Not a directory"]


def test_objects_are_copied_without_what_a_cache_does_not_hold(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "a" / "b").mkdir(parents=True)
    (source / "a" / "b" / "object").write_text("object")
    (source / "a" / "link").symlink_to("/etc/passwd")
    nest(source, 1500)
    copy_files(source, target)
    assert [str(entry.path) for entry in walk(target) if not entry.is_directory] == ["a/b/object"]
    (source / "a" / "holes").touch()
    os.truncate(source / "a" / "holes", 1 << 40)
    copy_files(source, tmp_path / "again")
    assert used_bytes([tmp_path / "again"], 1 << 40) < MIB


# Limits


def test_the_disk_space_of_what_lies_deep_is_counted(tmp_path: Path) -> None:
    nest(tmp_path, 30, name="n" * 200, file_bytes=3 * MIB)
    assert used_bytes([tmp_path], 1 << 40) >= 3 * MIB
    # It is counted no further than needed.
    assert used_bytes([tmp_path], 8192) < 3 * MIB


@needs_sandbox
def test_a_process_that_hides_files_deep_reaches_its_limit(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    limits = Limits(disk_bytes=4 * MIB, seconds=600)
    own = Confinement(writable=[tmp_path / "own"], directory=tmp_path / "own", limits=limits)
    nest(tmp_path / "own", 30, name="n" * 200)
    script = "cd -P $(printf '%0200d' 0 | tr 0 n) || exit 9; " * 30 + "for n in 1 2; do head -c 3M /dev/zero > $n; done"
    environment = {"PATH": "/usr/bin:/bin"}
    command = ["sh", "-c", f"{script}; sleep 3600"]
    with (
        pytest.raises(LimitReached, match="4 MiB of disk space"),
        launch(command, environment=environment, output=tmp_path / "log", confinement=own) as child,
    ):
        child.wait_within_limits()


# Reading


def test_only_regular_files_within_a_limit_are_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    assert read_file(tmp_path / "file", 7) == b"content"
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "pipe")
    refused = {"file": "more than 0 MiB", "link": "cannot be opened", "nothing": "is missing"}
    refused |= {"directory": "not a regular file", "pipe": "not a regular file"}
    for name, reason in refused.items():
        with pytest.raises(FileRefused, match=f"`{name}` .*{reason}"):
            read_file(tmp_path / name, 6)


def test_a_dump_of_any_size_is_read_within_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dump = tmp_path / "callgrind.1"
    dump.write_text("events: Ir\nsummary: 17\n\ntotals: 17\n")
    assert windows.dumped_instructions(dump) == 17
    monkeypatch.setattr(windows, "LARGEST_READ_BYTES", MIB)
    os.truncate(dump, 1 << 40)
    with pytest.raises(TrialFailed, match="more than 1 MiB"):
        windows.dumped_instructions(dump)
    dump.unlink()
    dump.symlink_to("/proc/self/mem")
    with pytest.raises(TrialFailed):
        windows.dumped_instructions(dump)


# From end to end; what builds nest is in test_hostile_builds.py

NESTING = """
    for (int level = 0; level < 1500; level++)
        if (mkdir("nested", 0700) != 0 || chdir("nested") != 0) return 1;
"""


@needs_sandbox
@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_a_server_that_nests_directories_does_not_stop_later_comparisons(zerolap: Zerolap, toy: ToySource) -> None:
    serving = "    for (;;) {\n        struct epoll_event events[64];"
    include = "#include <sys/epoll.h>\n"
    nesting = toy.changed(
        ("server.c", serving, NESTING + serving), ("server.c", include, f"{include}#include <sys/stat.h>\n")
    )
    common = ["--repo", toy.path, "--cases", CASES, "--store", zerolap.store, "--quick", "toy-get"]
    first = zerolap("compare", nesting, nesting, *common)
    assert first.code == 0, first.err
    for left in zerolap.trials.iterdir():
        # Older than what is taken for the directory of a process that has just begun.
        os.utime(left, (0, 0))
    assert zerolap("compare", toy.first, toy.first, *common).code == 0
    zerolap.leaves_nothing()


def test_a_commit_with_a_deep_path_fails_alone(
    zerolap: Zerolap, toy: ToySource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = toy.with_path("n/" * 1500 + "file")
    arguments = ["--repo", toy.path, "--cases", CASES, "--store", zerolap.store, "--quick"]
    ended = zerolap("compare", toy.first, head, *arguments)
    ended.fails_with(2, "cannot be exported from git", "longer than 1,024 bytes of a path", "hint: give a commit")
    assert list(zerolap.trials.iterdir()) == []
    blobs = open_blobs(None, tmp_path / "blobs")
    monkeypatch.setenv("TMPDIR", str(zerolap.trials))
    with pytest.raises(UsageError):
        pack_source(revision_source("deep", toy.path, head), blobs)
    packed = pack_source(revision_source("first", toy.path, toy.first), blobs)
    assert packed.content == toy.git("rev-parse", f"{toy.first}^{{tree}}")
    of_deep = changes_between(revision_source("first", toy.path, toy.first), revision_source("deep", toy.path, head))
    assert isinstance(of_deep, Changes)


def test_a_tree_with_a_deep_path_is_refused(compiler: None, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(Path(__file__).parent / "servers" / "toy", tree)
    nest(tree, 1500)
    source = tree_source("deep", tree)
    with pytest.raises(UsageError, match="paths are longer than 1,024 bytes"):
        content_digest(source)
    with pytest.raises(UsageError, match="paths are longer than 1,024 bytes"):
        pack_source(source, open_blobs(None, tmp_path / "blobs"))
