"""What names on the command line stand for, how trees are built, copied and compared."""

import io
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sources import binary_source, revision_source, tree_source
from toy_server import NOTED, RULE, ToySource
from waiting import BUILD_PATIENCE_SECONDS, command_lines, wait_until

from zerolap.build import (
    Builder,
    Builds,
    builder as builder_module,
    changes_between,
    enclosing_repository,
    git,
    kept_tree,
    pack_source,
    parse_variant,
    recipe,
    resolve,
)
from zerolap.build.builder import BuiltServer
from zerolap.build.recipe import recipe_for
from zerolap.build.source import content_digest, export
from zerolap.build.source_changes import DiffLimits, DiffReader, parse_diff
from zerolap.records import (
    BuildFailed,
    Changes,
    EndpointSource,
    EnvironmentMissing,
    FileChange,
    MeasuredServer,
    RevisionSource,
    Source,
    UnknownChanges,
    UsageError,
)
from zerolap.sandbox import Limits, SandboxPolicy, available, confined_reader, confinement, process
from zerolap.store import open_blobs

# Names


def is_commit(source: Source, name: str, toy: ToySource, commit: str) -> bool:
    """Whether a source is this commit of the toy's repository."""
    assert isinstance(source, RevisionSource)
    return (source.name, source.repository, source.commit) == (name, toy.path.resolve(), commit)


def test_an_endpoint_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert resolve("tcp://localhost:6379", None) == EndpointSource(name="tcp://localhost:6379")
    assert resolve("unix:///run/redis.sock", tmp_path) == EndpointSource(name="unix:///run/redis.sock")


