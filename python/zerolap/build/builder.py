"""Builds a source once and keeps the artifact under the digest of what went in."""

import contextlib
import errno
import hashlib
import os
import platform
import shutil
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from zerolap.build.archive import unpack_source
from zerolap.build.compilers import SOURCE_ROOT, Compilers, copy_files, link_files
from zerolap.build.hard_links import hard_link_file, hard_link_files
from zerolap.build.kept_tree import TREE, BuiltTree, KeptTree, Sources, keep_tree
from zerolap.build.kernel_build import KERNELS, RECORD as KERNEL_RECORD
from zerolap.build.placement import CODE, Relinkable, Relinking, newest_first
from zerolap.build.program import LARGEST_PROGRAM_BYTES, Program, ServerWords, server_words
from zerolap.build.recipe import NEEDED_FREE_BYTES, RECIPE_REVISION, no_space, recipe_for, run_recipe
from zerolap.build.source import content_digest, export
from zerolap.build.source_text import source_lines
from zerolap.build.submodules import empty_submodules, for_lack_of_submodules
from zerolap.build.unstartable import ELF_MACHINES
from zerolap.build.variant import DEFAULT, Variant, effective, tools_digest, unmet
from zerolap.named_file import open_named
from zerolap.records import (
    ArchiveSource,
    BinarySource,
    Build,
    BuildFailed,
    BuildSpec,
    EndpointSource,
    EnvironmentMissing,
    RevisionSource,
    Source,
    TreeSource,
    UsageError,
    server_name,
)
from zerolap.sandbox import (
    FileRefused,
    Limits,
    SandboxPolicy,
    confined_reader,
    remove,
    remove_abandoned,
    require_sandbox,
    scratch_directory,
)
from zerolap.store import BlobDamaged, Blobs

PROGRAM, RECORD, OBJECTS, CONFINED, ARCHIVE = "server", "build.json", "objects", "confined", "archive"
KEPT_OBJECTS = 16
"""Builds whose objects are kept, of some 20 MB each: those that were made last."""
KEPT_TREES = 6
"""The same of trees, of some 60 MB each: a history builds commits far apart, and each begins with the nearest."""
WORK_PREFIX, READY_PREFIX = "w-", "k-"
SOURCE_PREFIX = "zerolap-source-"
CONTINUED, ANEW, SOURCE = "continued", "anew", "source"
"""Directories of a build. Debug information names earlier ones: crates/profile/src/source_root.rs knows these names."""
KEPT_MODE = 0o755


@dataclass(frozen=True)
class BuiltServer:
    """A build and its program on this machine."""

    record: Build
    program: Program


@dataclass(frozen=True)
class ForLaterBuilds:
    """What a build leaves for later builds of nearly the same source.

    That is the directory with its objects, and the tree with what make left there, which is moved; `objects_of` has
    objects of an earlier build that it did not need. Files that are equal to those of the build `before` are shared.
    """

    objects: Path
    objects_of: Path | None
    tree: BuiltTree
    before: Path | None


