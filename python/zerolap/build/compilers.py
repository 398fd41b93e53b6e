"""The compilers of this machine: which one a variant takes, and what it says of itself."""

import functools
import shutil
import subprocess

from zerolap.build.variant import Variant
from zerolap.records import EnvironmentMissing

BUILD_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where programs are looked for by builds, whose sandbox shows no more."""

CLANG_DEBUG_FLAGS = ("-grecord-command-line", "-gdwarf-4")
"""What makes clang write its flags into the debug information, which gcc does unasked, and in a form that valgrind
reads: 3.19 does not know the indexed strings of clang's DWARF 5."""


def compiler_of(variant: Variant) -> str:
    """Return the C compiler's program; `cc`, which is make's own, where the variant names none."""
    return variant.compiler or "cc"


def cxx_of(variant: Variant) -> str:
    """Return the C++ compiler's program, of the same version as that for C."""
    family, dash, version = compiler_of(variant).partition("-")
    return {"cc": "c++", "gcc": "g++", "clang": "clang++"}[family] + dash + version


def lto_flag(variant: Variant) -> str:
    """Return the flag for link-time optimization on all processors: clang does not know gcc's `auto`."""
    return "-flto" if is_clang(variant) else "-flto=auto"


def is_clang(variant: Variant) -> bool:
    """Whether the compiler is clang, by whatever name it is called; raises `EnvironmentMissing` if there is none."""
    return "clang" in compiler_version(compiler_of(variant))


def lto_linker(variant: Variant) -> str | None:
    """Return the linker that reads the objects of clang's link-time optimization without a plugin, if it is there.

    That of another version does not read them.
    """
    _, dash, version = compiler_of(variant).partition("-")
    linker = f"ld.lld{dash}{version}"
    return linker if shutil.which(linker, path=BUILD_PATH) is not None else None


def tools_digest(variant: Variant) -> list[str]:
    """Return what of this machine goes into a build: the compiler's version, and that of the linker for clang."""
    versions = [compiler_version(compiler_of(variant))]
    linker = lto_linker(variant) if is_clang(variant) else None
    if linker is not None:
        versions.append(_first_line(linker, linker.removeprefix("ld.")))
    return versions


@functools.cache
def compiler_version(program: str) -> str:
    """Return what a compiler says of itself; raises `EnvironmentMissing` if it is not installed."""
    return _first_line(program, "gcc" if program == "cc" else program)


def _first_line(program: str, package: str) -> str:
    hint = f"apt-get install {package}"
    path = shutil.which(program, path=BUILD_PATH)
    if path is None or shutil.which(program) is None:
        missing = "no C compiler is installed" if program == "cc" else f"`{program}` is not installed"
        raise EnvironmentMissing(missing, hint=hint)
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as fault:
        raise EnvironmentMissing(f"`{path}` does not work: {fault}", hint=hint) from fault
    return done.stdout.partition("\n")[0]
