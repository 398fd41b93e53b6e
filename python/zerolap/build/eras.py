"""How flags reach the compiler in every era of the Makefile that Redis, Valkey and their relatives share.

All eras since Redis 2.6 read `src/.make-settings` after their own defaults and before they compose the final flags, and
it is there that a variant is said: one way that later eras did not change, that the dependencies do not see, and that
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
from dataclasses import dataclass
from pathlib import Path

from zerolap.build.compilers import CLANG_DEBUG_FLAGS, compiler_of, cxx_of, is_clang, lto_flag, lto_linker
from zerolap.build.variant import Variant

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
    return [*flags, *variant.extra]


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


def reads_settings(makefile: str) -> bool:
    """Whether a Makefile reads `.make-settings`."""
    return READS_SETTINGS.search(makefile) is not None


def optimization_argument(variant: Variant, needed: list[str], makefile: str) -> list[str]:
    """Return the argument for a Makefile of another kind: many take `OPTIMIZATION`; what came of it is read back."""
    wanted = wanted_flags(variant, needed)
    if not wanted:
        return []
    own = OWN_OPTIMIZATION.search(makefile)
    prefixes = tuple(pattern.removesuffix("%") for pattern in replaced_flags(variant))
    kept = [flag for flag in (own[1].split() if own else []) if not (prefixes and flag.startswith(prefixes))]
    return [f"OPTIMIZATION={' '.join([*kept, *wanted])}"]


def _applies(remedy: Remedy, tree: Path) -> bool:
    file = tree / remedy.file
    return file.is_file() and re.search(remedy.pattern, file.read_text(errors="replace"), re.MULTILINE) is not None