class Builds:
    """The builds of this machine, in directories named by their digests.

    What was built from source, or came from another machine, runs under `policy`; programs that the user gave here run
    without a sandbox too.
    """

    def __init__(self, directory: Path, policy: SandboxPolicy = SandboxPolicy.REQUIRED) -> None:
        # Linkers and servers run in directories of their own.
        self.directory = directory.absolute()
        self.policy = policy

    def find(self, digest: str) -> BuiltServer | None:
        """Return the build of that digest, or none if it is not here."""
        kept = self.directory / digest
        try:
            record = Build.model_validate_json((kept / RECORD).read_text())
        except (FileNotFoundError, ValidationError):
            return None
        path = kept / PROGRAM if record.path is None else Path(record.path)
        # Not by the record alone: what came from another machine may claim to be a program of the user's.
        is_confined = bool(record.variant) or (kept / CONFINED).exists()
        policy = self.policy if is_confined else SandboxPolicy.UNSAFE
        return BuiltServer(record, Program(path, record.arguments, policy)) if path.is_file() else None

    def get(self, digest: str) -> BuiltServer:
        """Return the build of that digest; raises `EnvironmentMissing` if it is not here."""
        built = self.find(digest)
        if built is None:
            raise EnvironmentMissing(f"the build {digest} is not on this machine", hint="build it again")
        # If it belongs to another user, its use cannot be noted: that user may remove it early and build it again.
        with contextlib.suppress(PermissionError):
            self.use(digest)
        return built

    def clear_up(self) -> None:
        """Remove the directories of builds whose process was killed."""
        remove_abandoned(WORK_PREFIX, self.directory)
        remove_abandoned(READY_PREFIX, self.directory)

    def note_archive(self, digest: str, archive: str) -> None:
        """Note the blob with the files that a build was made of."""
        # A build of another user is that user's to note. Without a note, the source is packed again.
        with contextlib.suppress(OSError):
            (self.directory / digest / ARCHIVE).write_text(archive)

    def archive_of(self, digest: str) -> str | None:
        """Return the blob with the files that a build here was made of; none where the build or the note is missing."""
        if self.find(digest) is None:
            return None
        try:
            return (self.directory / digest / ARCHIVE).read_text()
        except (OSError, UnicodeDecodeError):
            return None

    def best_begun_with(self, digests: Sequence[str]) -> str | None:
        """Return the build that another one takes least to be made from; `digests` are in the order of likeness.

        A tree needs make to compile what differs, objects alone save the compiling of what does not. None has either.
        """
        for name in (TREE, OBJECTS):
            for digest in digests:
                if (self.directory / digest / name).is_dir():
                    return digest
        return None

    def source_lines(
        self, digest: str, wanted: Iterable[tuple[str, int]], archives: Blobs | None = None
    ) -> dict[tuple[str, int], str]:
        """Return the text of lines of a build's source, by file and number; nothing where the source is not here.

        With `archives`, it is unpacked from there where the tree of the build is gone.
        """
        wanted = list(wanted)
        texts = source_lines(self.directory / digest, wanted)
        archive = None if texts or archives is None else self.archive_of(digest)
        if archives is None or archive is None:
            return texts
        remove_abandoned(SOURCE_PREFIX)
        with scratch_directory(SOURCE_PREFIX) as directory:
            (directory / TREE).mkdir()
            source = ArchiveSource(name=digest, form="tree", content="", archive=archive)
            try:
                unpack_source(source, archives, directory / TREE)
            except (BlobDamaged, UsageError, ValueError):
                # The note of the archive may be damaged too.
                return {}
            return source_lines(directory, wanted)

    def relinking(self, digest: str) -> Relinking:
        """Return how placements of a build are linked, or why there are none."""
        return Relinkable.read(self.directory / digest).relinking

    def placed(self, digest: str, seed: int) -> Program:
        """Return the program of a build with its functions and variables in the order of a seed.

        Raises `LinkFailed` where there is no such program, `EnvironmentMissing` if the build is not here.
        """
        program = self.get(digest).program
        return replace(program, path=Relinkable.read(self.directory / digest).relink(seed, program.policy))

    def keep(
        self,
        record: Build,
        program: Path,
        relinkable: Relinkable | None = None,
        later: "ForLaterBuilds | None" = None,
        *,
        confined: bool = False,
    ) -> BuiltServer:
        """Keep a build, its program and what its placements need, in one step; another process may have been first.

        `later` is what it leaves for later builds. What is `confined` runs under the policy of these builds, although
        it was not built from source.
        """
        with self.in_preparation(record.build) as ready:
            if record.path is None:
                shutil.copy2(program, ready / PROGRAM)
            if relinkable is not None:
                relinkable.keep(ready)
            if later is not None:
                self._keep_for_later(later, ready)
            if confined:
                (ready / CONFINED).touch()
            (ready / RECORD).write_text(record.model_dump_json())
        return self.get(record.build)

    def _keep_for_later(self, later: "ForLaterBuilds", ready: Path) -> None:
        self._remove_old(OBJECTS, KEPT_OBJECTS)
        copy_files(later.objects, ready / OBJECTS)
        if later.objects_of is not None:
            link_files(later.objects_of, ready / OBJECTS)
        self._remove_old(TREE, KEPT_TREES)
        keep_tree(later.tree, ready)
        if later.before is not None:
            hard_link_files(ready / OBJECTS, later.before / OBJECTS, of_equal_age=False)
            hard_link_files(ready / TREE, later.before / TREE, of_equal_age=True)
            for name in (PROGRAM, CODE):
                hard_link_file(ready / name, later.before / name)

    @contextlib.contextmanager
    def in_preparation(self, digest: str) -> Iterator[Path]:
        """Yield an empty directory that becomes that of a build when the context ends without an error.

        If another process was first, its build is kept.
        """
        self.directory.mkdir(parents=True, exist_ok=True)
        with scratch_directory(READY_PREFIX, self.directory) as ready:
            yield ready
            # Other users may read a build, though not what is there of it before.
            ready.chmod(KEPT_MODE)
            kept = self.directory / digest
            try:
                ready.rename(kept)
            except OSError:
                if self.find(digest) is None:
                    remove(kept)
                    ready.rename(kept)

    def use(self, digest: str) -> None:
        """Note that a build is used, for `remove_unused`."""
        os.utime(self.directory / digest)

    def remove_unused(self, kept: int) -> None:
        """Remove all builds but those that were used last; no other process may use the directory."""
        for directory in newest_first(record.parent for record in self.directory.glob(f"b-*/{RECORD}"))[kept:]:
            remove(directory)

    def unused(self, before: float, needed: Container[str]) -> list[Path]:
        """Return the directories of builds and kernels that nobody used since `before`, in seconds since the epoch."""
        directories = [record.parent for record in self.directory.glob(f"b-*/{RECORD}")]
        directories += [record.parent for record in self.directory.glob(f"{KERNELS}/*/{KERNEL_RECORD}")]
        return [path for path in directories if path.name not in needed and path.stat().st_mtime < before]

    def _remove_old(self, name: str, kept: int) -> None:
        """Remove the directories of that name from all but the builds used last, so that there is room for another."""
        builds = (record.parent for record in self.directory.glob(f"*/{RECORD}") if (record.parent / name).is_dir())
        for build in newest_first(builds)[kept - 1 :]:
            # At once for others, who may be copying from it.
            with scratch_directory(READY_PREFIX, self.directory) as removed, contextlib.suppress(OSError):
                (build / name).rename(removed / name)


