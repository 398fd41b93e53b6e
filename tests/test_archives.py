"""Sources and builds that travel to other machines: what arrives is what was sent, and hostile content is refused."""

import gzip
import hashlib
import io
import json
import os
import random
import shutil
import subprocess
import tarfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from sources import binary_source, revision_source, tree_source
from toy_server import SOURCE, ToySource

from zerolap.build import (
    DEFAULT,
    Builder,
    Builds,
    BuiltServer,
    all_tools,
    archive as archive_module,
    artifact as artifact_module,
    changes_between,
    commit as commit_module,
    pack_build,
    pack_source,
    parse_variant,
    spec_of,
    tools_of,
    unpack_build,
    unpack_source,
)
from zerolap.build.archive import unpack_what_differs
from zerolap.build.tar import TarLimits, TarRefused, unpack_tar
from zerolap.build.variant import Variant, tools_digest
from zerolap.cases import core_suite, load_cases
from zerolap.lab import Options, comparison_request, requests
from zerolap.lab.requests import packed
from zerolap.lab.selection import select_possible
from zerolap.records import (
    BASE,
    Abilities,
    ArchiveSource,
    Build,
    BuildDone,
    BuildJob,
    BuildSpec,
    Changes,
    EnvironmentMissing,
    Request,
    RequestedServer,
    Revision,
    UnknownChanges,
    UsageError,
    event_json,
    job_json,
    read_event,
    read_job,
    revision_of,
)
from zerolap.sandbox import SandboxPolicy, confinement, process
from zerolap.store import BlobDamaged, Blobs, open_blobs


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return open_blobs(None, tmp_path / "blobs")


def files_of(directory: Path) -> dict[str, str | bytes | None]:
    """Return all that is in a directory: the targets of links, the contents of files."""
    return {
        str(path.relative_to(directory)): (
            os.readlink(path) if path.is_symlink() else None if path.is_dir() else path.read_bytes()
        )
        for path in directory.rglob("*")
    }


# Sources


def test_a_revision_is_built_elsewhere_as_it_is_here(toy: ToySource, tmp_path: Path, blobs: Blobs) -> None:
    source = revision_source("first", toy.path, toy.first)
    archived = pack_source(source, blobs)
    assert (archived.form, archived.name, archived.commit) == ("tree", "first", toy.first)
    assert archived.content == toy.git("rev-parse", f"{toy.first}^{{tree}}")
    assert revision_of(archived) == source.revision
    here, elsewhere = Builder(tmp_path / "here"), Builder(tmp_path / "elsewhere", archives=blobs)
    assert elsewhere.spec(archived) == here.spec(source) == spec_of(archived, DEFAULT, tools_digest(DEFAULT))
    mine, theirs = here.build(source), elsewhere.build(archived)
    assert theirs.record == mine.record
    assert theirs.program.path.read_bytes() == mine.program.path.read_bytes()
    # Nothing of it is left but the build.
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == [mine.record.build]


def test_a_tree_is_built_elsewhere_as_it_is_here(compiler: None, tmp_path: Path, blobs: Blobs) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(SOURCE, tree)
    (tree / "src" / "left.o").write_text("left by a build")
    (tree / "include").symlink_to("src")
    archived = pack_source(tree_source("a tree", tree), blobs)
    assert (archived.revision, archived.commit) == (None, None)
    here, elsewhere = Builder(tmp_path / "here"), Builder(tmp_path / "elsewhere", archives=blobs)
    assert elsewhere.spec(archived) == here.spec(tree_source("a tree", tree))
    mine, theirs = here.build(tree_source("a tree", tree)), elsewhere.build(archived)
    assert theirs.program.path.read_bytes() == mine.program.path.read_bytes()


def request_of(toy: ToySource) -> Request:
    """A comparison of the toy's first commit with itself."""
    server = RequestedServer(source=revision_source("first", toy.path, toy.first))
    return comparison_request(server, server, core_suite()[:1], Options(engines=["counted"]))