def test_a_path_goes_before_a_revision(toy: ToySource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert is_commit(resolve("HEAD", toy.path), "HEAD", toy, toy.git("rev-parse", "HEAD"))
    (tmp_path / "HEAD").mkdir()
    with pytest.warns(UserWarning, match=r"taken for the path, and is also the revision .* write \./HEAD"):
        assert resolve("HEAD", toy.path) == tree_source("HEAD", tmp_path / "HEAD")
    assert resolve("./HEAD", toy.path) == tree_source("./HEAD", tmp_path / "HEAD")


def test_a_revision_goes_before_a_program(toy: ToySource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "v1"
    program.parent.mkdir()
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    assert resolve("v1", toy.path) == binary_source("v1", program)
    toy.git("tag", "--force", "v1", toy.first)
    with pytest.warns(UserWarning, match=f"taken for the revision {toy.first[:12]} .* also the program {program}"):
        assert is_commit(resolve("v1", toy.path), "v1", toy, toy.first)
    assert resolve("v1", None) == binary_source("v1", program)


def test_repository_at_revision(toy: ToySource) -> None:
    name = f"{toy.path}@{toy.first[:10]}"
    assert is_commit(resolve(name, None), name, toy, toy.first)
    with pytest.raises(UsageError, match=f"no revision `nothing` in the repository `{toy.path}`"):
        resolve(f"{toy.path}@nothing", None)


def test_a_revision_comes_with_what_git_knows_of_it(toy: ToySource) -> None:
    head = toy.commit("a subject: with\n\na body")
    source = resolve(head[:12], toy.path)
    assert isinstance(source, RevisionSource)
    [parent] = source.revision.parents
    assert parent == toy.git("rev-parse", f"{head}^")
    assert source.revision.subject == "a subject: with"
    assert source.revision.author == toy.git("show", "-s", "--format=%an", head)
    assert source.revision.repository == str(toy.path.resolve())
    # ISO 8601 in UTC.
    assert datetime.fromisoformat(source.revision.time).timestamp() == int(toy.git("show", "-s", "--format=%ct", head))
    assert datetime.fromisoformat(source.revision.time).utcoffset() == timedelta(0)
    root = resolve(toy.first, toy.path)
    assert isinstance(root, RevisionSource)
    assert (root.revision.parents, root.revision.subject) == ((), "first")


def test_a_program_keeps_the_name_of_its_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian's redis-server is a link to a program that goes by its name."""
    (tmp_path / "several").write_text("")
    (tmp_path / "several").chmod(0o755)
    (tmp_path / "one-server").symlink_to("several")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert resolve("one-server", None) == binary_source("one-server", tmp_path / "one-server")
    monkeypatch.chdir(tmp_path)
    assert resolve("./one-server", None) == binary_source("./one-server", tmp_path / "one-server")


def test_a_repository_that_git_does_not_trust(compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a directory to another user")
    source = ToySource(tmp_path / "source")
    # A machine may be set to trust all.
    monkeypatch.setattr(git, "kept_settings", dict)
    for path in (source.path, source.path / ".git"):
        os.chown(path, 12345, 12345)
    with pytest.raises(UsageError, match="not a git repository that can be read") as raised:
        resolve("HEAD", source.path)
    assert "ownership" in raised.value.message
    assert raised.value.hint == f"git config --global --add safe.directory {source.path}"
    # In such a checkout too.
    monkeypatch.chdir(source.path)
    assert enclosing_repository() is None
    with pytest.raises(UsageError, match="ownership"):
        resolve("HEAD", enclosing_repository())


def test_all_that_was_tried_is_named(toy: ToySource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError) as raised:
        resolve("nothing", toy.path)
    order = ["no file, directory or program on the PATH", "no revision `nothing`", str(toy.path)]
    message = raised.value.message
    assert [part for part in sorted(order, key=message.find) if part in message] == order
    assert not raised.value.details
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="no git repository is given") as raised:
        resolve("nothing", None)
    assert "--repo" in raised.value.hint


def test_a_revision_that_looks_like_an_option(toy: ToySource) -> None:
    with pytest.raises(UsageError, match="names no server"):
        resolve("--exec=true", toy.path)


# Recipes


@pytest.mark.parametrize(
    ("makefile", "program"),
    [
        ("REDIS_SERVER_NAME=redis-server$(PROG_SUFFIX)\n", "redis-server"),
        ("PROG_SUFFIX=\nREDIS_SERVER_NAME=redis-server$(PROG_SUFFIX)\n", "redis-server"),
        ("ENGINE_NAME=valkey\nSERVER_NAME=$(ENGINE_NAME)-server$(PROG_SUFFIX)\n", "valkey-server"),
        ("ENGINE_NAME := valkey\nSERVER_NAME ?= ${ENGINE_NAME}-server\n", "valkey-server"),
        ("REDIS_SERVER_NAME= keydb-server\n", "keydb-server"),
        ("all:\n\techo\n", "redis-server"),
    ],
)
def test_recipe_of_a_makefile(tmp_path: Path, makefile: str, program: str) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "server.c").write_text("")
    (tmp_path / "src" / "Makefile").write_text(makefile)
    recipe = recipe_for("a tree", tmp_path, jobs=3)
    assert recipe.command == ("make", "-j3", program)
    assert (recipe.directory, recipe.program) == (Path("src"), Path("src") / program)


def test_no_recipe(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a source tree that can be built"):
        recipe_for("a tree", tmp_path, jobs=1)


# Copies


def files_of(directory: Path) -> set[str]:
    return {str(path.relative_to(directory)) for path in directory.rglob("*") if not path.is_dir()}


@pytest.mark.parametrize("with_git", [True, False])
def test_a_tree_is_copied_without_what_builds_leave(compiler: None, tmp_path: Path, with_git: bool) -> None:
    tree = tmp_path / "tree"
    (tree / "src").mkdir(parents=True)
    kept = ["src/server.c", "src/new file.c", "README"]
    left = ["src/server.o", "src/libx.a", "src/server.d", "src/.make-settings", "src/server.gcno"]
    for name in kept + left:
        (tree / name).write_text(name)
    (tree / "link").symlink_to("src/server.c")
    if with_git:
        subprocess.run(["git", "init", "--quiet", str(tree)], check=True)
        (tree / ".gitignore").write_text("ignored\n")
        (tree / "ignored").write_text("")
        kept.append(".gitignore")
    target = tmp_path / "target"
    target.mkdir()
    export(tree_source("tree", tree), target)
    assert files_of(target) == {*kept, "link"}
    assert (target / "link").is_symlink()
    before = content_digest(tree_source("tree", tree))
    (tree / "src" / "server.o").write_text("built again")
    assert content_digest(tree_source("tree", tree)) == before
    (tree / "README").write_text("changed")
    assert content_digest(tree_source("tree", tree)) != before


def test_a_revision_is_copied_as_it_was_committed(toy: ToySource, tmp_path: Path) -> None:
    (toy.path / "src" / "server.o").write_text("")
    source = revision_source("first", toy.path, toy.first)
    export(source, tmp_path)
    assert files_of(tmp_path) == set(toy.git("ls-tree", "-r", "--name-only", toy.first).splitlines())
    assert content_digest(source) == toy.git("rev-parse", f"{toy.first}^{{tree}}")
    inside = tmp_path / "from inside"
    inside.mkdir()
    export(revision_source("first", toy.path / "src", toy.first), inside)
    assert (inside / "src" / "server.c").exists()
    (toy.path / "src" / "server.o").unlink()
    with pytest.raises(BuildFailed):
        export(revision_source("gone", toy.path, "0" * 40), tmp_path)


# Builds


def test_a_source_is_built_once(toy: ToySource, tmp_path: Path) -> None:
    announced: list[str] = []
    builder = Builder(tmp_path / "builds", announced.append)
    built = builder.build(revision_source("first", toy.path, toy.first))
    again = builder.build(revision_source("the same", toy.path, toy.first))
    assert announced == ["first"]
    assert built.record.build == again.record.build
    assert (built.record.version, built.record.stripped) == ("1.0.0", False)
    assert MeasuredServer.of(built.record, revision_source("first", toy.path, toy.first), {}).commit == toy.first
    assert "-O2" in built.record.flags.split()
    assert built.program.path == tmp_path / "builds" / built.record.build / "server"
    assert [path.name for path in (tmp_path / "builds").iterdir()] == [built.record.build]


def test_a_damaged_artifact_is_built_again(toy: ToySource, tmp_path: Path) -> None:
    builder = Builder(tmp_path)
    built = builder.build(revision_source("first", toy.path, toy.first))
    (built.program.path.parent / "build.json").unlink()
    built.program.path.unlink()
    again = builder.build(revision_source("first", toy.path, toy.first))
    assert again.program.path.exists()


def test_a_build_sees_neither_network_nor_the_users_files(toy: ToySource, tmp_path: Path) -> None:
    if (reason := available()) is not None:
        pytest.skip(f"no sandbox: {reason}")
    secret = tmp_path / "secret"
    secret.write_text("")
    probe = f"@test ! -e {secret}\n\t@test -z \"$$SECRET\"\n\t@! grep -q ' 00000000' /proc/net/route\n\t"
    edit = ("Makefile", "\t$(CC) -g -o $@ $(OBJECTS)", f"\t{probe}$(CC) -g -o $@ $(OBJECTS)")
    head = toy.changed(edit)
    os.environ["SECRET"] = "1"
    try:
        assert Builder(tmp_path / "builds").build(revision_source("probe", toy.path, head)).program.path.exists()
    finally:
        del os.environ["SECRET"]


HOST_SERVER = "/usr/bin/true"
LINK = "\t$(CC) -g -o $@ $(OBJECTS)"


def named(name: str) -> tuple[str, str, str]:
    return ("Makefile", "SERVER_NAME=toy-server\n", f"SERVER_NAME={name}\n")


@pytest.mark.parametrize("name", [HOST_SERVER, "../../../usr/bin/true", "..", ".", "--version", "CC=true"])
def test_a_makefile_that_names_a_server_elsewhere(toy: ToySource, tmp_path: Path, name: str) -> None:
    head = toy.changed(named(name))
    with pytest.raises(BuildFailed, match="which is not a file of the tree"):
        Builder(tmp_path).build(revision_source("elsewhere", toy.path, head))
    assert list(tmp_path.iterdir()) == []


def test_a_build_that_leaves_a_link(toy: ToySource, tmp_path: Path) -> None:
    head = toy.changed(("Makefile", LINK, f"\tln -s {HOST_SERVER} $@"))
    with pytest.raises(BuildFailed, match="`src/toy-server` in its tree is a symbolic link"):
        Builder(tmp_path).build(revision_source("a link", toy.path, head))
    assert list(tmp_path.iterdir()) == []


def test_a_build_that_leaves_a_link_to_a_directory(toy: ToySource, tmp_path: Path) -> None:
    link = ("Makefile", LINK, "\tln -s /usr/bin bin")
    head = toy.changed(("Makefile", "SERVER_NAME=toy-server\n", "SERVER_NAME=bin/true\n"), link)
    with pytest.raises(BuildFailed, match="`src/bin` in its tree is a symbolic link"):
        Builder(tmp_path).build(revision_source("a link", toy.path, head))


@pytest.mark.parametrize("made", ["mkfifo $@", "mkdir $@", "true"])
def test_a_build_that_leaves_no_file(toy: ToySource, tmp_path: Path, made: str) -> None:
    head = toy.changed(("Makefile", LINK, f"\t{made}"))
    with pytest.raises(BuildFailed, match="`src/toy-server`"):
        Builder(tmp_path).build(revision_source("no file", toy.path, head))


@pytest.mark.parametrize("link", ["src", "src/Makefile", "src/.make-settings"])
def test_a_tree_whose_links_lead_out_of_it(tmp_path: Path, link: str) -> None:
    outside, tree = tmp_path / "outside", tmp_path / "tree"
    (tree / "src").mkdir(parents=True)
    for name in ("server.c", "Makefile"):
        (tree / "src" / name).write_text("include .make-settings\n")
    if (tree / link).exists():
        (tree / link).rename(outside)
    (tree / link).symlink_to(outside)
    before = outside.read_text() if outside.is_file() else None
    with pytest.raises((BuildFailed, UsageError)):
        Builder(tmp_path / "builds").build(tree_source("links", tree), parse_variant("-O1"))
    assert not (outside / ".make-settings").exists()
    assert (outside.read_text() if outside.is_file() else None) == before


GENEROUS = Limits(memory_bytes=512 << 20, processes=64, disk_bytes=64 << 20, seconds=2 * BUILD_PATIENCE_SECONDS)


@pytest.mark.slow
@pytest.mark.skipif(available() is not None, reason=f"no sandbox: {available()}")
@pytest.mark.parametrize(
    ("hostile", "limits", "named"),
    [
        ("tail /dev/zero", replace(GENEROUS, memory_bytes=64 << 20), "64 MiB of memory"),
        ("for n in $$(seq 99); do sleep 60 & done; wait; exit 1", GENEROUS, "64 processes"),
        ("head -c 65M /dev/zero > large", GENEROUS, "64 MiB of disk space"),
        ("while true; do head -c 1M /dev/zero >> large; cp large large-$$(date +%N); done", GENEROUS, "of disk space"),
        ("while true; do :; done", replace(GENEROUS, seconds=3), "its limit of 3 s"),
    ],
    ids=["memory", "processes", "file", "files", "time"],
)
def test_a_build_that_takes_too_much_fails_alone(
    toy: ToySource, tmp_path: Path, hostile: str, limits: Limits, named: str
) -> None:
    head = toy.changed(("Makefile", LINK, f"\t@{hostile}"))
    with pytest.raises(BuildFailed, match=f"`hostile` does not build: it reached .*{named}"):
        Builder(tmp_path, limits=limits).build(revision_source("hostile", toy.path, head))
    assert list(tmp_path.iterdir()) == []
    assert Builder(tmp_path, limits=GENEROUS).build(revision_source("first", toy.path, toy.first)).program.path.exists()


def test_a_daemon_does_not_outlive_its_build(toy: ToySource, tmp_path: Path) -> None:
    """It could put another file in the place of the program later."""
    if (reason := available()) is not None:
        pytest.skip(f"no sandbox: {reason}")
    seconds = f"{1000 + os.getpid()}.25"
    head = toy.changed(("Makefile", LINK, f"{LINK}\n\tsetsid sleep {seconds} > /dev/null 2>&1 &"))
    assert Builder(tmp_path).build(revision_source("daemon", toy.path, head)).program.path.exists()
    wait_until(lambda: f"sleep {seconds} " not in command_lines().values())


def test_no_build_without_a_sandbox(toy: ToySource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement, "available", lambda: "bubblewrap is not installed")
    monkeypatch.setattr(process, "available", lambda: "bubblewrap is not installed")
    source = revision_source("first", toy.path, toy.first)
    with pytest.raises(EnvironmentMissing, match="building `first` needs a sandbox"):
        Builder(tmp_path).build(source)
    assert list(tmp_path.iterdir()) == []
    built = Builder(tmp_path, policy=SandboxPolicy.UNSAFE).build(source)
    assert built.program.policy is SandboxPolicy.UNSAFE
    with pytest.raises(EnvironmentMissing, match="needs a sandbox"):
        Builder(tmp_path).build(source)


# Differences


DIFF = """diff --git a/src/old.c b/src/new name.c
similarity index 90%
rename from src/old.c
rename to src/new name.c
--- a/src/old.c
+++ b/src/new name.c\t
@@ -3 +3,2 @@ void f(void) {
-    one();
+    one();
+    two();
@@ -10,2 +11,0 @@
--- a comment that begins like a file name
-three();
diff --git a/run b/run
old mode 100644
new mode 100755
diff --git a/added.c b/added.c
new file mode 100644
--- /dev/null
+++ b/added.c
@@ -0,0 +1 @@
+int added;
\\ No newline at end of file
diff --git a/gone.c b/gone.c
deleted file mode 100644
--- a/gone.c
+++ /dev/null
@@ -1,2 +0,0 @@
-int gone;
-int too;
diff --git a/picture b/picture
Binary files a/picture and b/picture differ
"""


def parsed(diff: str) -> list[FileChange]:
    return parse_diff(io.BytesIO(diff.encode())).files


def test_a_diff_is_read() -> None:
    renamed, added, gone = parsed(DIFF)
    assert (renamed.old_file, renamed.new_file) == ("src/old.c", "src/new name.c")
    first, second = renamed.hunks
    assert (first.old_start, first.old_lines, first.new_start, first.new_lines) == (3, 1, 3, 2)
    assert first.text == "-    one();\n+    one();\n+    two();"
    assert (second.old_start, second.old_lines, second.new_start, second.new_lines) == (10, 2, 11, 0)
    assert second.text.splitlines() == ["--- a comment that begins like a file name", "-three();"]
    assert (added.old_file, added.new_file) == ("", "added.c")
    assert (added.hunks[0].old_start, added.hunks[0].old_lines, added.hunks[0].new_lines) == (0, 0, 1)
    assert (gone.old_file, gone.new_file) == ("gone.c", "")
    assert parsed("") == []


@pytest.mark.parametrize("end", ["\f", "\x1c", "\x85", "\u2028", "\r"])
def test_no_line_of_a_source_is_read_as_a_header(toy: ToySource, end: str) -> None:
    added = [
        f"/* {end}@@ -1{'1' * 5000} +1 @@ */",
        f"/* {end}diff --git a/src/a b/src/b{end}--- a/src/a{end}+++ b/src/b{end}@@ -1 +1 @@ */",
        "++ b/src/other.c",
        "@@ -1 +1 @@",
        "diff --git a/src/a b/src/b",
    ]
    toy.git("checkout", "--quiet", "--force", toy.first)
    table = toy.path / "src" / "table.c"
    text = "\n".join([table.read_text(), *added])
    table.write_bytes(text.encode())
    head = toy.commit("hostile")
    changes = changes_between(revision_source("base", toy.path, toy.first), revision_source("head", toy.path, head))
    assert isinstance(changes, Changes)
    [file] = changes.files
    assert (file.old_file, file.new_file) == ("src/table.c", "src/table.c")
    [hunk] = file.hunks
    assert hunk.new_lines == hunk.text.count("\n") + 1
    assert all(f"+{line}" in hunk.text.split("\n") for line in added)


def test_a_number_that_is_too_long_is_no_header() -> None:
    assert parsed(f"--- a/a\n+++ b/a\n@@ -{'1' * 5000} +1 @@\n-one\n+two\n") == []


def test_changes_between_revisions(toy: ToySource, tmp_path: Path) -> None:
    toy.git("checkout", "--quiet", "--force", toy.first)
    toy.git("mv", "src/table.c", "src/a table.c")
    (toy.path / "src" / "a table.c").write_text((toy.path / "src" / "a table.c").read_text() + "\f\nint last;")
    head = toy.commit("moved")
    base = revision_source("base", toy.path, toy.first)
    changes = changes_between(base, revision_source("head", toy.path, head))
    assert isinstance(changes, Changes)
    [file] = changes.files
    assert (file.old_file, file.new_file) == ("src/table.c", "src/a table.c")
    assert len(file.hunks) == 1
    assert file.hunks[0].new_lines == 2
    assert changes_between(base, base) == Changes(files=[])
    for other in (revision_source("head", tmp_path, head), tree_source("tree", toy.path)):
        unknown = changes_between(base, other)
        assert isinstance(unknown, UnknownChanges)
        assert unknown.reason == "The sources are not both revisions of one repository or trees"
    unknown = changes_between(base, revision_source("head", toy.path, "0" * 40))
    assert isinstance(unknown, UnknownChanges)
    assert unknown.reason.startswith("Git cannot show the changes of the sources (")


def big_change(toy: ToySource, lines: int) -> str:
    """Return a commit with a small change of the server, a header of so many lines, and a change of a document."""
    toy.git("checkout", "--quiet", "--force", toy.first)
    toy.replace("commands.c", '"PONG"', '"PING"')
    (toy.path / "src" / "big.h").write_text("".join(f"#define CONSTANT_{number} {number}\n" for number in range(lines)))
    (toy.path / "README").write_text("text\n" * 10)
    return toy.commit("big")


@pytest.mark.parametrize("of_archives", [False, True])
def test_a_file_with_too_large_changes_is_left_out_alone(toy: ToySource, tmp_path: Path, of_archives: bool) -> None:
    blobs = open_blobs(None, tmp_path / "blobs")
    sides = revision_source("base", toy.path, toy.first), revision_source("head", toy.path, big_change(toy, 300_000))
    compared = [pack_source(side, blobs) for side in sides] if of_archives else list(sides)
    changes = changes_between(compared[0], compared[1], blobs)
    assert isinstance(changes, Changes)
    assert changes.left_out == ["src/big.h"]
    hunks = {file.new_file: len(file.hunks) for file in changes.files}
    assert hunks == {"README": 1, "src/big.h": 0, "src/commands.c": 1}


def test_files_that_are_needed_are_read_before_others(toy: ToySource) -> None:
    head = big_change(toy, 100)
    diff = toy.git("diff", "-p", "--unified=0", "--src-prefix=a/", "--dst-prefix=b/", toy.first, head).encode() + b"\n"

    def read(limits: DiffLimits, needed: Collection[str] = ()) -> tuple[list[str], list[str]]:
        changes = parse_diff(io.BytesIO(diff), DiffReader(needed, limits=limits))
        return [file.new_file for file in changes.files if file.hunks], changes.left_out

    assert read(DiffLimits()) == (["README", "src/big.h", "src/commands.c"], [])
    # A document is no loss, a file of code that was not read is named.
    assert read(DiffLimits(other_hunks=0)) == (["src/big.h", "src/commands.c"], [])
    assert read(DiffLimits(first_hunks=1)) == (["README", "src/big.h"], ["src/commands.c"])
    assert read(DiffLimits(first_hunks=1, other_hunks=0), ["commands.c"]) == (["src/commands.c"], [])
    # What is left out of a file that is too large is not taken from the others.
    assert read(DiffLimits(file_bytes=500, first_bytes=500)) == (["README", "src/commands.c"], ["src/big.h"])
    assert read(DiffLimits(file_hunks=0)) == ([], ["src/big.h", "src/commands.c"])


def test_a_line_longer_than_what_is_kept_hides_no_other_change(toy: ToySource) -> None:
    toy.git("checkout", "--quiet", "--force", toy.first)
    toy.replace("commands.c", '"PONG"', '"PING"')
    text = f"/* {'x' * (5 << 20)}\ndiff --git a/src/a b/src/b */"
    (toy.path / "src" / "a.c").write_text(text)
    sources = revision_source("base", toy.path, toy.first), revision_source("head", toy.path, toy.commit("a long line"))
    changes = changes_between(*sources)
    assert isinstance(changes, Changes)
    assert changes.left_out == ["src/a.c"]
    assert [file.new_file for file in changes.files if file.hunks] == ["src/commands.c"]


def test_changes_between_trees(compiler: None, tmp_path: Path) -> None:
    for side, text in (("base", "one\ntwo\n"), ("the head", "one\n2\n")):
        (tmp_path / side / "src").mkdir(parents=True)
        (tmp_path / side / "src" / "server.c").write_text(text)
    changes = changes_between(tree_source("base", tmp_path / "base"), tree_source("head", tmp_path / "the head"))
    assert isinstance(changes, Changes)
    [file] = changes.files
    assert (file.old_file, file.new_file) == ("src/server.c", "src/server.c")
    assert (file.hunks[0].old_start, file.hunks[0].old_lines) == (2, 1)


def test_the_users_git_settings_do_not_matter(toy: ToySource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = toy.changed(("commands.c", '"PONG"', '"PING"'))
    settings = tmp_path / ".gitconfig"
    settings.write_text(
        "[diff]\n\tnoprefix = true\n\texternal = false\n[color]\n\tui = always\n[core]\n\tpager = false\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    changes = changes_between(revision_source("base", toy.path, toy.first), revision_source("head", toy.path, head))
    assert isinstance(changes, Changes)
    assert [file.new_file for file in changes.files] == ["src/commands.c"]


# Objects of another build


def compiled(builder: Builder, digest: str) -> int:
    """Return how many files the builds that kept these objects have compiled in all."""
    objects = builder.builds.directory / digest / "objects"
    command = ["ccache", "--dir", str(objects), "--print-stats"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return int(dict(line.split("\t") for line in printed.splitlines())["cache_miss"])


@pytest.mark.skipif(shutil.which("ccache") is None, reason="ccache is not installed")
@pytest.mark.parametrize("words", ["default", "-O2,-fno-lto"])
def test_a_build_compiles_only_what_differs_from_another(toy: ToySource, tmp_path: Path, words: str) -> None:
    builder, variant = Builder(tmp_path / "builds"), parse_variant(words)
    base = builder.build(revision_source("base", toy.path, toy.first), variant)
    files = compiled(builder, base.record.build)
    assert files > 1
    changed = toy.changed(("format.c", "void add_bytes(", "int unused(int x) { return 31 * x; }\n\nvoid add_bytes("))
    head = builder.build(revision_source("head", toy.path, changed), variant, objects_of=base.record.build)
    assert compiled(builder, head.record.build) == files + 1
    # What is built from others' objects is what would be built without them, and the other's objects are as they were.
    alone = Builder(tmp_path / "alone").build(revision_source("head", toy.path, changed), variant)
    assert alone.program.path.read_bytes() == head.program.path.read_bytes()
    assert compiled(builder, base.record.build) == files


ALL = ["server.c", "commands.c", "format.c", "table.c"]
UNUSED = "int unused(int x) { return 31 * x; }\n\n"


def noted(toy: ToySource, rule: str = NOTED) -> str:
    """Commit the toy with another rule for its objects, and return the commit."""
    toy.git("checkout", "--quiet", "--force", toy.first)
    toy.replace("Makefile", RULE, rule)
    return toy.commit("notes")


def made(builder: Builder, built: BuiltServer) -> list[str]:
    """Return what make has made in the tree of a build and in those that it continued."""
    return (builder.builds.directory / built.record.build / "tree" / "src" / "made.log").read_text().split()


@pytest.mark.parametrize(
    ("edit", "anew"),
    [
        (("format.c", "void add_bytes(", UNUSED + "void add_bytes("), ["format.c"]),
        (("server.h", "#include <stddef.h>", "#include <stddef.h>\nextern int unused;"), None),
        (("Makefile", "OPTIMIZATION?=-O2", "OPTIMIZATION?=-O1"), None),
    ],
)
def test_a_build_after_a_small_change_goes_on_in_the_tree_of_the_one_before(
    toy: ToySource, tmp_path: Path, edit: tuple[str, str, str], anew: list[str] | None
) -> None:
    base_commit = noted(toy)
    toy.replace(*edit)
    head_commit = toy.commit("change")
    builder = Builder(tmp_path / "builds")
    base = builder.build(revision_source("base", toy.path, base_commit))
    head = builder.build(revision_source("head", toy.path, head_commit), objects_of=base.record.build)
    assert sorted(made(builder, base)) == sorted(ALL)
    assert sorted(made(builder, head)) == sorted([*ALL, *anew] if anew else ALL)
    alone = Builder(tmp_path / "alone").build(revision_source("head", toy.path, head_commit))
    assert alone.program.path.read_bytes() == head.program.path.read_bytes()
    assert not builder.builds.relinking(head.record.build).failure


def with_embedded_file(toy: ToySource) -> tuple[str, str]:
    """Commit a source that embeds a file, then that file with another content; return both."""
    (toy.path / "src" / "table.bin").write_text("one")
    embedded = '__asm__(".section .rodata\\nembedded: .incbin \\"table.bin\\"\\n.previous");\n\nvoid add_bytes('
    toy.replace("format.c", "void add_bytes(", embedded)
    base_commit = toy.commit("an embedded file")
    toy.replace("table.bin", "one", "two")
    return base_commit, toy.commit("change")


def with_system_header(toy: ToySource) -> tuple[str, str]:
    """Commit a source that includes a header of the system, then that header with another content; return both."""
    (toy.path / "src" / "system").mkdir()
    (toy.path / "src" / "system" / "rows.h").write_text("#define ROWS 3\n")
    toy.replace("format.c", "void add_bytes(", "#include <rows.h>\nint rows(void) { return ROWS; }\n\nvoid add_bytes(")
    base_commit = toy.commit("a header of the system")
    toy.replace("system/rows.h", "3", "4")
    return base_commit, toy.commit("change")


@pytest.mark.parametrize("commits", [with_embedded_file, with_system_header])
@pytest.mark.parametrize("rule", [RULE, NOTED])
def test_an_object_of_another_build_is_not_used_where_what_it_was_made_of_changed(
    toy: ToySource, tmp_path: Path, commits: Callable[[ToySource], tuple[str, str]], rule: str
) -> None:
    noted(toy, rule.replace("-c -o", "-isystem system -c -o"))
    base_commit, head_commit = commits(toy)
    builder = Builder(tmp_path / "builds")
    base = builder.build(revision_source("base", toy.path, base_commit))
    head = builder.build(revision_source("head", toy.path, head_commit), objects_of=base.record.build)
    alone = Builder(tmp_path / "alone").build(revision_source("head", toy.path, head_commit))
    assert alone.program.path.read_bytes() == head.program.path.read_bytes()
    assert base.program.path.read_bytes() != head.program.path.read_bytes()


def test_notes_of_all_objects_are_not_written_where_each_has_its_own(toy: ToySource, tmp_path: Path) -> None:
    """As in Redis 6 and 7, where they take longer than what changed."""
    notes = "DEP = $(OBJECTS:.o=.d)\n-include $(DEP)\nMakefile.dep:\n\techo $@ >> made.log\n-include Makefile.dep\n"
    noted(toy, NOTED.replace("-include $(OBJECTS:.o=.d)\n", notes))
    (toy.path / "src" / "digits.c").write_text("static const int digits = 1;\n")
    toy.replace("format.c", "void add_bytes(", '#include "digits.c"\n\nvoid add_bytes(')
    base_commit = toy.commit("a file that another includes")
    toy.replace("digits.c", "= 1", "= 2")
    head_commit = toy.commit("change")
    builder = Builder(tmp_path)
    base = builder.build(revision_source("base", toy.path, base_commit))
    head = builder.build(revision_source("head", toy.path, head_commit), objects_of=base.record.build)
    assert sorted(made(builder, base)) == sorted([*ALL, "Makefile.dep"])
    assert sorted(made(builder, head)) == sorted([*ALL, "Makefile.dep", "format.c"])


def damaged(tree: Path, damage: str) -> None:
    """Make of a kept tree what a clock that was put back, or another process that removes it, leaves."""
    match damage:
        case "object":
            (tree / "src" / "table.o").write_text("no object")
        case "notes":
            (tree / "src" / "table.d").unlink()
        case "future":
            later = time.time() + 3600
            os.utime(tree / "src" / "format.o", (later, later))


@pytest.mark.parametrize("damage", ["object", "notes", "future"])
def test_a_tree_that_is_not_as_make_left_it_is_not_continued(toy: ToySource, tmp_path: Path, damage: str) -> None:
    base_commit = noted(toy)
    toy.replace("format.c", "void add_bytes(", UNUSED + "void add_bytes(")
    head_commit = toy.commit("change")
    builder = Builder(tmp_path)
    base = builder.build(revision_source("base", toy.path, base_commit))
    damaged(builder.builds.directory / base.record.build / "tree", damage)
    head = builder.build(revision_source("head", toy.path, head_commit), objects_of=base.record.build)
    assert sorted(made(builder, head)) == sorted(ALL)


@pytest.mark.parametrize("rule", [RULE.replace("\t$(CC)", "\techo $< >> made.log\n\t$(CC)"), NOTED])
def test_a_tree_is_not_continued_where_it_could_be_wrong(toy: ToySource, tmp_path: Path, rule: str) -> None:
    """Without notes of dependencies, with another file, or in another variant."""
    base_commit = noted(toy, rule)
    if rule is NOTED:
        (toy.path / "src" / "more.h").write_text("extern int more;\n")
    toy.replace("format.c", "void add_bytes(", UNUSED + "void add_bytes(")
    head_commit = toy.commit("change")
    builder = Builder(tmp_path)
    base = builder.build(revision_source("base", toy.path, base_commit))
    head = builder.build(revision_source("head", toy.path, head_commit), objects_of=base.record.build)
    assert sorted(made(builder, head)) == sorted(ALL)
    other = builder.build(
        revision_source("other", toy.path, base_commit), parse_variant("-O1"), objects_of=base.record.build
    )
    assert sorted(made(builder, other)) == sorted(ALL)


def test_a_tree_is_not_continued_after_libraries_of_the_system_changed(
    toy: ToySource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "packages"
    packages.touch()
    monkeypatch.setattr(kept_tree, "SYSTEM_FILES", (str(packages),))
    base_commit = noted(toy)
    toy.replace("format.c", "void add_bytes(", UNUSED + "void add_bytes(")
    head_commit = toy.commit("change")
    builder = Builder(tmp_path / "builds")
    base = builder.build(revision_source("base", toy.path, base_commit))
    os.utime(packages, (0, 0))
    head = builder.build(revision_source("head", toy.path, head_commit), objects_of=base.record.build)
    assert sorted(made(builder, head)) == sorted(ALL)


def test_a_file_is_known_to_make_by_its_path_and_not_by_its_name(toy: ToySource, tmp_path: Path) -> None:
    noted(toy)
    (toy.path / "src" / "other").mkdir()
    (toy.path / "src" / "other" / "format.c").write_text("int unused;\n")
    base_commit = toy.commit("a file of the same name")
    toy.replace("other/format.c", "int unused;", "int unused = 1;")
    head_commit = toy.commit("change")
    builder = Builder(tmp_path)
    base = builder.build(revision_source("base", toy.path, base_commit))
    head = builder.build(revision_source("head", toy.path, head_commit), objects_of=base.record.build)
    assert sorted(made(builder, head)) == sorted(ALL)


def test_what_a_build_put_in_place_of_a_link_stays_in_the_tree(toy: ToySource, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    noted(toy)
    (toy.path / "src" / "elsewhere").symlink_to(outside)
    toy.replace(
        "Makefile",
        "all: $(SERVER_NAME)",
        "all: $(SERVER_NAME)\n\n$(shell rm elsewhere && mkdir elsewhere && touch elsewhere/planted)",
    )
    base_commit = toy.commit("a directory in place of a link")
    toy.replace("format.c", "void add_bytes(", UNUSED + "void add_bytes(")
    head_commit = toy.commit("change")
    builder = Builder(tmp_path / "builds")
    base = builder.build(revision_source("base", toy.path, base_commit))
    assert (builder.builds.directory / base.record.build / "tree" / "src" / "elsewhere" / "planted").exists()
    builder.build(revision_source("head", toy.path, head_commit), objects_of=base.record.build)
    assert not list(outside.iterdir())


CONFIGURE = """#!/bin/sh
ac_configure_args=$*
. "$CONFIG_SITE"
if test -r "$cache_file"; then . "$cache_file"; else answer=asked; echo answer=known > "$cache_file"; fi
echo "const char *answer = \\"the system is $answer\\";" > answer.h
"""
"""Does what the configure scripts of autoconf do with their answers."""


@pytest.mark.parametrize(
    ("edit", "answer"),
    [
        (("format.c", "void add_bytes(", "int unused;\n\nvoid add_bytes("), b"known"),
        (("Makefile", "./configure quickly", "./configure slowly"), b"asked"),
        (("Makefile", "./configure quickly", "CFLAGS=-O3 ./configure quickly"), b"asked"),
        (("configure", "ac_configure_args=$*", "ac_configure_args=$*  # Another script."), b"asked"),
    ],
)
def test_an_equal_configure_script_does_not_ask_again(
    toy: ToySource, tmp_path: Path, edit: tuple[str, str, str], answer: bytes
) -> None:
    toy.git("checkout", "--quiet", "--force", toy.first)
    script = toy.path / "src" / "configure"
    script.write_text(CONFIGURE)
    script.chmod(0o755)
    toy.replace(
        "Makefile",
        "\t$(CC) -g -o $@",
        "\t./configure quickly && $(CC) -g -include answer.h -c answer.c && $(CC) -g -o $@ answer.o",
    )
    (toy.path / "src" / "answer.c").touch()
    base = toy.commit("configured")
    toy.replace(*edit)
    head = toy.commit("change")
    builder = Builder(tmp_path)
    first = builder.build(revision_source("base", toy.path, base))
    assert b"the system is asked" in first.program.path.read_bytes()
    second = builder.build(revision_source("head", toy.path, head), objects_of=first.record.build)
    assert b"the system is " + answer in second.program.path.read_bytes()


@pytest.mark.skipif(shutil.which("ccache") is None, reason="ccache is not installed")
def test_objects_of_the_last_builds_are_kept(toy: ToySource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder_module, "KEPT_OBJECTS", 2)
    builder = Builder(tmp_path)
    digests = []
    for number in range(3):
        commit = toy.changed(("format.c", "void add_bytes(", f"int unused = {number};\n\nvoid add_bytes("))
        digests.append(builder.build(revision_source("build", toy.path, commit)).record.build)
    assert [(tmp_path / digest / "objects").is_dir() for digest in digests] == [False, True, True]
    assert all(builder.builds.get(digest).program.path.is_file() for digest in digests)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_comment_elsewhere_is_not_in_the_program_as_uncommitted_changes(toy: ToySource, tmp_path: Path) -> None:
    toy.git("checkout", "--quiet", "--force", toy.first)
    (toy.path / "deps").mkdir()
    (toy.path / "deps" / "library.c").write_text("int library;\n")
    toy.replace(
        "Makefile",
        "\t$(CC) -g -o $@",
        '\techo "const char *dirty = \\"`git diff --no-ext-diff -- ../src ../deps | wc -l` lines differ\\";" > dirty.c'
        " && $(CC) -g -c dirty.c && $(CC) -g -o $@ dirty.o",
    )
    base = toy.commit("asks git")
    (toy.path / "deps" / "library.c").write_text("/* A comment. */\nint library;\n")
    head = toy.commit("comment")
    builder = Builder(tmp_path)
    built = [builder.build(revision_source(name, toy.path, name)) for name in (base, head)]
    assert all(b"0 lines differ" in server.program.path.read_bytes() for server in built)
    assert built[0].record.image == built[1].record.image


def test_a_source_gives_the_same_program_wherever_it_is_built(toy: ToySource, tmp_path: Path) -> None:
    revision = revision_source("base", toy.path, toy.first)
    here, elsewhere = (Builder(tmp_path / name).build(revision) for name in ("here", "a/longer/path"))
    assert here.program.path.read_bytes() == elsewhere.program.path.read_bytes()
    assert here.record.source_root == elsewhere.record.source_root
    functions = confined_reader.source_functions(str(here.program.path), here.record.source_root)
    assert "format.c" in {file for file, _, _, _ in functions}


def test_what_killed_builds_left_is_removed(tmp_path: Path) -> None:
    names = ("w-abandoned", "k-abandoned", "w-new", "0123abcd")
    abandoned, half_kept, begun_now, kept = (tmp_path / name for name in names)
    for directory in (abandoned, half_kept, begun_now, kept):
        (directory / "source").mkdir(parents=True)
    for directory in (abandoned, half_kept, kept):
        os.utime(directory, (0, 0))
    builds = Builds(tmp_path)
    with builds.in_preparation("4567cdef") as ready:
        (ready / "file").touch()
        os.utime(ready, (0, 0))
        builds.clear_up()
        assert ready.exists()
    assert (tmp_path / "4567cdef" / "file").exists()
    assert not ready.exists()
    assert not abandoned.exists()
    assert not half_kept.exists()
    assert begun_now.exists()
    assert kept.exists()


@pytest.mark.usefixtures("compiler")
def test_a_change_cannot_be_hidden_as_one_of_no_text(tmp_path: Path) -> None:
    toy = ToySource(tmp_path / "toy")
    (toy.path / ".gitattributes").write_text("*.c -diff\n")
    source = toy.path / "src" / "commands.c"
    source.write_bytes(source.read_bytes() + b"/* \0 */\n")
    toy.commit("a byte that no text has")
    changes = changes_between(resolve(toy.first, toy.path), resolve("HEAD", toy.path))
    assert isinstance(changes, Changes)
    assert "src/commands.c" in [file.new_file for file in changes.files]


def test_a_build_that_fails_on_a_full_disk_is_no_fault_of_its_source(
    toy: ToySource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the compiler says of it may be missing, as the log is on the same disk."""
    head = toy.changed(("Makefile", LINK, "\t@exit 1"))
    monkeypatch.setattr(recipe, "NEEDED_FREE_BYTES", 1 << 60)
    with pytest.raises(EnvironmentMissing, match="no space left"):
        Builder(tmp_path).build(revision_source("head", toy.path, head))
    monkeypatch.undo()
    with pytest.raises(BuildFailed, match="ended with 2"):
        Builder(tmp_path).build(revision_source("head", toy.path, head))