class Builder:
    """Turns sources into builds, which are kept in `directory`.

    Code of trees and revisions is built, and may run later, under `policy`, and so may programs of other machines.
    `limits` are for each build. `archives` hold the files of sources that come from other machines.
    """

    def __init__(
        self,
        directory: Path,
        on_build: Callable[[str], None] = lambda _: None,
        policy: SandboxPolicy = SandboxPolicy.REQUIRED,
        limits: Limits | None = None,
        archives: Blobs | None = None,
    ) -> None:
        self.builds = Builds(directory, policy)
        self._directory = self.builds.directory
        self._on_build = on_build
        self._policy = policy
        self._limits = limits
        self._archives = archives

    def check(self, source: Source, variant: Variant = DEFAULT) -> None:
        """Raise `UsageError` or `EnvironmentMissing` if a source cannot be built so: before others are built."""
        match source:
            case EndpointSource():
                raise UsageError(
                    f"`{source.name}` is a running server: it cannot be counted",
                    hint="give a binary, a source tree or a revision",
                )
            case BinarySource() | ArchiveSource(form="program") if not variant.is_default:
                raise UsageError(
                    f"`{source.name}` is a program: it is as it was built, and cannot be `{variant.name}`",
                    hint="give its source tree or a revision, or leave `--variant` out",
                )
            case ArchiveSource() if source.arguments:
                # Paths in them would be those of this machine, and be shown to the server.
                raise UsageError(
                    f"`{source.name}` is a start command, which only the machine that it is given on can build",
                    hint="give the program alone, its source tree or a revision",
                )
            case ArchiveSource(form="program"):
                require_sandbox(self._policy, f"starting `{source.name}`")
            case TreeSource() | RevisionSource() | ArchiveSource():
                require_sandbox(self._policy, f"building `{source.name}`")
                tools_digest(variant)

    def spec(self, source: Source, variant: Variant = DEFAULT) -> BuildSpec:
        """Return the specification of a build; raises as `check` does, and for a source that is no server."""
        self.check(source, variant)
        match source:
            case BinarySource():
                if not os.access(source.path, os.X_OK):
                    hint = "give the server's program, or make it executable: chmod +x"
                    raise UsageError(f"`{source.path}` is not an executable file", hint=hint)
                with open_named(source.path, LARGEST_PROGRAM_BYTES) as program:
                    content = hashlib.file_digest(program, "sha256").hexdigest()
                return BuildSpec(content=content, arguments=source.arguments)
            case TreeSource():
                # Before all its files are read: it may be a large directory that is no source at all.
                recipe_for(source.name, source.path, jobs=1, variant=variant)
                return _spec(content_digest(source), variant, tools_digest(variant))
            case RevisionSource():
                return _spec(content_digest(source), variant, tools_digest(variant))
            case ArchiveSource():
                return spec_of(source, variant, tools_digest(variant) if source.form == "tree" else ())
        raise AssertionError(source)  # an endpoint has been refused

    def build(self, source: Source, variant: Variant = DEFAULT, objects_of: str | None = None) -> BuiltServer:
        """Return the build of a source in a variant, making it if it is not yet there.

        Where ccache is installed, objects of equal source files are taken from the build with the digest `objects_of`.
        Raises `BuildFailed` with the end of the compiler's output or with what did not take effect,
        `EnvironmentMissing` where a compiler, disk space or a sandbox is missing, `UsageError` for a source that is no
        server or cannot be built so.
        """
        spec = self.spec(source, variant)
        built = self.builds.find(spec.digest)
        if built is not None:
            return built
        match source:
            case BinarySource():
                return self._from_binary(source, spec)
            case ArchiveSource(form="program"):
                return self._from_archived_program(source, spec)
            case TreeSource() | RevisionSource() | ArchiveSource():
                self._on_build(server_name(source, variant.name))
                if objects_of is not None:
                    with contextlib.suppress(OSError):
                        self.builds.use(objects_of)
                with self._work_directory() as work:
                    built = self._make(source, variant, spec, work, objects_of)
                # Others unpack what is noted as if it came from anywhere.
                if isinstance(source, ArchiveSource) and not source.links_lead_out:
                    self.builds.note_archive(spec.digest, source.archive)
                return built
        raise AssertionError(source)  # an endpoint has been refused

    def _from_binary(self, source: BinarySource, spec: BuildSpec) -> BuiltServer:
        record = _described_program(str(source.path), Program(source.path, source.arguments), spec)
        if source.arguments:
            # It may look for what it needs beside itself.
            record = record.model_copy(update={"path": str(source.path)})
        return self.builds.keep(record, source.path)

    def _from_archived_program(self, source: ArchiveSource, spec: BuildSpec) -> BuiltServer:
        with self._work_directory() as work:
            path = unpack_source(source, self._require_archives(source), work).path
            record = _described_program(source.name, Program(path, policy=self._policy), spec)
            return self.builds.keep(record, path, confined=True)

    @contextlib.contextmanager
    def _work_directory(self) -> Iterator[Path]:
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            self.builds.clear_up()
            with scratch_directory(WORK_PREFIX, self._directory) as work:
                yield work
        except OSError as fault:
            if fault.errno != errno.ENOSPC:
                raise
            raise no_space(self._directory) from fault

    def _require_archives(self, source: ArchiveSource) -> Blobs:
        if self._archives is None:
            raise EnvironmentMissing(f"the files of `{source.name}` are not on this machine", hint="build it elsewhere")
        return self._archives

    def _make(
        self,
        source: TreeSource | RevisionSource | ArchiveSource,
        variant: Variant,
        spec: BuildSpec,
        work: Path,
        objects_of: str | None,
    ) -> BuiltServer:
        if shutil.disk_usage(self._directory).free < NEEDED_FREE_BYTES:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        before = None if objects_of is None else self.builds.directory / objects_of
        try:
            return self._make_in(work / CONTINUED, source, variant, spec, before, continues=True)
        except _ContinuedBuildFailed:
            remove(work / CONTINUED)
            return self._make_in(work / ANEW, source, variant, spec, before, continues=False)

    def _make_in(
        self,
        work: Path,
        source: TreeSource | RevisionSource | ArchiveSource,
        variant: Variant,
        spec: BuildSpec,
        before: Path | None,
        *,
        continues: bool,
    ) -> BuiltServer:
        """Build in a new directory, with the objects of the build `before`, and in its tree where that `continues`.

        Raises `_ContinuedBuildFailed` where only a build from nothing shows whether the source builds.
        """
        name, tree = server_name(source, variant.name), work / SOURCE
        tree.mkdir(parents=True)
        if isinstance(source, ArchiveSource):
            unpack_source(source, self._require_archives(source), tree)
        else:
            export(source, tree)
        recipe = recipe_for(source.name, tree, os.cpu_count() or 1, variant)
        sources, lacking = Sources.of(tree, spec), empty_submodules(tree)
        is_continued = False
        if continues and before is not None:
            try:
                is_continued = KeptTree(before).continue_in(tree, sources, recipe.program)
            except (OSError, FileRefused) as failed:
                raise _ContinuedBuildFailed from failed
        if is_continued:
            recipe = replace(recipe, settings="")
        # Where make goes on, it compiles what is in no cache.
        objects_of = None if before is None else before / OBJECTS
        compilers = Compilers.make(work / "compilers", tree, variant, None if is_continued else objects_of)
        try:
            program = run_recipe(name, tree, recipe, compilers, self._policy, self._limits)
            words = server_words(Program(program, policy=self._policy))
            _require_effect(name, program, variant, words)
        except (BuildFailed, UsageError) as failed:
            if is_continued:
                raise _ContinuedBuildFailed from failed
            if isinstance(failed, BuildFailed) and lacking:
                raise for_lack_of_submodules(failed, lacking) from failed
            raise
        relinkable = Relinkable.make(compilers, tree, program, self._policy)
        could_relink = before is not None and not Relinkable.read(before).relinking.failure
        if is_continued and could_relink and relinkable.relinking.failure:
            raise _ContinuedBuildFailed(relinkable.relinking.failure)
        described = _described(program, words, spec, SOURCE_ROOT)
        later = ForLaterBuilds(
            objects=compilers.objects,
            objects_of=objects_of if is_continued else None,
            tree=BuiltTree(tree, sources, PurePosixPath(recipe.program), compilers.linked_files(program, tree)),
            before=before,
        )
        return self.builds.keep(described, program, relinkable, later)


