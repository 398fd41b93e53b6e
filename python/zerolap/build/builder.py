"""Builds a source once and keeps the artifact under the digest of what went in."""

import errno
import hashlib
import os
import secrets
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from zerolap.build.binary import BinaryFacts, read_facts
from zerolap.build.program import Program, server_words, source_root_of
from zerolap.build.recipe import NEEDED_FREE_BYTES, RECIPE_REVISION, no_space, recipe_for, run_recipe
from zerolap.build.source import Binary, Endpoint, Revision, Source, Tree, content_digest, export
from zerolap.build.variant import DEFAULT, Variant, effective, tools_digest, unmet
from zerolap.records import Build, BuildFailed, Record, UsageError
from zerolap.sandbox import Limits, SandboxPolicy, require_sandbox


class Artifact(Record):
    """What is kept beside a built program; `source_root` is the directory that its debug information names."""

    version: str
    allocator: str
    source_root: str
    variant: str = ""
    facts: BinaryFacts | None = None


@dataclass(frozen=True)
class BuiltServer:
    """A server program that can be started, and where its debug information says its source was."""

    record: Build
    program: Program
    source_root: str
    source: Source


class Builder:
    """Turns sources into servers; artifacts stay in `directory`, under the digest of what went in.

    Code of trees and revisions is built, and may run later, as `policy` says. `limits` are for each build.
    """

    def __init__(
        self,
        directory: Path,
        on_build: Callable[[str], None] = lambda _: None,
        policy: SandboxPolicy = SandboxPolicy.REQUIRED,
        limits: Limits | None = None,
    ) -> None:
        self._directory = directory
        self._on_build = on_build
        self._policy = policy
        self._limits = limits

    def check(self, source: Source, variant: Variant = DEFAULT) -> None:
        """Raise `UsageError` or `EnvironmentMissing` if a source cannot be built so: before others are built."""
        match source:
            case Endpoint():
                raise _running(source)
            case Binary() if not variant.is_default:
                raise UsageError(
                    f"`{source.name}` is a program: it is as it was built, and cannot be `{variant.name}`",
                    hint="give its source tree or a revision, or leave `--variant` out",
                )
            case Tree() | Revision():
                require_sandbox(self._policy, f"building `{source.name}`")
                tools_digest(variant)

    def build(self, source: Source, variant: Variant = DEFAULT) -> BuiltServer:
        """Return the server of a source in a variant, building it if it is not yet there.

        Raises `BuildFailed` with the end of the compiler's output or with what did not take effect,
        `EnvironmentMissing` where a compiler, disk space or a sandbox is missing, `UsageError` for a source that is no
        server or cannot be built so.
        """
        self.check(source, variant)
        match source:
            case Endpoint():
                raise _running(source)
            case Binary():
                return _from_binary(source)
            case Tree() | Revision():
                return self._from_source(source, variant)

    def _from_source(self, source: Tree | Revision, variant: Variant) -> BuiltServer:
        if isinstance(source, Tree):
            # Before all its files are read: it may be a large directory that is no source at all.
            recipe_for(source.name, source.path, jobs=1, variant=variant)
        parts = [str(RECIPE_REVISION), content_digest(source), *tools_digest(variant), variant.name]
        digest = _digest(parts)
        kept = self._directory / digest
        artifact = _read_artifact(kept)
        if artifact is None:
            artifact = self._make(source, variant, kept)
        return _built(source, digest, Program(kept / "server", policy=self._policy), artifact)

    def _make(self, source: Tree | Revision, variant: Variant, kept: Path) -> Artifact:
        name = _name(source, variant.name)
        self._on_build(name)
        # Of fixed length: the path is part of the debug information, whose size must not depend on the source.
        work = self._directory / f"w-{secrets.token_hex(6)}"
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            if shutil.disk_usage(self._directory).free < NEEDED_FREE_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            tree = work / "source"
            tree.mkdir(parents=True)
            export(source, tree)
            recipe = recipe_for(source.name, tree, os.cpu_count() or 1, variant)
            program = run_recipe(name, tree, recipe, work / "build.log", self._policy, self._limits)
            artifact = _artifact(name, tree, Program(program, policy=self._policy), variant)
            _keep(work, program, artifact, kept)
        except OSError as fault:
            if fault.errno != errno.ENOSPC:
                raise
            raise no_space(self._directory) from fault
        finally:
            shutil.rmtree(work, ignore_errors=True)
        return artifact


def _from_binary(source: Binary) -> BuiltServer:
    path, program = source.path, Program(source.path, source.arguments)
    if not os.access(path, os.X_OK):
        raise UsageError(f"`{path}` is not an executable file")
    parts = ["binary", hashlib.sha256(path.read_bytes()).hexdigest(), *program.arguments]
    words = server_words(program)
    try:
        facts = read_facts(path)
    except ValueError as wrong:
        hint = "give the program that it starts, with its arguments, in quotes" if _is_script(path) else ""
        raise UsageError(f"`{path}` is no program that can be measured: {wrong}", hint=hint) from wrong
    root = source_root_of(facts.compile_directory)
    artifact = Artifact(version=words.version, allocator=words.allocator, source_root=root, facts=facts)
    return _built(source, _digest(parts), program, artifact)


def _is_script(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"#!"


def _artifact(name: str, tree: Path, program: Program, variant: Variant) -> Artifact:
    """Return what is to be kept of a program; raises `BuildFailed` if it was not built as asked."""
    words = server_words(program)
    try:
        facts = read_facts(program.path)
    except ValueError as wrong:
        raise BuildFailed(f"`{name}` was built, but its program cannot be read: {wrong}") from wrong
    built = effective(facts)
    missed = unmet(variant, built, words.allocator)
    if missed:
        said = " ".join(filter(None, [built.compiler, built.flags, words.allocator])) or "nothing"
        raise BuildFailed(
            f"`{name}` was built, but {', '.join(missed)} did not take effect",
            hint="its Makefile takes flags in a way that is not known here: build it yourself and give the binary",
            details=f"the program says of itself: {said}",
        )
    return Artifact(
        version=words.version,
        allocator=words.allocator,
        source_root=str(tree),
        variant=variant.name,
        facts=facts,
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


def _built(source: Source, digest: str, program: Program, artifact: Artifact) -> BuiltServer:
    # Artifacts of earlier versions do not have them.
    facts = artifact.facts or read_facts(program.path)
    said = effective(facts)
    record = Build(
        name=_name(source, artifact.variant),
        commit=source.commit if isinstance(source, Revision) else None,
        version=artifact.version,
        build=digest,
        build_id=facts.build_id,
        flags=said.flags,
        compiler=said.compiler,
        stripped=facts.stripped,
        variant=artifact.variant,
        allocator=artifact.allocator,
    )
    return BuiltServer(record=record, program=program, source_root=artifact.source_root, source=source)


def _name(source: Source, variant: str) -> str:
    """Return a side's name: what the user called the source, and the variant that tells it from another of it."""
    return source.name if variant in {"", DEFAULT.name} else f"{source.name} ({variant})"


def _running(source: Endpoint) -> UsageError:
    return UsageError(
        f"`{source.name}` is a running server: it cannot be counted",
        hint="give a binary, a source tree or a revision",
    )


def _digest(parts: list[str]) -> str:
    return "b-" + hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
