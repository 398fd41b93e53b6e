"""How a source tree becomes a server: the command that builds it, its flags, its steps, and what a failed step says.

Redis, Valkey and their relatives share a Makefile, which hands flags to the compiler in another way in each era. All
eras since Redis 2.6 read `src/.make-settings` after their own defaults and before they compose the final flags, and
it is there that a variant is set: one way that later eras did not change, that the dependencies do not see, and that
can take out what the Makefile put in. What the eras put in, and where:

- Redis to 7.0: `OPTIMIZATION?=-O2`, handed on as `OPT`; the linker gets `LDFLAGS` and `REDIS_LDFLAGS`.
- Redis 7.2, Valkey 7.2: `OPTIMIZATION?=-O3`; with it `REDIS_CFLAGS+=-flto=auto` and `REDIS_LDFLAGS+=-O3 -flto` (Valkey:
  `SERVER_…`). Given as arguments of make, these variables would lose what the Makefile adds.
- Redis 7.4 and later, Valkey 8.0 and later: `OPTIMIZATION+=-flto=auto` and `OPTIMIZATION+=-fno-omit-frame-pointer`;
  `OPT` goes to the linker too.

The compiler is an argument of make, as Lua's and hiredis's Makefiles take it only from there; frame pointers are part
of it, so that the dependencies get them: `CFLAGS` would take jemalloc 5.3 its own -O3.
"""

import re
import shutil
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from zerolap.build.compilers import Compilers
from zerolap.build.program import LARGEST_PROGRAM_BYTES
from zerolap.build.variant import (
    BUILD_PATH,
    CLANG_DEBUG_FLAGS,
    DEFAULT,
    Variant,
    compiler_of,
    cxx_of,
    flags_that_keep_calls,
    is_clang,
    lto_flag,
    lto_linker,
)
from zerolap.byte_counts import shown_bytes
from zerolap.records import BuildFailed, EnvironmentMissing, UsageError
from zerolap.sandbox import (
    Confinement,
    FileRefused,
    LimitReached,
    Limits,
    SandboxPolicy,
    build_limits,
    launch,
    read_file,
)