class _ContinuedBuildFailed(Exception):
    """A build in the tree of another failed."""


def spec_of(source: ArchiveSource, variant: Variant, tools: Sequence[str]) -> BuildSpec:
    """Return the specification of a build by these tools; a program needs none."""
    if source.form == "program":
        return BuildSpec(content=source.content, arguments=source.arguments)
    return _spec(source.content, variant, tools)


def _spec(content: str, variant: Variant, tools: Sequence[str]) -> BuildSpec:
    return BuildSpec(content=content, variant=variant.name, recipe=RECIPE_REVISION, tools=tuple(tools))


def _described_program(name: str, program: Program, spec: BuildSpec) -> Build:
    """Return the record of a program that was not built here; raises `UsageError` if it is no server's."""
    words = server_words(program, name)
    try:
        # It is compiled in the directory `src` of its tree.
        root = confined_reader.binary_facts(str(program.path)).compile_directory.removesuffix("/src")
    except ValueError as wrong:
        with program.path.open("rb") as file:
            is_script = file.read(2) == b"#!"
        hint = "give the program that it starts, with its arguments, in quotes" if is_script else ""
        raise UsageError(f"`{name}` is no program that can be measured: {wrong}", hint=hint) from wrong
    return _described(program.path, words, spec, root)


def _require_effect(name: str, program: Path, variant: Variant, words: ServerWords) -> None:
    """Raise `BuildFailed` if a program was not built as asked."""
    built = effective(program)
    missed = unmet(variant, built, words.allocator)
    if missed:
        reported = " ".join(filter(None, [built.compiler, built.flags, words.allocator])) or "nothing"
        raise BuildFailed(
            f"`{name}` was built, but {', '.join(missed)} did not take effect",
            hint="its Makefile takes flags in a way that is not known here: build it yourself and give the binary",
            details=f"the program reports: {reported}",
        )


def _described(program: Path, words: ServerWords, spec: BuildSpec, source_root: str) -> Build:
    facts, effect = confined_reader.binary_facts(str(program)), effective(program)
    with program.open("rb") as file:
        machine = int.from_bytes(file.read(20)[18:20], "little")
    return Build(
        build=spec.digest,
        version=words.version,
        build_id=facts.build_id,
        flags=effect.flags,
        compiler=effect.compiler,
        stripped=facts.stripped,
        variant=spec.variant,
        allocator=words.allocator,
        architecture=ELF_MACHINES.get(machine, f"ELF machine {machine}"),
        libc=" ".join(platform.libc_ver(str(program))).strip(),
        source_root=source_root,
        arguments=spec.arguments,
        image=facts.image,
    )
