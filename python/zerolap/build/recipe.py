"""How a source tree becomes a server."""

import re
from dataclasses import dataclass
from pathlib import Path

from zerolap.build import eras
from zerolap.build.variant import DEFAULT, Variant
from zerolap.records import UsageError

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
    """Return the recipe for a tree that the user named so; raises `UsageError` if it cannot be built."""
    makefile = tree / "src" / "Makefile"
    if makefile.is_file() and any((tree / "src" / main).is_file() for main in MAIN_FILES):
        text = makefile.read_text(errors="replace")
        program = _server_name(text)
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


def _server_name(makefile: str) -> str:
    """Return the program's name as the Makefile assigns it, such as `redis-server`."""
    assigned = dict(re.findall(r"^(\w+)[ \t]*[:?]?=[ \t]*(\S+)[ \t]*$", makefile, re.MULTILINE))
    name = assigned.get("SERVER_NAME") or assigned.get("REDIS_SERVER_NAME") or "redis-server"
    return re.sub(r"\$[({](\w+)[)}]", lambda match: assigned.get(match.group(1), ""), name)
