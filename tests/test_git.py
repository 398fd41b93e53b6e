"""Git has bounds, obeys no tree and no settings but those that it needs to get at repositories."""

import base64
import hashlib
import os
import shutil
import stat
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from sources import revision_source
from toy_server import ToySource
from waiting import PATIENCE_SECONDS, wait_until

from zerolap.build import changes_between, pack_source, resolve
from zerolap.build.git import GitStopped, read_git
from zerolap.build.source import content_digest, export
from zerolap.build.tar import TarLimits
from zerolap.records import BuildFailed, Changes, EnvironmentMissing, Interrupted, RevisionSource, UsageError
from zerolap.sandbox import Cancellation
from zerolap.store import open_blobs
from zerolap.triggers.mirror import Mirror, RemoteUnreachable


@pytest.fixture
def toy(compiler: None, tmp_path: Path) -> ToySource:
    """A repository of the test's own, which it may damage."""
    return ToySource(tmp_path / "toy")


# Bounds


def test_a_git_that_does_not_end_is_stopped(compiler: None) -> None:
    with pytest.raises(GitStopped, match=r"did not end in 0\.1 s"):
        read_git(["-c", "alias.endless=!sleep 1000", "endless"], 1 << 20, 0.1)
    with pytest.raises(GitStopped, match="more than 1 MiB"):
        read_git(["-c", "alias.endless=!yes", "endless"], 1 << 20, 1000.0)


def test_a_git_is_stopped_with_the_work_that_it_belongs_to(compiler: None, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    command = ["-c", f"alias.endless=!touch {begun}; sleep 1000", "endless"]
    cancellation = Cancellation()

    def read() -> None:
        with cancellation.current():
            read_git(command, 1 << 20, 1000.0)

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read)
        wait_until(begun.exists, lambda: None)
        cancellation.cancel()
        with pytest.raises(Interrupted):
            reading.result(PATIENCE_SECONDS)


def committed(toy: ToySource, message: bytes, parents: list[str]) -> str:
    """Return a commit of the first tree, written as it is given."""
    tree = toy.git("rev-parse", f"{toy.first}^{{tree}}")
    author = "author test <test@example.com> 0 +0000\ncommitter test <test@example.com> 0 +0000\n"
    header = f"tree {tree}\n{''.join(f'parent {parent}' + chr(10) for parent in parents)}{author}\n"
    command = ["git", "-C", str(toy.path), "hash-object", "-t", "commit", "-w", "--stdin"]
    return subprocess.run(command, input=header.encode() + message, capture_output=True, check=True).stdout.decode()[
        :-1
    ]


def test_a_subject_of_any_length_is_cut_off(toy: ToySource) -> None:
    head = committed(toy, b"long " * (4 << 20), [toy.first])
    source = resolve(head, toy.path)
    assert isinstance(source, RevisionSource)
    assert source.revision.subject == "long " * 100
    assert source.revision.parents == (toy.first,)
    assert source.revision.time == "1970-01-01T00:00:00Z"


# Exports


def tree_id(directory: Path) -> str:
    """Return the id that git gives the tree of a directory."""
    entries = []
    for path in directory.iterdir():
        if path.is_symlink():
            mode, digest = "120000", object_id("blob", os.fsencode(path.readlink()))
        elif path.is_dir():
            mode, digest = "40000", tree_id(path)
        else:
            mode = "100755" if path.stat().st_mode & stat.S_IXUSR else "100644"
            digest = object_id("blob", path.read_bytes())
        name = os.fsencode(path.name)
        # A directory is sorted as if its name ended with a slash.
        entries.append((name + b"/" * (mode == "40000"), f"{mode} ".encode() + name + b"\0" + bytes.fromhex(digest)))
    return object_id("tree", b"".join(entry for _, entry in sorted(entries)))


def object_id(kind: str, content: bytes) -> str:
    return hashlib.sha1(f"{kind} {len(content)}\0".encode() + content, usedforsecurity=False).hexdigest()


ATTRIBUTES = """\
left-out.c export-ignore
left-out export-ignore
described.c export-subst ident
lines.c text eol=crlf
wide.c text working-tree-encoding=UTF-16
filtered.c filter=touching diff=touching
"""


