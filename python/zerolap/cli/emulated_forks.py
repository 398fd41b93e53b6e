"""`zerolap snapshot --kernel`: forks that are counted in emulated machines, with a kernel that the lab builds."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from zerolap.cli.repeated_command import is_on_command_line

if TYPE_CHECKING:
    from zerolap.records import KernelFiles

OF_MACHINES = ("base", "event", "load", "rate", "connections", "trace", "min_effect", "fail_on", "platform")
"""Options of a sweep on machines themselves, which an emulated one does not follow."""


@dataclass(frozen=True)
class KernelOptions:
    """The options that name a kernel."""

    kernel: Path | None
    patches: Sequence[Path]
    configurations: Sequence[Path]

    def files(self, context: typer.Context) -> "KernelFiles | None":
        """Return what the kernel is built of, or none without `--kernel`; raises `UsageError`."""
        from zerolap.build import KernelSource
        from zerolap.errors import UsageError

        if self.kernel is None:
            if self.patches or self.configurations:
                raise UsageError(
                    "`--kernel-patch` and `--kernel-config` need a kernel",
                    hint="give --kernel /usr/src/linux-source-6.1.tar.xz",
                )
            return None
        for name in OF_MACHINES:
            if is_on_command_line(context, name):
                option = name.replace("_", "-")
                raise UsageError(f"`--{option}` does not go with `--kernel`, which counts forks in emulated machines")
        return KernelSource(self.kernel, self.patches, self.configurations).files
