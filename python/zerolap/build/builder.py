"""Builds a source once and keeps the artifact under the digest of what went in."""

import errno
import functools
import hashlib
import os
import re
import secrets
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from zerolap import _core
from zerolap.build import export
from zerolap.build.recipe import RECIPE_REVISION, Recipe, recipe_for
from zerolap.build.source import Binary, Endpoint, Revision, Source, Tree
from zerolap.records import Build, BuildFailed, EnvironmentMissing, Record, UsageError
from zerolap.sandbox import Confinement, launch

NEEDED_FREE_BYTES = 600 * 1024 * 1024
VERSION_SECONDS = 20
BUILD_SECONDS = 3600
LOG_LINES = 30


class Artifact(Record):
    """What is kept beside a built program; `source_root` is the directory that its debug information names."""

    version: str
    source_root: str


@dataclass(frozen=True)
class BuiltServer:
    """A server program that can be started, and where its debug information says its source was."""

    record: Build
    program: Path
    source_root: str
    source: Source


class Builder:
    """Turns sources into servers; artifacts stay in `directory`, under the digest of what went in."""

    def __init__(self, directory: Path, on_build: Callable[[str], None] = lambda _: None) -> None:
        self._directory = directory
        self._on_build = on_build

    def build(self, source: Source) -> BuiltServer:
        """Return the server of a source, building it if it is not yet there.

        Raises `BuildFailed` with the end of the compiler's output, `EnvironmentMissing` where a compiler or disk space
        is missing, `UsageError` for a source that is no server.
        """
        match source:
            case Endpoint():
                raise UsageError(
                    f"`{source.name}` is a running server: it cannot be counted",
                    hint="give a binary, a source tree or a revision",
                )
            case Binary():
                return self._from_binary(source)
            case Tree() | Revision():
                return self._from_source(source)

    def _from_binary(self, source: Binary) -> BuiltServer:
        if not os.access(source.path, os.X_OK):
            raise UsageError(f"`{source.path}` is not an executable file")
        digest = _digest(["binary", hashlib.sha256(source.path.read_bytes()).hexdigest()])
        version = server_version(source.path)
        try:
            root = source_root_of(_core.binary_facts(str(source.path)).compile_directory)
        except ValueError as wrong:
            raise UsageError(f"`{source.path}` is no program that can be counted: {wrong}") from wrong
        return _built(source, digest, source.path, Artifact(version=version, source_root=root))

    def _from_source(self, source: Tree | Revision) -> BuiltServer:
        if isinstance(source, Tree):
            # Before all its files are read: it may be a large directory that is no source at all.
            recipe_for(source.name, source.path, jobs=1)
        digest = _digest([str(RECIPE_REVISION), export.content_digest(source), compiler_version()])
        kept = self._directory / digest
        artifact = _read_artifact(kept)
        if artifact is None:
            artifact = self._make(source, kept)
        return _built(source, digest, kept / "server", artifact)

    def _make(self, source: Tree | Revision, kept: Path) -> Artifact:
        self._on_build(source.name)
        # Of fixed length: the path is part of the debug information, whose size must not depend on the source.
        work = self._directory / f"w-{secrets.token_hex(6)}"
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            if shutil.disk_usage(self._directory).free < NEEDED_FREE_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            tree = work / "source"
            tree.mkdir(parents=True)
            export.export(source, tree)
            recipe = recipe_for(source.name, tree, jobs=os.cpu_count() or 1)
            run_recipe(source.name, tree, recipe, work / "build.log")
            artifact = Artifact(version=server_version(tree / recipe.program), source_root=str(tree))
            _keep(work, tree / recipe.program, artifact, kept)
        except OSError as fault:
            if fault.errno != errno.ENOSPC:
                raise
            raise no_space(self._directory) from fault
        finally:
            shutil.rmtree(work, ignore_errors=True)
        return artifact


