"""Builds a kernel from a source tree or tarball, patches and a configuration, and keeps it by what went in."""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from zerolap.build.recipe import artifact_in, no_space, run_step
from zerolap.build.source import content_digest, export
from zerolap.build.variant import BUILD_PATH, DEFAULT, tools_digest
from zerolap.records import (
    BuildFailed,
    EnvironmentMissing,
    Kernel,
    KernelFiles,
    KernelPatch,
    TreeSource,
    UsageError,
    digest_of,
)
from zerolap.sandbox import (
    Confinement,
    FileRefused,
    SandboxPolicy,
    build_limits,
    is_regular_file,
    read_file,
    remove,
    remove_abandoned,
    require_sandbox,
    scratch_directory,
)

KERNELS: Final = "kernels"
"""The directory with all kernels, beside that of the builds of servers."""
IMAGE, RECORD, CONFIGURATION = "bzImage", "kernel.json", "config"
RECIPE_REVISION: Final = 1
"""Part of a kernel's digest: to be raised when the recipe builds differently."""
WORK_PREFIX: Final = "work-"
OBJECTS: Final = "objects"
"""The directory of ccache, where it is installed: another patch compiles only the files that differ."""
MOST_OBJECTS: Final = "2G"
GUEST_CONFIGURATION: Final = Path(__file__).with_name("guest_kernel.config")
"""What an emulated machine needs of its kernel; a user's fragment comes after it."""
TOOLS: Final = {
    "make": "make",
    "gcc": "gcc",
    "ld": "binutils",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "patch": "patch",
    "tar": "tar",
    "xz": "xz-utils",
}
"""The programs that a build needs, and Debian's packages that have them."""
HEADERS: Final = {Path("/usr/include/libelf.h"): "libelf-dev"}
"""The same of files for the compiler, which the kernel's own tools are built with."""
IMAGE_PATH: Final = Path("arch/x86/boot/bzImage")
TARBALL: Final = re.compile(r".+\.tar(\.(xz|gz|bz2|zst))?")
SETTING: Final = re.compile(r"^(CONFIG_\w+)=(.+)$|^# (CONFIG_\w+) is not set$", re.MULTILINE)
VERSION: Final = re.compile(r"^(VERSION|PATCHLEVEL|SUBLEVEL) = (\d+)$", re.MULTILINE)
LARGEST_TEXT_BYTES: Final = 4 << 20
LARGEST_PATCH_BYTES: Final = 64 << 20
NEEDED_FREE_BYTES: Final = 4 << 30
"""An unpacked source takes 1.4 GB, its objects some hundred MB."""
ENVIRONMENT: Final = {
    "PATH": BUILD_PATH,
    "HOME": "/tmp",
    "LANG": "C",
    "KBUILD_BUILD_TIMESTAMP": "1970-01-01",
    "KBUILD_BUILD_USER": "zerolap",
    "KBUILD_BUILD_HOST": "zerolap",
}
"""Equal inputs give equal kernels; the environment of the lab must not reach the Makefile."""


@dataclass(frozen=True)
class KernelSource:
    """What a kernel is built of: a source tree or tarball, patches in their order, fragments of a configuration."""

    path: Path
    patches: Sequence[Path] = ()
    configurations: Sequence[Path] = ()

    def __post_init__(self) -> None:
        """Raise `UsageError` for what is not there, or is no source of a kernel."""
        if not self.path.exists():
            raise UsageError(
                f"`{self.path}` is not there",
                hint="give a kernel's source tree or tarball: apt-get install linux-source-6.1 has "
                "/usr/src/linux-source-6.1.tar.xz",
            )
        if self.path.is_dir():
            if not (self.path / "Kconfig").is_file() or not (self.path / "arch/x86").is_dir():
                raise UsageError(f"`{self.path}` is not the source tree of a kernel for x86: it has no arch/x86")
        elif not TARBALL.fullmatch(self.path.name) or not self.path.is_file():
            raise UsageError(
                f"`{self.path}` is neither a directory nor a tarball", hint="give a file such as linux-6.1.tar.xz"
            )
        for path in (*self.patches, *self.configurations):
            if not path.is_file():
                raise UsageError(f"`{path}` is not a file")
            if path.stat().st_size > LARGEST_PATCH_BYTES:
                raise UsageError(f"`{path}` has more than {LARGEST_PATCH_BYTES >> 20} MiB")

    @classmethod
    def of(cls, files: KernelFiles) -> "KernelSource":
        """Return what a request names; raises `UsageError` where that is not there any more."""
        return cls(Path(files.path), [*map(Path, files.patches)], [*map(Path, files.configurations)])

    @property
    def files(self) -> KernelFiles:
        """Its files, as a request names them."""
        patches, configurations = (
            tuple(str(path.absolute()) for path in paths) for paths in (self.patches, self.configurations)
        )
        return KernelFiles(path=str(self.path.absolute()), patches=patches, configurations=configurations)

    @property
    def content(self) -> str:
        """The digest of the source without patches and configuration."""
        if self.path.is_dir():
            return content_digest(TreeSource(name=self.path.name, path=self.path.resolve()))
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class BuiltKernel:
    """A kernel on this machine: its record, and the image that a machine boots."""

    record: Kernel
    image: Path


