"""The text of source lines in the tree that a build has left."""

import io
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from zerolap.build import ARCHIVE_LIMITS, Builds, source_text
from zerolap.build.tar import pack_tar
from zerolap.records import Build
from zerolap.sandbox import scratch
from zerolap.store import Blobs
from zerolap.store.blobs import open_blobs


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The kept tree of the build `b-1`, with a file below `src` and one elsewhere."""
    tree = tmp_path / "builds" / "b-1" / "tree"
    (tree / "src").mkdir(parents=True)
    (tree / "deps").mkdir()
    (tree / "src" / "dict.c").write_bytes(b"first\n\tsecond  \r\n\xff \xe2\x80\xae third\x1b[31m\n")
    (tree / "deps" / "sds.c").write_text("of a library\n")
    return tree


def lines(tree: Path, *wanted: tuple[str, int]) -> dict[tuple[str, int], str]:
    return Builds(tree.parent.parent).source_lines(tree.parent.name, wanted)


def test_lines_have_their_text_without_control_characters(tree: Path) -> None:
    mark = "\N{REPLACEMENT CHARACTER}"
    assert lines(tree, ("dict.c", 1), ("dict.c", 2), ("dict.c", 3), ("deps/sds.c", 1)) == {
        ("dict.c", 1): "first",
        ("dict.c", 2): "    second",
        ("dict.c", 3): f"{mark} {mark} third{mark}[31m",
        ("deps/sds.c", 1): "of a library",
    }


def archived(tree: Path, blobs: Blobs) -> str:
    """Put the tree of a build into an archive in place of its directory, and return the archive's digest."""
    packed = io.BytesIO()
    pack_tar(tree, packed, ARCHIVE_LIMITS)
    shutil.rmtree(tree)
    return blobs.put(packed.getvalue())


def make_known(build: Path) -> None:
    """Have a build on this machine, with a program."""
    record = Build(build=build.name, version="1", build_id="", flags="")
    (build / "build.json").write_text(record.model_dump_json())
    (build / "server").touch()


def test_a_source_whose_tree_is_gone_is_read_from_its_archive(tree: Path, tmp_path: Path) -> None:
    blobs = open_blobs(None, tmp_path / "blobs")
    archive = archived(tree, blobs)
    builds = Builds(tree.parent.parent)
    assert builds.source_lines("b-1", [("dict.c", 1)], blobs) == {}
    make_known(tree.parent)
    builds.note_archive("b-1", archive)
    assert builds.source_lines("b-1", [("dict.c", 1)], blobs) == {("dict.c", 1): "first"}
    assert builds.source_lines("b-1", [("dict.c", 1)]) == {}
    for wrong in (blobs.put(b"no tar"), "0" * 64, "no digest"):
        builds.note_archive("b-1", wrong)
        assert builds.source_lines("b-1", [("dict.c", 1)], blobs) == {}


def test_what_a_killed_process_has_unpacked_of_an_archive_is_removed(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    left = temporary / "zerolap-source-killed"
    left.mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr(scratch, "YOUNG_SECONDS", -1)
    blobs = open_blobs(None, tmp_path / "blobs")
    builds = Builds(tree.parent.parent)
    make_known(tree.parent)
    builds.note_archive("b-1", archived(tree, blobs))
    assert builds.source_lines("b-1", [("dict.c", 1)], blobs) == {("dict.c", 1): "first"}
    assert list(temporary.iterdir()) == []


def test_lines_and_files_that_are_not_there_have_none(tree: Path) -> None:
    assert lines(tree, ("dict.c", 0), ("dict.c", 9), ("gone.c", 1), ("a\0b.c", 1), ("x" * 5000, 1), ("deps", 1)) == {}
    assert Builds(tree).source_lines("b-2", [("dict.c", 1)]) == {}


def test_nothing_outside_of_the_tree_is_read(tree: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.c").write_text("secret\n")
    (tree / "src" / "linked.c").symlink_to(outside / "secret.c")
    (tree / "src" / "linked").symlink_to(outside)
    os.mkfifo(tree / "src" / "pipe.c")
    for file in ("linked.c", "linked/secret.c", "../../../../outside/secret.c", str(outside / "secret.c"), "pipe.c"):
        assert lines(tree, (file, 1)) == {}


def test_large_files_are_not_read(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_text, "LARGEST_SOURCE_BYTES", 10)
    assert lines(tree, ("dict.c", 1)) == {}
    monkeypatch.setattr(source_text, "LARGEST_SOURCE_BYTES", 1000)
    monkeypatch.setattr(source_text, "MOST_BYTES", 45)
    (tree / "src" / "other.c").write_text("x" * 40)
    assert lines(tree, ("dict.c", 1), ("other.c", 1)) == {("dict.c", 1): "first"}
