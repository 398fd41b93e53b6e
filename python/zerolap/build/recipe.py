"""How a source tree becomes a server."""

import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from zerolap.build import eras
from zerolap.build.variant import DEFAULT, Variant
from zerolap.records import BuildFailed, UsageError

RECIPE_REVISION = 3
"""Part of a build's digest: to be raised when a recipe builds differently."""


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
    makefile = tree / "src" / "Makefile"
    if makefile.is_file() and any((tree / "src" / main).is_file() for main in MAIN_FILES):
        _require_own(name, tree, Path("src"), "directory")
        _require_own(name, tree, Path("src/Makefile"), "file")
        text = makefile.read_text(errors="replace")
        program = _server_name(text)
        _require_inside(name, program)
        arguments, settings = eras.make_arguments(variant), ""
        if eras.reads_settings(text):
            settings = eras.make_settings(variant, eras.remedies(tree))
        else:
            arguments += eras.optimization_argument(variant, eras.remedies(tree), text)
        return Recipe(("make", f"-j{jobs}", program, *arguments), Path("src"), Path("src") / program, settings)
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
