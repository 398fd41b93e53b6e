"""What builds keep on the disk: files that they share, and nothing that no later build needs."""

import os
from pathlib import Path

import pytest
from sources import revision_source
from toy_server import NOTED, RULE, ToySource

from zerolap.build import Builder, BuiltServer
from zerolap.build.hard_links import hard_link_file, hard_link_files

pytestmark = pytest.mark.usefixtures("compiler")

LIBRARY = "../deps/library/liblibrary.a"
RULES = f"""
{LIBRARY}: | ../deps/library/part.c
\tcd ../deps/library && $(CC) -g -c part.c && ar rcs liblibrary.a part.o
../deps/direct.o:
\tcd ../deps && $(CC) -g -c direct.c
"""


@pytest.fixture
def bundled(toy: ToySource) -> ToySource:
    """Make the toy link a bundled library, and an object of another one directly."""
    toy.git("checkout", "--quiet", "--force", toy.first)
    library = toy.path / "deps" / "library"
    library.mkdir(parents=True)
    (library / "part.c").write_text(
        "".join(f"int part_{number}(void) {{ return {number}; }}\n" for number in range(99))
    )
    (toy.path / "deps" / "direct.c").write_text("int direct(void) { return 1; }\n")
    toy.replace("Makefile", RULE, NOTED)
    makefile = toy.path / "src" / "Makefile"
    text = makefile.read_text().replace("$(OBJECTS)", f"$(OBJECTS) ../deps/direct.o {LIBRARY}", 2)
    makefile.write_text(text + RULES)
    return toy


def kept(builder: Builder, built: BuiltServer) -> Path:
    return builder.builds.directory / built.record.build


@pytest.mark.slow
def test_builds_share_what_they_have_in_common(bundled: ToySource, tmp_path: Path) -> None:
    base_commit = bundled.commit("bundled")
    bundled.replace("format.c", "void add_bytes(", "int unused = 1;\n\nvoid add_bytes(")
    head_commit = bundled.commit("change")
    (bundled.path / "README").write_text("text\n")
    text_commit = bundled.commit("text")
    bundled.replace("server.h", "#include <stddef.h>", "#include <stddef.h>\nextern int unused;")
    header_commit = bundled.commit("header")
    builder = Builder(tmp_path / "builds")
    base = builder.build(revision_source("base", bundled.path, base_commit))
    head = builder.build(revision_source("head", bundled.path, head_commit), objects_of=base.record.build)
    tree = kept(builder, base) / "tree"
    assert (tree / "deps" / "library" / "liblibrary.a").is_file()
    assert (tree / "deps" / "direct.o").is_file()
    assert not (tree / "deps" / "library" / "part.o").exists()
    assert not list(tree.glob("src/*-server"))
    # The head went on in the tree of its base, with its library, which is on the disk once.
    names = ("deps/library/liblibrary.a", "src/server.o", "src/server.c")
    for name in names:
        assert (tree / name).samefile(kept(builder, head) / "tree" / name), name
    assert not (tree / "src" / "format.o").samefile(kept(builder, head) / "tree" / "src" / "format.o")
    alone = Builder(tmp_path / "alone").build(revision_source("head", bundled.path, head_commit))
    assert alone.program.path.read_bytes() == head.program.path.read_bytes()
    same = builder.build(revision_source("text", bundled.path, text_commit), objects_of=head.record.build)
    assert same.program.path.samefile(head.program.path)
    assert not builder.builds.relinking(same.record.build).failure
    assert builder.builds.placed(same.record.build, 1).path.is_file()
    # A build from nothing has made it anew, and it is the same.
    anew = builder.build(revision_source("header", bundled.path, header_commit), objects_of=head.record.build)
    trees = [kept(builder, build) / "tree" for build in (head, anew)]
    assert not (trees[0] / "src" / "server.o").samefile(trees[1] / "src" / "server.o")
    assert (trees[0] / names[0]).samefile(trees[1] / names[0])


def test_what_is_shared(tmp_path: Path) -> None:
    own, other, outside = (tmp_path / name for name in ("own", "other", "outside"))
    for directory in (own / "a", own / "linked", other / "a", outside):
        directory.mkdir(parents=True)
    (other / "linked").symlink_to(outside)
    content = b"x" * 10_000
    files = {"a/equal": content, "a/older": content, "a/longer": content + b"y", "a/changed": b"y" + content[1:]}
    for name, of_other in {**files, "a/short": b"x", "linked/file": content}.items():
        (own / name).write_bytes(b"x" if name == "a/short" else content)
        (other / name).write_bytes(of_other)
        for path in (own / name, other / name):
            os.utime(path, (1000, 1000))
    (own / "a" / "missing").write_bytes(content)
    os.utime(other / "a" / "older", (999, 999))

    def shared() -> set[str]:
        names = [*files, "a/short", "linked/file"]
        return {name for name in names if (own / name).samefile(other / name)}

    hard_link_files(own, other, of_equal_age=True)
    assert shared() == {"a/equal"}
    hard_link_files(own, other, of_equal_age=False)
    assert shared() == {"a/equal", "a/older"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "outside", "own"]
    hard_link_files(own, tmp_path / "gone", of_equal_age=False)
    hard_link_files(tmp_path / "gone", own, of_equal_age=False)
    hard_link_file(own / "a" / "changed", other / "a" / "gone")
    hard_link_file(own / "a" / "missing", other / "a" / "equal")
    assert (own / "a" / "missing").samefile(other / "a" / "equal")
