"""Recipes carried out: a tree in, a program out."""

import shutil
from pathlib import Path

from zerolap.build.compilers import BUILD_PATH
from zerolap.build.recipe import Recipe, artifact_in
from zerolap.records import BuildFailed, EnvironmentMissing
from zerolap.sandbox import Confinement, LimitReached, Limits, SandboxPolicy, build_limits, launch

NEEDED_FREE_BYTES = 600 * 1024 * 1024
FULL_DISK_BYTES = 16 * 1024 * 1024
LOG_LINES = 30


def run_recipe(
    name: str, tree: Path, recipe: Recipe, log: Path, policy: SandboxPolicy, limits: Limits | None = None
) -> Path:
    """Build a tree in the sandbox, within limits, and return the program.

    Raises `BuildFailed` if none comes out, or if a limit was reached, which the message names.
    """
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
    confinement = Confinement(
        writable=[tree], directory=tree / recipe.directory, limits=limits or build_limits(tree), policy=policy
    )
    with launch(recipe.command, environment=environment, output=log, confinement=confinement) as process:
        try:
            code = process.wait_within_limits()
        except LimitReached as reached:
            if shutil.disk_usage(tree).free < FULL_DISK_BYTES:
                raise no_space(tree.parent.parent) from reached
            raise BuildFailed(
                f"`{name}` does not build: it reached {reached}", details=process.output_tail(LOG_LINES)
            ) from reached
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