COMPILE_VARIABLES = ("OPT", "CFLAGS", "REDIS_CFLAGS", "SERVER_CFLAGS")
LINK_VARIABLES = ("LDFLAGS", "REDIS_LDFLAGS", "SERVER_LDFLAGS")
FRAME_POINTER_FLAGS = {True: "-fno-omit-frame-pointer", False: "-fomit-frame-pointer"}
READS_SETTINGS = re.compile(r"^\s*-?include\s+\.make-settings\b", re.MULTILINE)
OWN_OPTIMIZATION = re.compile(r"^OPTIMIZATION[ \t]*[?:]?=[ \t]*(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Remedy:
    """Flags without which a tree does not build with a compiler of today: for trees whose `file` holds `pattern`."""

    why: str
    file: str
    pattern: str
    flags: tuple[str, ...]


REMEDIES = (
    Remedy(
        why="a variable defined in a header, which gcc 10, clang 11 and later link no more (Redis 5.0.0 to 5.0.7)",
        file="src/sds.h",
        pattern=r"^const char \*SDS_NOINIT;",
        flags=("-fcommon",),
    ),
)


def remedies(tree: Path) -> list[str]:
    """Return the flags that a tree needs to be built by a compiler of today."""
    return [flag for remedy in REMEDIES if _applies(remedy, tree) for flag in remedy.flags]


def make_arguments(variant: Variant) -> list[str]:
    """Return the arguments of make that choose compiler and allocator, for the server and what it bundles."""
    arguments = []
    flags = [FRAME_POINTER_FLAGS[variant.frame_pointers]] if variant.frame_pointers is not None else []
    compiler = compiler_of(variant)
    if is_clang(variant) and not variant.is_default:
        flags += CLANG_DEBUG_FLAGS
    if variant.compiler is not None or flags:
        arguments = [f"CC={' '.join([compiler, *flags])}", f"CXX={' '.join([cxx_of(variant), *flags])}"]
    if variant.allocator is not None:
        arguments.append(f"MALLOC={variant.allocator}")
    return arguments


def wanted_flags(variant: Variant, needed: list[str]) -> list[str]:
    """Return the flags for the server's own code."""
    flags = [*needed]
    if variant.optimization is not None:
        flags.append(variant.optimization)
    if variant.link_time_optimization is not None:
        flags.append(lto_flag(variant) if variant.link_time_optimization else "-fno-lto")
    if variant.frame_pointers is not None:
        flags.append(FRAME_POINTER_FLAGS[variant.frame_pointers])
    flags += variant.extra
    # Last, so that no other flag has a function inlined after all.
    return [*flags, *(flags_that_keep_calls(variant) if variant.inlining is False else ())]


def replaced_flags(variant: Variant) -> list[str]:
    """Return what has to go from the Makefile's own flags, as patterns of make's."""
    patterns = []
    if variant.optimization is not None:
        patterns.append("-O%")
    if variant.link_time_optimization is not None:
        patterns += ["-flto", "-flto=%", "-fno-lto"]
    if variant.frame_pointers is not None:
        patterns += list(FRAME_POINTER_FLAGS.values())
    return patterns


def make_settings(variant: Variant, needed: list[str]) -> str:
    """Return what the Makefile is to read after its own defaults; empty where they stay as they are."""
    wanted, replaced = wanted_flags(variant, needed), replaced_flags(variant)
    lines = []
    for name in (*COMPILE_VARIABLES, *LINK_VARIABLES):
        kept = f"$(filter-out {' '.join(replaced)},$({name}))" if replaced else f"$({name})"
        added = wanted if name in ("OPT", "LDFLAGS") else []
        if replaced or added:
            lines.append(" ".join([f"{name} :=", kept, *added]))
    linker = lto_linker(variant) if is_clang(variant) and not variant.is_default else None
    if linker is not None:
        flags = " ".join(f"$({name})" for name in COMPILE_VARIABLES)
        lines.append(f"LDFLAGS := $(LDFLAGS) $(if $(filter -flto%,{flags}),-fuse-ld={linker.removeprefix('ld.')})")
    return "".join(f"{line}\n" for line in lines)


def optimization_argument(variant: Variant, needed: list[str], makefile: str) -> list[str]:
    """Return the argument for a Makefile of another kind: many take `OPTIMIZATION`, which is checked afterwards."""
    wanted = wanted_flags(variant, needed)
    if not wanted:
        return []
    own = OWN_OPTIMIZATION.search(makefile)
    prefixes = tuple(pattern.removesuffix("%") for pattern in replaced_flags(variant))
    kept = [flag for flag in (own[1].split() if own else []) if not (prefixes and flag.startswith(prefixes))]
    return [f"OPTIMIZATION={' '.join([*kept, *wanted])}"]


def _applies(remedy: Remedy, tree: Path) -> bool:
    file = tree / remedy.file
    try:
        text = read_file(file, LARGEST_READ_BYTES).decode(errors="replace")
    except FileRefused:
        return False
    return re.search(remedy.pattern, text, re.MULTILINE) is not None


RECIPE_REVISION = 7
"""Part of a build's digest: to be raised when a recipe builds differently."""


LARGEST_READ_BYTES = 4 << 20
"""Of a Makefile, or another file of a source that is looked into."""
MAIN_FILES = ("server.c", "redis.c")
"""The file with `main`, in Redis before 3.2 the second."""


@dataclass(frozen=True)
class Recipe:
    """The command that builds, where it runs, and the program that it leaves, both relative to the tree.

    `settings` are for the Makefile to read after its own defaults, from the file `.make-settings` beside it.
    """

    command: tuple[str, ...]
    directory: Path
    program: Path
    settings: str = ""


def recipe_for(name: str, tree: Path, jobs: int, variant: Variant = DEFAULT) -> Recipe:
    """Return the recipe for a tree that the user named so.

    Raises `UsageError` if the tree cannot be built, `BuildFailed` if its Makefile leads out of the tree.
    """
    makefile = require_server_tree(name, tree)
    program = _server_name(makefile)
    _require_inside(name, program)
    arguments, settings = make_arguments(variant), ""
    if READS_SETTINGS.search(makefile) is not None:
        settings = make_settings(variant, remedies(tree))
    else:
        arguments += optimization_argument(variant, remedies(tree), makefile)
    return Recipe(("make", f"-j{jobs}", program, *arguments), Path("src"), Path("src") / program, settings)


def require_server_tree(name: str, tree: Path) -> str:
    """Return the text of a tree's Makefile; raises as `recipe_for` does if the tree holds no server that is known."""
    makefile = tree / "src" / "Makefile"
    if makefile.is_file() and any((tree / "src" / main).is_file() for main in MAIN_FILES):
        _require_own(name, tree, Path("src"), "directory")
        _require_own(name, tree, Path("src/Makefile"), "file")
        try:
            return read_file(makefile, LARGEST_READ_BYTES).decode(errors="replace")
        except FileRefused as reason:
            raise BuildFailed(f"`{name}` does not build: {reason}") from reason
    raise UsageError(
        f"`{name}` is not a source tree that can be built here",
        hint="a tree of Redis, Valkey or a relative has src/server.c and src/Makefile; of others give the binary",
    )


def artifact_in(name: str, tree: Path, program: Path) -> Path:
    """Return the program that a build left in its tree, `program` being relative to it.

    It must be a file that lies in the tree: what a link leads to is the machine's program, not what was built. Raises
    `BuildFailed`.
    """
    _require_own(name, tree, program, "file")
    size_bytes = (tree / program).lstat().st_size
    if size_bytes > LARGEST_PROGRAM_BYTES:
        raise BuildFailed(
            f"`{name}` does not build: `{program}` has {shown_bytes(size_bytes)}",
            hint=f"a program may have {shown_bytes(LARGEST_PROGRAM_BYTES)}, holes in it included",
        )
    return tree / program


def _require_inside(name: str, program: str) -> None:
    """Raise `BuildFailed` for a server's name that is no path below the directory of the Makefile."""
    path = Path(program)
    if not path.name or path.is_absolute() or ".." in path.parts or program.startswith("-") or "=" in program:
        raise BuildFailed(
            f"`{name}` does not build: its Makefile names the server `{program}`, which is not a file of the tree",
            hint="the name must be a plain file name, or a path below `src`",
        )


def _require_own(name: str, tree: Path, path: Path, kind: Literal["file", "directory"]) -> None:
    """Raise `BuildFailed` unless a path of the tree leads to a file or directory without any links."""
    is_kind = stat.S_ISREG if kind == "file" else stat.S_ISDIR
    components = [*reversed(path.parents[:-1]), path]
    for component in components:
        try:
            mode = (tree / component).lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            raise BuildFailed(f"`{name}` does not build: there is no `{path}` in its tree") from None
        if not (is_kind if component == path else stat.S_ISDIR)(mode):
            what = "a symbolic link" if stat.S_ISLNK(mode) else f"not a regular {kind}"
            raise BuildFailed(
                f"`{name}` does not build: `{component}` in its tree is {what}",
                hint="sources, Makefile and server must be files of the tree itself",
            )


def _server_name(makefile: str) -> str:
    """Return the program's name as the Makefile assigns it, such as `redis-server`."""
    assigned = dict(re.findall(r"^(\w+)[ \t]*[:?]?=[ \t]*(\S+)[ \t]*$", makefile, re.MULTILINE))
    name = assigned.get("SERVER_NAME") or assigned.get("REDIS_SERVER_NAME") or "redis-server"
    return re.sub(r"\$[({](\w+)[)}]", lambda match: assigned.get(match.group(1), ""), name)


NEEDED_FREE_BYTES = 600 * 1024 * 1024
FULL_DISK_BYTES = 16 * 1024 * 1024
LOG_LINES = 30


def run_recipe(
    name: str,
    tree: Path,
    recipe: Recipe,
    compilers: Compilers,
    policy: SandboxPolicy,
    limits: Limits | None = None,
) -> Path:
    """Build a tree by these compilers in the sandbox, within limits, and return the program.

    Raises `BuildFailed` if none comes out, or if a limit was reached, which the message names.
    """
    if shutil.which(recipe.command[0]) is None:
        raise EnvironmentMissing(f"`{recipe.command[0]}` is not installed", hint="apt-get install make gcc g++")
    if recipe.settings:
        # Exclusively: a link of that name must not lead the lab out of the tree.
        with (tree / recipe.directory / ".make-settings").open("x") as settings:
            settings.write(recipe.settings)
    # The environment of the lab must not reach a server's Makefile, which reads CFLAGS and others.
    environment = {
        "PATH": f"{compilers.programs}:{BUILD_PATH}",
        "HOME": "/tmp",
        "LANG": "C",
        "SOURCE_DATE_EPOCH": "0",
        "GIT_CEILING_DIRECTORIES": str(tree.parent),
        **compilers.environment,
    }
    confinement = Confinement(
        writable=[tree, compilers.records, compilers.objects],
        read_only=[compilers.programs, compilers.site],
        directory=tree / recipe.directory,
        limits=limits or build_limits(tree),
        policy=policy,
    )
    hint = "the source must build with this machine's compiler; the end of its output is above"
    run_step(recipe.command, environment, confinement, tree.parent / "build.log", f"`{name}` does not build", hint)
    # Not before all processes of the build have ended, which could put another file there.
    return artifact_in(name, tree, recipe.program)


def run_step(
    command: Sequence[str],
    environment: Mapping[str, str],
    confinement: Confinement,
    log: Path,
    failed: str,
    hint: str = "",
) -> None:
    """Run a step of a build in the sandbox; the log is in the build's directory.

    Raises `BuildFailed` with what `failed` and the end of the output, `EnvironmentMissing` where the disk is full.
    """
    log.write_bytes(b"")
    with launch(command, environment=environment, output=log, confinement=confinement) as process:
        try:
            code = process.wait_within_limits()
        except LimitReached as reached:
            if shutil.disk_usage(log.parent).free < FULL_DISK_BYTES:
                raise no_space(log.parent.parent) from reached
            raise BuildFailed(f"{failed}: it reached {reached}", details=process.output_tail(LOG_LINES)) from reached
        tail = process.output_tail(LOG_LINES)
    # The log is on the same disk, and may lack the words.
    is_full = code != 0 and shutil.disk_usage(log.parent).free < NEEDED_FREE_BYTES
    if is_full or "No space left on device" in tail:
        raise no_space(log.parent.parent)
    if code != 0:
        raise BuildFailed(f"{failed}: `{' '.join(command)}` ended with {code}", hint=hint, details=tail)


def no_space(directory: Path) -> EnvironmentMissing:
    """Return the error for a full disk."""
    free_mib = shutil.disk_usage(directory).free // (1024 * 1024)
    return EnvironmentMissing(
        f"no space left on the disk of `{directory}` ({free_mib} MiB free)",
        hint=f"free {NEEDED_FREE_BYTES // (1024 * 1024)} MiB, or put the store on another disk with `--store`",
    )