@pytest.fixture
def ran(toy: ToySource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that is there once git has run a program for the settings of the user, the repository or a tree."""
    touch = f"touch {tmp_path}/ran"
    home = tmp_path / "home"
    (home / ".config" / "git").mkdir(parents=True)
    (home / ".config" / "git" / "attributes").write_text("* filter=touching diff=touching\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "reference-transaction"):
        (hooks / name).write_text(f"#!/bin/sh\n{touch}\n")
        (hooks / name).chmod(0o755)
    settings = {
        "filter.touching.smudge": f"{touch}; cat",
        "filter.touching.clean": f"{touch}; cat",
        "filter.touching.process": touch,
        "diff.touching.textconv": touch,
        "diff.touching.command": touch,
        "diff.external": touch,
        "core.fsmonitor": touch,
        "core.pager": touch,
        "core.hooksPath": str(hooks),
        "core.sshCommand": touch,
        "tar.tar.command": touch,
        "tar.umask": "0777",
        "core.autocrlf": "true",
        "diff.orderFile": "/nonexistent",
        "gpg.program": touch,
        "log.showSignature": "true",
    }
    for name, value in settings.items():
        subprocess.run(["git", "config", "--global", name, value], check=True)
        toy.git("config", name, value)
    return tmp_path / "ran"


def hostile_commit(toy: ToySource) -> str:
    """Return a commit whose attributes ask git to change what it exports; it is written without regard to them."""
    files = {
        "src/.gitattributes": (b"100644", ATTRIBUTES.encode()),
        "src/left-out.c": (b"100644", b"int a;\n"),
        "src/left-out/file.c": (b"100644", b"int b;\n"),
        "src/described.c": (b"100644", b"$Format:%B$ $Id$\n"),
        "src/lines.c": (b"100644", b"one\ntwo\r\n"),
        "src/wide.c": (b"100644", b"int c;\n"),
        "src/filtered.c": (b"100644", b"int d;\n"),
        "src/program": (b"100755", b"#!/bin/sh\n"),
        "src/empty": (b"100644", b""),
        "src/link": (b"120000", b"server.c"),
        "src/n\xe4me\nof bytes".encode("latin-1").decode("utf-8", "surrogateescape"): (b"100644", b"\0\xff"),
    }
    index = {**os.environ, "GIT_INDEX_FILE": str(toy.path / "other index")}
    git = ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-C", str(toy.path)]
    subprocess.run([*git, "read-tree", toy.first], env=index, check=True)
    for name, (mode, content) in files.items():
        command = [*git, "hash-object", "-w", "--stdin", "--no-filters"]
        blob = subprocess.run(command, input=content, capture_output=True, check=True).stdout.strip()
        entry = mode + b" " + blob + b"\t" + os.fsencode(name) + b"\0"
        subprocess.run([*git, "update-index", "-z", "--index-info"], input=entry, env=index, check=True)
    tree = subprocess.run([*git, "write-tree"], env=index, capture_output=True, text=True, check=True).stdout.strip()
    command = [*git, "-c", "user.name=t", "-c", "user.email=t@example.com", "commit-tree", "-m", "hostile", tree]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_what_is_exported_is_what_the_digest_stands_for(toy: ToySource, ran: Path, tmp_path: Path) -> None:
    source = revision_source("hostile", toy.path, hostile_commit(toy))
    ran.unlink(missing_ok=True)
    (tmp_path / "copy").mkdir()
    export(source, tmp_path / "copy")
    assert tree_id(tmp_path / "copy") == content_digest(source)
    assert (tmp_path / "copy" / "src" / "described.c").read_bytes() == b"$Format:%B$ $Id$\n"
    assert not ran.exists()


def test_settings_of_users_and_repositories_run_nothing(toy: ToySource, ran: Path, tmp_path: Path) -> None:
    head = hostile_commit(toy)
    ran.unlink(missing_ok=True)
    blobs = open_blobs(None, tmp_path / "blobs")
    base, changed = resolve(toy.first, toy.path), resolve(head, toy.path)
    assert isinstance(base, RevisionSource)
    assert isinstance(changed, RevisionSource)
    between = changes_between(base, changed)
    assert isinstance(between, Changes)
    assert {"src/filtered.c", "src/left-out.c"} <= {file.new_file for file in between.files}
    archives = [pack_source(source, blobs) for source in (base, changed)]
    of_archives = changes_between(*archives, blobs)
    assert isinstance(of_archives, Changes)
    assert {"src/filtered.c", "src/left-out.c"} <= {file.new_file for file in of_archives.files}
    # A tree of the user's, of which git lists the files.
    tree = resolve(str(toy.path), None)
    pack_source(tree, blobs)  # type: ignore[arg-type]
    mirror = Mirror.below(tmp_path / "mirrors", str(toy.path))
    toy.git("-c", "core.hooksPath=/dev/null", "update-ref", "refs/heads/hostile", head)
    mirror.fetch([head])
    assert mirror.merge_base(head, head) == head
    assert not ran.exists()


def test_a_submodule_is_an_empty_directory(toy: ToySource, tmp_path: Path) -> None:
    toy.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},deps")
    toy.git("commit", "--quiet", "-m", "submodule")
    (tmp_path / "copy").mkdir()
    export(revision_source("head", toy.path, toy.git("rev-parse", "HEAD")), tmp_path / "copy")
    assert list((tmp_path / "copy" / "deps").iterdir()) == []


def test_objects_are_not_replaced_by_others(toy: ToySource, tmp_path: Path) -> None:
    file = toy.path / "src" / "server.c"
    content = file.read_bytes()
    other = toy.git("rev-parse", f"{toy.first}:src/table.c")
    toy.git("replace", toy.git("rev-parse", f"{toy.first}:src/server.c"), other)
    (tmp_path / "copy").mkdir()
    export(revision_source("first", toy.path, toy.first), tmp_path / "copy")
    assert (tmp_path / "copy" / "src" / "server.c").read_bytes() == content


def raw_commit(toy: ToySource, *entries: tuple[bytes, str]) -> str:
    """Return a commit of a tree with these entries (mode and name, object), which git itself would not write."""
    content = b"".join(entry + b"\0" + bytes.fromhex(digest) for entry, digest in entries)
    command = ["git", "-C", str(toy.path), "hash-object", "-t", "tree", "-w", "--literally", "--stdin"]
    tree = subprocess.run(command, input=content, capture_output=True, check=True).stdout.decode().strip()
    return toy.git("commit-tree", "-m", "raw", tree)


def test_trees_that_lead_out_are_refused(toy: ToySource, tmp_path: Path) -> None:
    blob = toy.git("rev-parse", f"{toy.first}:src/server.c")
    tree = toy.git("rev-parse", f"{toy.first}:src")
    link = subprocess.run(
        ["git", "-C", str(toy.path), "hash-object", "-w", "--stdin"], input=b"..", capture_output=True, check=True
    ).stdout.decode()
    refused = [
        [(b"100644 ../outside.c", blob)],
        [(b"40000 ..", tree)],
        [(b"100644 file", blob), (b"100644 file", blob)],
        [(b"120000 link", link), (b"40000 link", tree)],
        [(b"100644 " + b"n" * 300, blob)],
        [(b"120000 link", blob)],
        [(b"40000 .git", tree)],
    ]
    for number, entries in enumerate(refused):
        copy = tmp_path / f"outer-{number}" / "copy"
        copy.mkdir(parents=True)
        with pytest.raises((UsageError, BuildFailed), match="`raw` cannot be exported from git"):
            export(revision_source("raw", toy.path, raw_commit(toy, *entries)), copy)
        assert list(copy.parent.iterdir()) == [copy]


def test_a_commit_beyond_the_limits_is_not_written(toy: ToySource, tmp_path: Path) -> None:
    (toy.path / "large").write_bytes(bytes(2 << 20))
    head = toy.commit("large")
    (tmp_path / "copy").mkdir()
    with pytest.raises(UsageError, match="more than 1 MiB"):
        export(revision_source("head", toy.path, head), tmp_path / "copy", TarLimits(1 << 20, 100))
    assert list((tmp_path / "copy").iterdir()) == []


def test_a_damaged_object_is_not_exported(toy: ToySource, tmp_path: Path) -> None:
    shutil.rmtree(toy.path / ".git" / "objects" / toy.git("rev-parse", f"{toy.first}:src/server.c")[:2])
    (tmp_path / "copy").mkdir()
    with pytest.raises(BuildFailed, match="cannot be exported from git"):
        export(revision_source("first", toy.path, toy.first), tmp_path / "copy")


# Settings that are kept


class Refusing(BaseHTTPRequestHandler):
    """Asks for a password, and refuses all."""

    passwords: list[str]

    def do_GET(self) -> None:
        given = self.headers.get("Authorization", "").removeprefix("Basic ")
        if given:
            self.passwords.append(base64.b64decode(given).decode())
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="test"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def refusing_server() -> Iterator[tuple[str, list[str]]]:
    """Yield the address of a server, and the passwords that were given to it."""
    passwords: list[str] = []
    handler = type("Handler", (Refusing,), {"passwords": passwords})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", passwords
        finally:
            server.shutdown()
            thread.join()


def test_credentials_of_the_user_are_used(toy: ToySource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "*")
    helper = "!f() { echo username=somebody; echo password=secret; }; f"
    subprocess.run(["git", "config", "--global", "credential.helper", helper], check=True)
    with refusing_server() as (address, passwords):
        with pytest.raises(RemoteUnreachable):
            Mirror.below(tmp_path / "mirrors", f"{address}/private.git").refs()
        assert passwords == ["somebody:secret"]
    subprocess.run(["git", "config", "--global", f"url.{toy.path}.insteadOf", "https://example.com/r"], check=True)
    assert list(Mirror.below(tmp_path / "mirrors", "https://example.com/r").refs().values()) == [toy.first]


def test_settings_that_cannot_be_read_are_reported(
    toy: ToySource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gitconfig").write_text("[credential\n")
    with pytest.raises(EnvironmentMissing, match="git cannot read its settings"):
        resolve("HEAD", toy.path)