def run_recipe(name: str, tree: Path, recipe: Recipe, log: Path) -> None:
    """Build a tree in the sandbox; raises `BuildFailed` if no program comes out."""
    if shutil.which(recipe.command[0]) is None:
        raise EnvironmentMissing(f"`{recipe.command[0]}` is not installed", hint="apt-get install make gcc g++")
    # What the lab itself was called with must not reach a server's Makefile, which reads CFLAGS and others.
    environment = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/tmp",
        "LANG": "C",
        "SOURCE_DATE_EPOCH": "0",
        "GIT_CEILING_DIRECTORIES": str(tree.parent),
    }
    confinement = Confinement(writable=[tree], directory=tree / recipe.directory)
    with launch(recipe.command, environment=environment, output=log, confinement=confinement) as process:
        try:
            code = process.wait(BUILD_SECONDS)
        except subprocess.TimeoutExpired:
            raise BuildFailed(
                f"`{name}` did not build within {BUILD_SECONDS} s", details=process.output_tail()
            ) from None
        tail = process.output_tail(LOG_LINES)
    if "No space left on device" in tail:
        raise no_space(tree.parent.parent)
    if code != 0 or not (tree / recipe.program).is_file():
        raise BuildFailed(
            f"`{name}` does not build: `{' '.join(recipe.command)}` ended with {code}",
            hint="the source must build with this machine's compiler; the end of its output is above",
            details=tail,
        )


def no_space(directory: Path) -> EnvironmentMissing:
    """Return the error for a full disk."""
    free_mib = shutil.disk_usage(directory).free // (1024 * 1024)
    return EnvironmentMissing(
        f"no space left on the disk of `{directory}` ({free_mib} MiB free)",
        hint=f"free {NEEDED_FREE_BYTES // (1024 * 1024)} MiB, or put the store on another disk with `--store`",
    )


def _keep(work: Path, program: Path, artifact: Artifact, kept: Path) -> None:
    """Put the artifact in its place in one step; another process may have been first."""
    ready = work / "artifact"
    ready.mkdir()
    shutil.copy2(program, ready / "server")
    (ready / "artifact.json").write_text(artifact.model_dump_json())
    try:
        ready.rename(kept)
    except OSError:
        if _read_artifact(kept) is None:
            shutil.rmtree(kept)
            ready.rename(kept)


def _read_artifact(kept: Path) -> Artifact | None:
    try:
        return Artifact.model_validate_json((kept / "artifact.json").read_text())
    except (FileNotFoundError, ValidationError):
        return None


def _built(source: Source, digest: str, program: Path, artifact: Artifact) -> BuiltServer:
    facts = _core.binary_facts(str(program))
    record = Build(
        name=source.name,
        commit=source.commit if isinstance(source, Revision) else None,
        version=artifact.version,
        build=digest,
        build_id=facts.build_id,
        flags=facts.flags,
        compiler=facts.compiler,
        stripped=facts.stripped,
    )
    return BuiltServer(record=record, program=program, source_root=artifact.source_root, source=source)


def _digest(parts: list[str]) -> str:
    return "b-" + hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


@functools.cache
def compiler_version() -> str:
    """Return what the C compiler says of itself; it is part of what goes into a build."""
    try:
        done = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=True)
    except (FileNotFoundError, subprocess.CalledProcessError) as missing:
        raise EnvironmentMissing("no C compiler is installed", hint="apt-get install gcc") from missing
    return done.stdout.splitlines()[0]


def server_version(program: Path) -> str:
    """Return the version that a server program prints; raises `UsageError` if it is no such server."""
    confinement = Confinement(read_only=[program])
    with launch([str(program), "--version"], environment={}, confinement=confinement, piped=True) as process:
        try:
            process.wait(VERSION_SECONDS)
        except subprocess.TimeoutExpired:
            raise _no_server(program, "it does not answer") from None
        text = process.stdout.read().decode(errors="replace") if process.stdout else ""
    found = re.search(r"\bv=(\S+)", text) or re.search(r"\b(\d+\.\d+\.\d+\S*)", text)
    if found is None or re.match(r"\S+-(cli|benchmark|check-\w+)\b", text):
        raise _no_server(program, f"it answers `{text.strip()[:80]}`")
    return found.group(1)


def source_root_of(compile_directory: str) -> str:
    """Return the root of the tree that a binary was compiled in: servers are compiled in its `src`."""
    return compile_directory.removesuffix("/src")


def _no_server(program: Path, seen: str) -> UsageError:
    return UsageError(f"`{program}` is not a server: asked for `--version`, {seen}")
