"""Sources with submodules: a commit lacks their files, a checkout has them."""

from pathlib import Path

import pytest
from sources import revision_source, tree_source
from toy_server import ToySource

from zerolap.build import Builder, pack_source, unpack_source
from zerolap.build.source import content_digest, export
from zerolap.build.submodules import empty_submodules
from zerolap.records import BuildFailed
from zerolap.store import open_blobs


@pytest.fixture
def with_library(toy: ToySource, tmp_path: Path) -> str:
    """Return a commit that includes a header of a submodule of a submodule; both are checked out."""
    inner, library = ToySource(tmp_path / "inner"), ToySource(tmp_path / "library")
    (inner.path / "value.h").write_text("#define VALUE 1\n")
    inner.commit("value")
    allowed = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
    library.git(*allowed, f"file://{inner.path}", "inner")
    library.commit("inner")
    toy.git("checkout", "--quiet", "--force", toy.first)
    toy.git(*allowed, f"file://{library.path}", "src/library")
    toy.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", "--recursive")
    table = toy.path / "src" / "table.c"
    table.write_text('#include "library/inner/value.h"\n' + table.read_text())
    return toy.commit("with a library")


def test_a_commit_whose_submodules_are_needed(with_library: str, toy: ToySource, tmp_path: Path) -> None:
    with pytest.raises(BuildFailed) as raised:
        Builder(tmp_path / "builds").build(revision_source("head", toy.path, with_library))
    assert raised.value.message.endswith("its submodules are empty: src/library")
    assert "git submodule update --init --recursive" in raised.value.hint
    assert "value.h" in raised.value.details


def test_a_checkout_with_its_submodules_is_built(with_library: str, toy: ToySource, tmp_path: Path) -> None:
    source = tree_source("toy", toy.path)
    digest = content_digest(source)
    blobs = open_blobs(None, tmp_path / "blobs")
    built = Builder(tmp_path / "builds", archives=blobs).build(pack_source(source, blobs))
    assert built.record.version
    (toy.path / "src" / "library" / "inner" / "value.h").write_text("#define VALUE 2\n")
    assert content_digest(source) != digest


def test_an_archive_keeps_the_files_of_submodules(with_library: str, toy: ToySource, tmp_path: Path) -> None:
    blobs = open_blobs(None, tmp_path / "blobs")
    packed = pack_source(tree_source("toy", toy.path), blobs)
    (tmp_path / "unpacked").mkdir()
    unpack_source(packed, blobs, tmp_path / "unpacked")
    assert (tmp_path / "unpacked" / "src" / "library" / "inner" / "value.h").is_file()
    assert empty_submodules(tmp_path / "unpacked") == []


def test_which_submodules_are_empty(with_library: str, toy: ToySource, tmp_path: Path) -> None:
    (tmp_path / "exported").mkdir()
    export(revision_source("head", toy.path, with_library), tmp_path / "exported")
    assert empty_submodules(tmp_path / "exported") == ["src/library"]
    assert empty_submodules(toy.path) == []
    names = tmp_path / "exported" / ".gitmodules"
    names.write_text(f"path = ../x\npath = /etc\n path=a\0b\npath = {'x' * 5000}\n path = lib \npath = src\n")
    assert empty_submodules(tmp_path / "exported") == ["lib"]
    names.unlink()
    names.symlink_to("/dev/zero")
    assert empty_submodules(tmp_path / "exported") == []