def test_a_commit_that_is_built_is_not_packed_again(
    toy: ToySource, tmp_path: Path, blobs: Blobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    request, builder = request_of(toy), Builder(tmp_path / "builds", archives=blobs)
    once = packed(request, blobs, builder)
    source = once.servers[BASE].source
    assert isinstance(source, ArchiveSource)
    builder.build(source)
    with monkeypatch.context() as patched:
        patched.delattr(requests, "pack_source")
        assert packed(request, blobs, builder) == once
    blobs.remove(source.archive)
    assert packed(request, blobs, builder) == once
    assert blobs.has(source.archive)


def test_a_note_that_was_cut_short_is_no_archive(toy: ToySource, tmp_path: Path, blobs: Blobs) -> None:
    request, builder = request_of(toy), Builder(tmp_path / "builds", archives=blobs)
    once = packed(request, blobs, builder)
    source = once.servers[BASE].source
    assert isinstance(source, ArchiveSource)
    builder.builds.note_archive(builder.build(source).record.build, source.archive[:7])
    assert packed(request, blobs, builder) == once


def test_files_that_are_equal_in_two_trees_are_left_out(toy: ToySource, tmp_path: Path, blobs: Blobs) -> None:
    changed = toy.changed(("commands.c", '"PONG"', '"PING"'))
    sources = [pack_source(revision_source(commit, toy.path, commit), blobs) for commit in (toy.first, changed)]
    trees = [tmp_path / "first", tmp_path / "changed"]
    for tree in trees:
        tree.mkdir()
    unpack_what_differs(sources, blobs, trees)
    written = [[path.relative_to(tree) for path in tree.rglob("*") if path.is_file()] for tree in trees]
    assert written == [[Path("src/commands.c")]] * 2
    assert ["PONG" in (tree / "src" / "commands.c").read_text() for tree in trees] == [True, False]


def test_equal_trees_give_equal_archives(toy: ToySource, tmp_path: Path, blobs: Blobs) -> None:
    tree = tmp_path / "tree"
    (tree / "src").mkdir(parents=True)
    files = toy.git("ls-tree", "-r", "--name-only", toy.first).splitlines()
    toy.git("checkout", "--quiet", "--force", toy.first)
    # In another order, at another time, with other permissions.
    for name in reversed(files):
        shutil.copyfile(toy.path / name, tree / name)
        os.utime(tree / name, (1, 1))
        (tree / name).chmod(0o640)
    again = toy.commit("the same tree")
    sources = [revision_source("first", toy.path, toy.first), revision_source("again", toy.path, again)]
    archives = {pack_source(source, blobs).archive for source in sources}
    archives.add(pack_source(tree_source("tree", tree), blobs).archive)
    assert len(archives) == 1
    changed = revision_source("changed", toy.path, toy.changed(("commands.c", '"PONG"', '"PING"')))
    assert pack_source(changed, blobs).archive not in archives


def test_an_archive_holds_files_links_and_directories(compiler: None, tmp_path: Path, blobs: Blobs) -> None:
    tree = tmp_path / "tree"
    long_name = f"{'directory/' * 12}{'n' * 200}"
    shutil.copytree(SOURCE, tree)
    for name in ("run", "an empty file", long_name, "naïve"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text("" if "empty" in name else "#!/bin/sh\n")
    (tree / "run").chmod(0o700)
    (tree / "src" / "up").symlink_to("../run")
    (tree / "directory" / "over").symlink_to("../src/up")
    (tree / "dangling").symlink_to("./src/nothing")
    archived = pack_source(tree_source("tree", tree), blobs)
    target = tmp_path / "target"
    target.mkdir()
    unpacked = unpack_source(archived, blobs, target)
    assert unpacked == tree_source("tree", target)
    assert files_of(target) == files_of(tree)
    assert os.access(target / "run", os.X_OK)
    assert not os.access(target / "naïve", os.X_OK)
    # A Makefile must not find one file older than another.
    assert {path.stat().st_mtime for path in target.rglob("*") if path.is_file()} == {0}


def test_committed_settings_are_left_out(toy: ToySource, tmp_path: Path, blobs: Blobs) -> None:
    toy.git("checkout", "--quiet", "--force", toy.first)
    (toy.path / "src" / ".make-settings").write_text("OPT=-O0\n")
    source = revision_source("settings", toy.path, toy.commit("settings"))
    hostile = tar_of(("src", None), ("src/.make-settings", None), ("src/.make-settings/x", b""), ("src/x", b""))
    for number, archived in enumerate((pack_source(source, blobs), archive_of(hostile, blobs))):
        directory = tmp_path / str(number)
        directory.mkdir()
        unpack_source(archived, blobs, directory)
        assert not list(directory.rglob(".make-*"))
        assert files_of(directory)


def test_a_program_travels_and_is_confined(toy_program: Path, tmp_path: Path, blobs: Blobs) -> None:
    source = binary_source("my server", toy_program)
    archived = pack_source(source, blobs)
    assert (archived.form, archived.content, archived.archive) == (
        "program", hashlib.sha256(toy_program.read_bytes()).hexdigest(), archived.content,
    )  # fmt: skip
    here = Builder(tmp_path / "here")
    elsewhere = Builder(tmp_path / "elsewhere", archives=blobs)
    assert elsewhere.spec(archived) == here.spec(source) == spec_of(archived, DEFAULT, ())
    mine, theirs = here.build(source), elsewhere.build(archived)
    assert theirs.record == mine.record
    assert theirs.program.path.read_bytes() == toy_program.read_bytes()
    assert mine.program.policy is SandboxPolicy.UNSAFE
    assert theirs.program.policy is SandboxPolicy.REQUIRED
    assert elsewhere.builds.get(theirs.record.build).program.policy is SandboxPolicy.REQUIRED
    with pytest.raises(UsageError, match="is as it was built"):
        elsewhere.check(archived, parse_variant("-O1"))


def test_a_program_of_another_machine_does_not_start_without_a_sandbox(
    toy_program: Path, tmp_path: Path, blobs: Blobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confinement, "available", lambda: "bubblewrap is not installed")
    monkeypatch.setattr(process, "available", lambda: "bubblewrap is not installed")
    archived = pack_source(binary_source("my server", toy_program), blobs)
    with pytest.raises(EnvironmentMissing, match="starting `my server` needs a sandbox"):
        Builder(tmp_path / "builds", archives=blobs).build(archived)
    assert not (tmp_path / "builds").exists()


def test_another_program_than_was_sent(toy_program: Path, tmp_path: Path, blobs: Blobs) -> None:
    archived = pack_source(binary_source("my server", toy_program), blobs)
    other = archived.model_copy(update={"archive": blobs.put(b"\x7fELF something else")})
    with pytest.raises(UsageError, match="is another program"):
        Builder(tmp_path / "builds", archives=blobs).build(other)
    script = b"#!/bin/sh\necho v=1.0.0\n"
    named = ArchiveSource(
        name="a script", form="program", content=hashlib.sha256(script).hexdigest(), archive=blobs.put(script)
    )
    with pytest.raises(UsageError, match="`a script` is no"):
        Builder(tmp_path / "builds", archives=blobs).build(named)
    assert list((tmp_path / "builds").iterdir()) == []


def test_what_cannot_travel(toy_program: Path, tmp_path: Path, blobs: Blobs) -> None:
    command = binary_source("toy-server {socket}", toy_program, ("{socket}",))
    with pytest.raises(UsageError, match="is a start command") as raised:
        pack_source(command, blobs)
    assert "a revision" in raised.value.hint
    # Its paths would be those of the other machine.
    sent = pack_source(binary_source("toy", toy_program), blobs).model_copy(update={"arguments": ("--dir", "/etc")})
    with pytest.raises(UsageError, match="is a start command"):
        Builder(tmp_path / "builds", archives=blobs).build(sent)
    (tmp_path / "text").write_text("")
    with pytest.raises(UsageError, match="not an executable file"):
        pack_source(binary_source("text", tmp_path / "text"), blobs)
    with pytest.raises(UsageError, match="not a source tree that can be built"):
        pack_source(tree_source("empty", tmp_path), blobs)


def test_a_tree_with_a_link_that_leads_out_cannot_travel(compiler: None, tmp_path: Path, blobs: Blobs) -> None:
    shutil.copytree(SOURCE, tmp_path / "tree")
    (tmp_path / "tree" / "src" / "data").symlink_to("../../data")
    with pytest.raises(UsageError, match=r"`tree` cannot be sent .* the link `src/data` leads out of it") as raised:
        pack_source(tree_source("tree", tmp_path / "tree"), blobs)
    assert raised.value.hint


def test_a_commit_with_links_that_lead_out_is_built_here(toy: ToySource, tmp_path: Path, blobs: Blobs) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    toy.git("checkout", "--quiet", "--force", toy.first)
    (toy.path / "src" / "absolute").symlink_to(secret)
    (toy.path / "up").symlink_to("../../..")
    (toy.path / "src" / "nowhere").symlink_to("/nowhere")
    commit = toy.commit("links")
    source = revision_source("links", toy.path, commit)
    with pytest.raises(UsageError, match="cannot be sent to another machine") as raised:
        pack_source(source, blobs)
    assert "on this machine" in raised.value.hint
    packed = pack_source(source, blobs, travels=False)
    assert packed.links_lead_out
    (tmp_path / "tree").mkdir()
    unpack_source(packed, blobs, tmp_path / "tree")
    assert os.readlink(tmp_path / "tree" / "src" / "absolute") == str(secret)
    assert secret.read_text() == "secret"
    builder = Builder(tmp_path / "builds", archives=blobs)
    built = builder.build(packed)
    # Nothing that is read from the store later follows a link that leads out.
    assert builder.builds.archive_of(built.record.build) is None
    assert builder.builds.source_lines(built.record.build, [("absolute", 1), ("../up/etc/passwd", 1)], blobs) == {}
    with pytest.raises(UsageError, match="cannot be sent"):
        pack_source(packed, blobs)
    # What says that it has none is checked.
    with pytest.raises(UsageError, match="is refused"):
        Builder(tmp_path / "others", archives=blobs).build(packed.model_copy(update={"links_lead_out": False}))
    base = pack_source(revision_source("first", toy.path, toy.first), blobs, travels=False)
    assert not base.links_lead_out
    changes = changes_between(base, packed, blobs)
    assert isinstance(changes, Changes)
    assert {"src/absolute", "src/nowhere"} <= {file.new_file for file in changes.files}
    assert "secret" not in "".join(hunk.text for file in changes.files for hunk in file.hunks).replace(str(secret), "")


def test_a_tree_that_is_too_large_cannot_travel(
    compiler: None, tmp_path: Path, blobs: Blobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limits, reason in ((TarLimits(1 << 20, 3), "more than 3 files"), (TarLimits(1, 999), "more than 0 MiB")):
        monkeypatch.setattr(archive_module, "ARCHIVE_LIMITS", limits)
        with pytest.raises(UsageError, match=reason):
            pack_source(tree_source("tree", SOURCE), blobs)


def test_a_revision_with_endless_files_is_not_written_anywhere(
    toy: ToySource, blobs: Blobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = toy.git("rev-parse", f"{toy.first}^{{tree}}")
    for _ in range(10):
        entries = "".join(f"040000 tree {tree}\t{name}\n" for name in range(10))
        command = ["git", "-C", str(toy.path), "mktree"]
        tree = subprocess.run(command, input=entries, capture_output=True, text=True, check=True).stdout.strip()
    bomb = toy.git("commit-tree", "-m", "endless", tree)
    monkeypatch.setattr(commit_module, "_write", lambda *_: pytest.fail("it is exported"))
    monkeypatch.setattr(commit_module, "MOST_LISTED_BYTES", 1 << 20)
    with pytest.raises(UsageError, match=r"`bomb` cannot be exported from git: .* more than 1 MiB"):
        pack_source(revision_source("bomb", toy.path, bomb), blobs)
    for limits, reason in ((TarLimits(1 << 20, 3), "more than 3 files"), (TarLimits(1, 999), "more than 0 MiB")):
        monkeypatch.setattr(archive_module, "ARCHIVE_LIMITS", limits)
        with pytest.raises(UsageError, match=reason):
            pack_source(revision_source("first", toy.path, toy.first), blobs)


def test_a_large_revision_is_packed_without_being_in_memory(toy: ToySource, blobs: Blobs) -> None:
    toy.git("checkout", "--quiet", "--force", toy.first)
    with (toy.path / "src" / "large").open("wb") as file:
        file.truncate(128 << 20)
    source = revision_source("large", toy.path, toy.commit("a large file"))
    tracemalloc.start()
    try:
        pack_source(source, blobs)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


def test_files_that_are_not_there(toy: ToySource, tmp_path: Path, blobs: Blobs) -> None:
    archived = pack_source(revision_source("first", toy.path, toy.first), blobs)
    with pytest.raises(EnvironmentMissing, match="the files of `first` are not on this machine"):
        Builder(tmp_path / "builds").build(archived)
    with pytest.raises(BlobDamaged):
        Builder(tmp_path / "builds", archives=open_blobs(None, tmp_path / "others")).build(archived)


def test_a_source_that_travels_already_is_as_it_is(blobs: Blobs) -> None:
    archived = ArchiveSource(name="sent", form="tree", content="1", archive="2")
    assert pack_source(archived, blobs) is archived


# Hostile archives


def tar_of(*members: tuple[str, bytes | str | None] | tarfile.TarInfo) -> bytes:
    """Return a tar of files (bytes), links (their targets) and directories (None), or of what is given ready-made."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                tar.addfile(member, io.BytesIO(b"x" * member.size) if member.isreg() else None)
                continue
            name, content = member
            info = tarfile.TarInfo(name)
            if isinstance(content, bytes):
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
                continue
            info.type = tarfile.DIRTYPE if content is None else tarfile.SYMTYPE
            info.linkname = content or ""
            tar.addfile(info)
    return file.getvalue()


def member(kind: bytes, name: str = "member", target: str = "", size: int = 0) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, target, size
    return info


def archive_of(tar: bytes, blobs: Blobs) -> ArchiveSource:
    return ArchiveSource(name="hostile", form="tree", content="0" * 40, archive=blobs.put(tar))


def with_size(tar: bytes, size: bytes) -> bytes:
    """Return a tar whose first header has another field for its size."""
    header = bytearray(tar[:512])
    header[124:136] = size
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + tar[512:]


HOSTILE = {
    "absolute": tar_of(("/tmp/zerolap-hostile", b"x")),
    "above": tar_of(("../above", b"x")),
    "above later": tar_of(("a", None), ("a/../../above", b"x")),
    "here": tar_of(("./a", b"x")),
    "no name": tar_of(("", b"x")),
    "link out": tar_of(("link", "../outside")),
    "absolute link": tar_of(("link", "/etc/passwd")),
    "link out by another": tar_of(("a", None), ("a/up", ".."), ("out", "a/up/../../outside")),
    "link out of a directory": tar_of(("a", None), ("a/link", "../../outside")),
    "through a link": tar_of(("link", "."), ("link/file", b"x")),
    "through a link to a directory": tar_of(("a", None), ("link", "a"), ("link/file", b"x")),
    "link in the place of a directory": tar_of(("a", None), ("a/file", b"x"), ("a", ".")),
    "link in the place of a file": tar_of(("a", b"x"), ("a", "b")),
    "link twice": tar_of(("a", "b"), ("a", "c")),
    "file twice": tar_of(("a", b"x"), ("a", b"y")),
    "file as a directory": tar_of(("a", b"x"), ("a/b", b"y")),
    "without its directory": tar_of(("a/b", b"y")),
    "hard link": tar_of(("a", b"x"), member(tarfile.LNKTYPE, target="a")),
    "hard link out": tar_of(member(tarfile.LNKTYPE, target="/etc/passwd")),
    "character device": tar_of(member(tarfile.CHRTYPE)),
    "block device": tar_of(member(tarfile.BLKTYPE)),
    "pipe": tar_of(member(tarfile.FIFOTYPE)),
    "sparse file": tar_of(member(tarfile.GNUTYPE_SPARSE)),
    "extended header": tar_of(member(tarfile.XHDTYPE)),
    "long name": tar_of(("n" * 256, b"x")),
    "long path": tar_of(("/".join("n" * 600), b"x")),
    "long link": tar_of(("link", "t" * 2000)),
    "huge": with_size(tar_of(("a", b"x")), b"77777777777\0"),
    "huge, of binary size": with_size(tar_of(("a", b"x")), b"\x80" + b"\0" * 3 + b"\x7f" * 8),
    "of negative size": with_size(tar_of(("a", b"x")), b"\xff" * 11 + b"\xf0"),
    "cut off": tar_of(("a", b"x" * 2000))[:1024],
    "cut off after a member": tar_of(("a", b"x"))[:1024],
    "no tar": b"\x7fELF" * 500,
    "compressed": gzip.compress(tar_of(("a", b"x"))),
    "empty": b"",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives_are_refused(name: str, tmp_path: Path, blobs: Blobs) -> None:
    inside = tmp_path / "around" / "inside"
    inside.mkdir(parents=True)
    with pytest.raises(UsageError, match="the archive of `hostile` is refused"):
        unpack_source(archive_of(HOSTILE[name], blobs), blobs, inside)
    assert [path.name for path in (tmp_path / "around").iterdir()] == ["inside"]
    assert not Path("/tmp/zerolap-hostile").exists()
    assert not [path for path in inside.rglob("*") if path.is_symlink() and not path.resolve().is_relative_to(inside)]
    with pytest.raises(UsageError, match="is refused"):
        Builder(tmp_path / "builds", archives=blobs, policy=SandboxPolicy.UNSAFE).build(
            archive_of(HOSTILE[name], blobs)
        )
    assert list((tmp_path / "builds").iterdir()) == []


def test_archives_of_more_than_is_allowed_are_refused(tmp_path: Path) -> None:
    tar = tar_of(("a", b"x" * 600), ("b", b"x" * 600))
    for number, (limits, reason) in enumerate(
        ((TarLimits(1199, 2), "more than 0 MiB"), (TarLimits(1200, 1), "more than 1 files"))
    ):
        directory = tmp_path / str(number)
        directory.mkdir()
        with pytest.raises(TarRefused, match=reason):
            unpack_tar(io.BytesIO(tar), directory, limits)
    (tmp_path / "whole").mkdir()
    unpack_tar(io.BytesIO(tar), tmp_path / "whole", TarLimits(1200, 2))
    assert files_of(tmp_path / "whole") == {"a": b"x" * 600, "b": b"x" * 600}


def test_damaged_archives_are_refused_or_stay_inside(tmp_path: Path) -> None:
    """Any bytes in any place: nothing but `TarRefused` comes out, and nothing is written elsewhere."""
    generator = random.Random(7)
    tar = tar_of(("a", None), ("a/file", b"x" * 700), ("a/link", "../b"), ("b", b"y"), ("n" * 150, b"z"))[:6144]
    around = tmp_path / "around"
    for number in range(400):
        damaged = bytearray(tar)
        for _ in range(generator.randint(1, 4)):
            at = generator.randrange(len(damaged))
            damaged[at : at + generator.randint(0, 3)] = generator.randbytes(generator.randint(0, 3))
        if number % 2:
            # With sums that are right: only then are the other fields looked at.
            for start in range(0, len(damaged) - 511, 512):
                header = damaged[start : start + 512]
                header[148:156] = b" " * 8
                damaged[start + 148 : start + 156] = b"%06o\0 " % sum(header)
        directory = around / "inside"
        directory.mkdir(parents=True)
        try:
            unpack_tar(io.BytesIO(bytes(damaged)), directory, TarLimits(1 << 20, 100))
        except TarRefused as reason:
            str(reason).encode()
        assert [path.name for path in around.iterdir()] == ["inside"]
        for path in directory.rglob("*"):
            assert not path.is_symlink() or Path(os.path.normpath(path.parent / os.readlink(path))).is_relative_to(
                directory
            )
        shutil.rmtree(around)


# Builds


@pytest.fixture
def made(toy: ToySource, tmp_path: Path) -> BuiltServer:
    builder = Builder(tmp_path / "builder")
    built = builder.build(revision_source("first", toy.path, toy.first))
    assert builder.builds.relinking(built.record.build).failure == ""
    return built


def test_a_build_is_used_elsewhere_as_where_it_was_made(made: BuiltServer, tmp_path: Path) -> None:
    digest = made.record.build
    builder, bench = Builds(tmp_path / "builder"), Builds(tmp_path / "bench")
    builder.placed(digest, 1)
    packed = pack_build(builder, digest)
    assert pack_build(builder, digest) == packed
    unpacked = unpack_build(bench, digest, packed)
    assert unpacked == bench.find(digest)
    assert unpacked.record == made.record
    assert unpacked.program.policy is SandboxPolicy.REQUIRED
    assert unpacked.program.path.read_bytes() == made.program.path.read_bytes()
    # Neither objects nor placements travel, and nothing else is left there.
    assert {path.name for path in (tmp_path / "bench" / digest).iterdir()} == {
        "build.json", "server", "relinking.json", "code.o", "confined",
    }  # fmt: skip
    assert [path.name for path in (tmp_path / "bench").iterdir()] == [digest]
    assert bench.placed(digest, 1).path.read_bytes() == builder.placed(digest, 1).path.read_bytes()
    assert bench.placed(digest, 2).path.read_bytes() != bench.placed(digest, 1).path.read_bytes()
    printed = subprocess.run([str(unpacked.program.path), "--version"], capture_output=True, text=True, check=True)
    assert "1.0.0" in printed.stdout
    # What is there is not replaced, whatever comes.
    assert unpack_build(bench, digest, b"nothing") == unpacked


def test_a_program_is_packed_as_a_build_and_confined(toy_program: Path, tmp_path: Path) -> None:
    builder, bench = Builder(tmp_path / "builder"), Builds(tmp_path / "bench")
    built = builder.build(binary_source("toy", toy_program))
    assert built.program.policy is SandboxPolicy.UNSAFE
    unpacked = unpack_build(bench, built.record.build, pack_build(builder.builds, built.record.build))
    assert unpacked.record == built.record
    assert unpacked.program.policy is SandboxPolicy.REQUIRED
    assert bench.relinking(built.record.build) == builder.builds.relinking(built.record.build)


def test_builds_that_cannot_travel(toy_program: Path, tmp_path: Path) -> None:
    builder = Builder(tmp_path)
    built = builder.build(binary_source("toy", toy_program, ("--unixsocket", "{socket}")))
    with pytest.raises(UsageError, match="cannot be sent to another machine"):
        pack_build(builder.builds, built.record.build)
    with pytest.raises(EnvironmentMissing, match="is not on this machine"):
        pack_build(builder.builds, "b-" + "0" * 32)


Edit = Callable[[dict[str, bytes | str | None]], None]


def edited(packed: bytes, *edits: Edit) -> bytes:
    """Return a packed build with other members."""
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:gz") as tar:
        members: dict[str, bytes | str | None] = {}
        for info in tar:
            content = tar.extractfile(info)
            assert content is not None
            members[info.name] = content.read()
    for edit in edits:
        edit(members)
    return gzip.compress(tar_of(*members.items()))


def document_with(name: str, **changes: object) -> Edit:
    def edit(members: dict[str, bytes | str | None]) -> None:
        document = members[name]
        assert isinstance(document, bytes)
        members[name] = json.dumps(json.loads(document) | changes).encode()

    return edit


def member_with(name: str, content: bytes | str | None) -> Edit:
    return lambda members: members.update({name: content})


def without(name: str) -> Edit:
    def edit(members: dict[str, bytes | str | None]) -> None:
        del members[name]

    return edit


FORGED: dict[str, tuple[Edit, str]] = {
    "digest": (document_with("build.json", build="b-" + "1" * 32), "it says that it is the build b-111"),
    "path": (document_with("build.json", path="/usr/bin/true"), "has a start command"),
    "arguments": (document_with("build.json", arguments=["--dir", "/etc"]), "has a start command"),
    "variant": (document_with("build.json", variant=""), "it was not built from source"),
    "unknown field": (document_with("build.json", policy="unsafe"), "policy"),
    "record": (member_with("build.json", b"[]"), "is refused"),
    "large record": (member_with("build.json", b" " * (2 << 20)), "more than 1 MiB"),
    "no record": (without("build.json"), "`build.json` is missing"),
    "no program": (without("server"), "has no program"),
    "program is a link": (member_with("server", "code.o"), "`server` does not belong"),
    "record is a directory": (member_with("build.json", None), "`build.json` does not belong"),
    "object is a link": (member_with("code.o", "server"), "`code.o` does not belong"),
    "no object": (without("code.o"), "has no object"),
    "placement": (
        lambda members: members.update({"placed-0000000000000001": members.pop("code.o")}),
        "`placed-0000000000000001` does not belong",
    ),
    "more files": (member_with("more", b""), "more than 4 files"),
    "compiler": (document_with("relinking.json", compiler="/bin/sh"), "by another program than a compiler"),
    "sections": (document_with("relinking.json", sections=["*) } INCLUDE /etc/passwd /*"]), "other sections"),
    "relinking": (member_with("relinking.json", b"{"), "is refused"),
}


@pytest.fixture(scope="module")
def packed_build(first_toy: ToySource, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, bytes]:
    """A packed build, and its digest."""
    builder = Builder(tmp_path_factory.mktemp("builder"))
    digest = builder.build(revision_source("first", first_toy.path, first_toy.first)).record.build
    return digest, pack_build(builder.builds, digest)


@pytest.mark.parametrize("name", FORGED)
def test_forged_builds_are_refused(name: str, packed_build: tuple[str, bytes], tmp_path: Path) -> None:
    edit, reason = FORGED[name]
    digest, content = packed_build
    with pytest.raises(UsageError, match="is refused") as raised:
        unpack_build(Builds(tmp_path / "bench"), digest, edited(content, edit))
    assert reason in raised.value.message
    assert list((tmp_path / "bench").iterdir()) == []


def test_builds_that_are_no_packed_builds_are_refused(
    made: BuiltServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest, bench = made.record.build, Builds(tmp_path / "bench")
    packed = pack_build(Builds(tmp_path / "builder"), digest)
    damaged = [b"", b"nothing", packed[: len(packed) // 2], packed[:100] + b"?" + packed[101:], gzip.decompress(packed)]
    for content in damaged:
        with pytest.raises(UsageError, match=f"the received build {digest} is refused"):
            unpack_build(bench, digest, content)
    for wrong in ("../elsewhere", "b-0", ""):
        with pytest.raises(UsageError, match="is not the digest of a build"):
            unpack_build(bench, wrong, packed)
    monkeypatch.setattr(artifact_module, "LIMITS", TarLimits(1 << 10, 4))
    with pytest.raises(UsageError, match="more than"):
        unpack_build(bench, digest, packed)
    assert list((tmp_path / "bench").iterdir()) == []


def test_what_claims_to_be_the_users_program_is_confined(tmp_path: Path) -> None:
    """Also where the claim holds: who gave the program gave it to another machine."""
    program = b"#!/bin/sh\necho v=1.0.0\n"
    digest = BuildSpec(content=hashlib.sha256(program).hexdigest()).digest
    record = Build(build=digest, version="1.0.0", build_id="", flags="")
    packed = gzip.compress(tar_of(("build.json", record.model_dump_json().encode()), ("server", program)))
    bench = Builds(tmp_path)
    assert unpack_build(bench, digest, packed).program.policy is SandboxPolicy.REQUIRED
    assert os.access(bench.get(digest).program.path, os.X_OK)
    allowed = Builds(tmp_path, SandboxPolicy.UNSAFE)
    assert allowed.get(digest).program.policy is SandboxPolicy.UNSAFE


# Changes


def test_changes_between_archives_are_those_between_the_revisions(toy: ToySource, blobs: Blobs) -> None:
    toy.git("checkout", "--quiet", "--force", toy.first)
    toy.git("mv", "src/table.c", "src/a table.c")
    toy.replace("commands.c", '"PONG"', '"PING"')
    (toy.path / "src" / "new.c").write_text("int added;\n")
    head = revision_source("head", toy.path, toy.commit("moved"))
    base = revision_source("base", toy.path, toy.first)
    expected = changes_between(base, head)
    assert isinstance(expected, Changes)
    assert [file.new_file for file in expected.files] == ["src/commands.c", "src/new.c"]
    archives = pack_source(base, blobs), pack_source(head, blobs)
    assert changes_between(*archives, blobs) == expected
    same = changes_between(archives[0], archives[0], blobs)
    assert same == Changes(files=[])


def test_archives_that_cannot_be_compared(toy: ToySource, toy_program: Path, tmp_path: Path, blobs: Blobs) -> None:
    tree = pack_source(revision_source("first", toy.path, toy.first), blobs)
    program = pack_source(binary_source("toy", toy_program), blobs)
    assert isinstance(changes_between(tree, tree), UnknownChanges)
    assert isinstance(changes_between(tree, program, blobs), UnknownChanges)
    assert isinstance(changes_between(program, program, blobs), UnknownChanges)
    assert isinstance(changes_between(tree, tree, open_blobs(None, tmp_path / "others")), UnknownChanges)
    assert isinstance(changes_between(tree, revision_source("first", toy.path, toy.first), blobs), UnknownChanges)


# Tools


def test_tools_are_announced_by_compiler(compiler: None) -> None:
    announced = all_tools()
    assert announced["cc"] == tuple(tools_digest(DEFAULT))
    for name in announced:
        variant = DEFAULT if name == "cc" else parse_variant(f"{name},-O2,-flto")
        tools = tools_of(variant, announced)
        assert tools == tuple(tools_digest(variant))
        assert tools is not None
        assert tools[0] == os.uname().machine
    # As it comes from JSON.
    assert tools_of(DEFAULT, json.loads(json.dumps(announced))) == announced["cc"]
    assert tools_of(Variant(compiler="clang-99"), announced) is None


def test_a_build_of_another_architecture_is_another_build() -> None:
    source = ArchiveSource(name="first", form="tree", content="4b825dc6", archive="0" * 64)
    specs = [spec_of(source, DEFAULT, (machine, "gcc 12")) for machine in ("x86_64", "aarch64")]
    assert specs[0].digest != specs[1].digest
    program = source.model_copy(update={"form": "program"})
    assert spec_of(program, DEFAULT, ("x86_64", "gcc 12")) == spec_of(program, DEFAULT, ())


# Records


def test_a_job_and_what_comes_of_it_are_read_as_they_were_written() -> None:
    source = ArchiveSource(
        name="first",
        form="tree",
        content="4b825dc6",
        archive="0" * 64,
        revision=Revision(repository="redis", commit="1" * 40, parents=("2" * 40,)),
    )
    job = BuildJob(request="c-1", source=source, variant="default", spec=spec_of(source, DEFAULT, ("x86_64", "gcc 12")))
    assert read_job(job_json(job)) == job
    abilities = Abilities(commands=frozenset({"SET", "GET", "DEL"}), settings=frozenset({"save", "dir"}))
    build = Build(build=job.spec.digest, version="1.0.0", build_id="", flags="-O2")
    done = BuildDone(job=job.id, build=build, artifact="1" * 64, abilities=abilities)
    assert read_event(event_json(done)) == done
    assert json.loads(event_json(done))["abilities"] == {"commands": ["DEL", "GET", "SET"], "settings": ["dir", "save"]}


def test_abilities_of_several_servers() -> None:
    base = Abilities(commands=frozenset({"GET", "SET"}), settings=frozenset({"dir", "save"}))
    head = Abilities(commands=frozenset({"GET", "NEW"}), settings=frozenset({"dir", "new"}))
    assert base.together_with(head) == Abilities(commands=frozenset({"GET", "SET", "NEW"}), settings=frozenset({"dir"}))


def test_servers_are_not_started_where_nothing_depends_on_them() -> None:
    def abilities() -> Abilities:
        raise AssertionError("a server was started")

    assert select_possible([], abilities, quick=False).cases == []


def test_cases_are_selected_for_another_machine() -> None:
    cases = load_cases(Path("geo"))
    none = Abilities(commands=frozenset(), settings=frozenset())
    skipped = select_possible(cases, none, quick=False, memory_bytes=4 << 30).skipped
    assert [(one.case, one.reason) for one in skipped] == [
        (f"{name}-60M", "memory") for name in ("geodist", "geosearch-radius", "geosearch-box")
    ]
    assert select_possible(cases, none, quick=False, memory_bytes=1 << 40).skipped == []
