"""Recipes carried out: a tree in, a program out."""

import shutil
import subprocess
from pathlib import Path

from zerolap.build.compilers import BUILD_PATH
from zerolap.build.recipe import Recipe, artifact_in
from zerolap.records import BuildFailed, EnvironmentMissing
from zerolap.sandbox import Confinement, launch

NEEDED_FREE_BYTES = 600 * 1024 * 1024
BUILD_SECONDS = 3600
LOG_LINES = 30


def run_recipe(name: str, tree: Path, recipe: Recipe, log: Path) -> Path:
    """Build a tree in the sandbox and return the program; raises `BuildFailed` if none comes out."""
    if shutil.which(recipe.command[0]) is None:
        raise EnvironmentMissing(f"`{recipe.command[0]}` is not installed", hint="apt-get install make gcc g++")
    if recipe.settings:
        # Exclusively: a link of that name must not lead the lab out of the tree.
        with (tree / recipe.directory / ".make-settings").open("x") as settings:
            settings.write(recipe.settings)
    # What the lab itself was called with must not reach a server's Makefile, which reads CFLAGS and others.
    environment = {
        "PATH": BUILD_PATH,
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
    if code != 0:
        raise BuildFailed(
            f"`{name}` does not build: `{' '.join(recipe.command)}` ended with {code}",
            hint="the source must build with this machine's compiler; the end of its output is above",
            details=tail,
        )
    # Not before all processes of the build have ended, which could put another file there.
    return artifact_in(name, tree, recipe.program)


def no_space(directory: Path) -> EnvironmentMissing:
    """Return the error for a full disk."""
    free_mib = shutil.disk_usage(directory).free // (1024 * 1024)
    return EnvironmentMissing(
        f"no space left on the disk of `{directory}` ({free_mib} MiB free)",
        hint=f"free {NEEDED_FREE_BYTES // (1024 * 1024)} MiB, or put the store on another disk with `--store`",
    )