class KernelBuilder:
    """Turns sources into kernels, which are kept below `directory`; foreign code is built under `policy`."""

    def __init__(
        self,
        directory: Path,
        on_build: Callable[[str], None] = lambda _: None,
        policy: SandboxPolicy = SandboxPolicy.REQUIRED,
    ) -> None:
        self.directory = directory.absolute()
        self._on_build = on_build
        self._policy = policy

    def find(self, digest: str) -> BuiltKernel | None:
        """Return the kernel of that digest, or none if it is not here."""
        kept = self.directory / digest
        try:
            record = Kernel.model_validate_json((kept / RECORD).read_text())
        except (FileNotFoundError, ValidationError):
            return None
        return BuiltKernel(record, kept / IMAGE) if (kept / IMAGE).is_file() else None

    def build(self, source: KernelSource) -> BuiltKernel:
        """Return the kernel of a source, made unless it is here; another process that makes it is waited for.

        Raises `EnvironmentMissing` where a tool or disk space is missing, `BuildFailed` for a patch that does not apply
        or a kernel that does not build, with the end of the output.
        """
        digest, patches = self._identity(source)
        built = self.find(digest)
        if built is not None:
            # Those that nobody uses are removed after a time; those of another user are that user's to keep.
            with contextlib.suppress(PermissionError):
                os.utime(self.directory / digest)
            return built
        _require_tools()
        require_sandbox(self._policy, f"building `{source.path.name}`")
        self.directory.mkdir(parents=True, exist_ok=True)
        # One process at a time builds a kernel.
        with (self.directory / f"{digest}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            built = self.find(digest)
            if built is None:
                self._on_build(source.path.name)
                self._make(source, digest, patches)
                built = self.find(digest)
        if built is None:
            raise BuildFailed(f"the kernel of `{source.path.name}` was built, and cannot be read")
        return built

    def _identity(self, source: KernelSource) -> tuple[str, list[KernelPatch]]:
        """Return the digest of all that goes into a kernel, and its patches."""
        patches = [
            KernelPatch(name=path.name, digest=hashlib.sha256(path.read_bytes()).hexdigest()) for path in source.patches
        ]
        configurations = [
            hashlib.sha256(path.read_bytes()).hexdigest() for path in (GUEST_CONFIGURATION, *source.configurations)
        ]
        parts = [source.content, *(patch.digest for patch in patches), "", *configurations, "", *tools_digest(DEFAULT)]
        return digest_of(str(RECIPE_REVISION), *parts), patches

    def _make(self, source: KernelSource, digest: str, patches: list[KernelPatch]) -> None:
        remove_abandoned(WORK_PREFIX, self.directory)
        if shutil.disk_usage(self.directory).free < NEEDED_FREE_BYTES:
            raise no_space(self.directory)
        with scratch_directory(WORK_PREFIX, self.directory) as work:
            making = _Making(source, work, self.directory / OBJECTS, self._policy)
            ready = work / "ready"
            ready.mkdir()
            try:
                shutil.copy2(making.make(), ready / IMAGE, follow_symlinks=False)
                record = Kernel(
                    digest=digest,
                    name=source.path.name,
                    version=making.version(),
                    patches=patches,
                    compiler=tools_digest(DEFAULT)[1],
                    without_effect=making.without_effect(),
                )
                (ready / CONFIGURATION).write_bytes(making.configuration())
            except FileRefused as refused:
                raise BuildFailed(f"the kernel of `{source.path.name}` does not build: {refused}") from refused
            (ready / RECORD).write_text(record.model_dump_json())
            with contextlib.suppress(FileNotFoundError):
                remove(self.directory / digest)
            ready.rename(self.directory / digest)


class _Making:
    """A kernel as it is made in a directory of its own, each step in the sandbox and within limits."""

    def __init__(self, source: KernelSource, work: Path, objects: Path, policy: SandboxPolicy) -> None:
        self._source = source
        self._objects = objects
        self._objects.mkdir(exist_ok=True)
        self._name = source.path.name
        self._work = work
        self._policy = policy
        self._tree = work / "source"
        self._tree.mkdir()
        self._inputs = work / "inputs"
        self._inputs.mkdir()
        compiler = [] if shutil.which("ccache", path=BUILD_PATH) is None else ["CC=ccache gcc"]
        self._make = ["make", "ARCH=x86_64", *compiler]

    def make(self) -> Path:
        self._unpack()
        self._patch()
        self._configure()
        return self._compile()

    def _unpack(self) -> None:
        """Copy or unpack the source; one directory above all others of a tarball is left out."""
        if self._source.path.is_dir():
            export(TreeSource(name=self._name, path=self._source.path.resolve()), self._tree)
            return
        command = ["tar", "--extract", f"--file={self._source.path.resolve()}", "--strip-components=1"]
        self._run(command, f"`{self._name}` cannot be unpacked")

    def _patch(self) -> None:
        """Apply the patches in their order; raises `BuildFailed` for the first that does not apply."""
        for number, path in enumerate(self._source.patches):
            copy = self._copied(path, f"{number}.patch")
            command = ["patch", "--strip=1", "--batch", "--forward", f"--input={copy}"]
            self._run(command, f"`{path.name}` does not apply to `{self._name}`")

    def _configure(self) -> None:
        """Make the configuration: what a guest needs, then the fragments, and nothing else."""
        fragments = [GUEST_CONFIGURATION, *self._source.configurations]
        copies = [str(self._copied(path, f"{number}.config")) for number, path in enumerate(fragments)]
        failed = f"`{self._name}` cannot be configured"
        self._run([*self._make, "allnoconfig"], failed)
        self._run(["scripts/kconfig/merge_config.sh", "-m", ".config", *copies], failed)
        self._run([*self._make, "olddefconfig"], failed)

    def _compile(self) -> Path:
        jobs = f"-j{os.cpu_count() or 1}"
        self._run([*self._make, jobs, "bzImage"], f"the kernel of `{self._name}` does not build")
        return artifact_in(self._name, self._tree, IMAGE_PATH)

    def configuration(self) -> bytes:
        return read_file(self._tree / ".config", LARGEST_TEXT_BYTES)

    def version(self) -> str:
        """Return the version as the Makefile states it, such as `6.1.192`; empty if it does not."""
        text = read_file(self._tree / "Makefile", LARGEST_TEXT_BYTES).decode(errors="replace")
        stated = dict(VERSION.findall(text))
        return ".".join(stated[part] for part in ("VERSION", "PATCHLEVEL", "SUBLEVEL") if part in stated)

    def without_effect(self) -> list[str]:
        """Return those settings of the user's fragments that the kernel was not built with."""
        built = settings_of(self.configuration().decode(errors="replace"))
        wanted: dict[str, str] = {}
        for path in self._source.configurations:
            wanted |= settings_of(path.read_text(errors="replace"))
        return sorted(f"{name}={value}" for name, value in wanted.items() if built.get(name, "n") != value)

    def _copied(self, path: Path, name: str) -> Path:
        """Return a copy of an input that the sandbox shows."""
        copy = self._inputs / name
        copy.write_bytes(path.read_bytes())
        return copy

    def _run(self, command: Sequence[str], failed: str) -> None:
        shown = [] if self._source.path.is_dir() else [self._source.path.resolve()]
        confinement = Confinement(
            writable=[self._tree, self._objects],
            read_only=[self._inputs, *shown],
            directory=self._tree,
            limits=build_limits(self._tree),
            policy=self._policy,
        )
        # The tree lies elsewhere each time; its objects do not name it.
        cache = {"CCACHE_DIR": str(self._objects), "CCACHE_NOHASHDIR": "1", "CCACHE_MAXSIZE": MOST_OBJECTS}
        run_step(command, ENVIRONMENT | cache, confinement, self._work / "build.log", failed)


def settings_of(text: str) -> dict[str, str]:
    """Return the settings of a configuration or a fragment of one by their names; what is not set is `n`."""
    return {match[1] or match[3]: (match[2] or "n").strip() for match in SETTING.finditer(text)}


def _require_tools() -> None:
    """Raise `EnvironmentMissing` with the command that installs what a build needs and is missing."""
    packages = [package for program, package in TOOLS.items() if shutil.which(program, path=BUILD_PATH) is None]
    packages += [package for header, package in HEADERS.items() if not is_regular_file(header)]
    if packages:
        raise EnvironmentMissing(
            f"a kernel cannot be built: {', '.join(packages)} {'is' if len(packages) == 1 else 'are'} missing",
            hint=f"apt-get install {' '.join(packages)}",
        )
