"""`zerolap snapshot --kernel`: forks that are counted in emulated machines, with a kernel that the lab builds."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from zerolap.cli import options
from zerolap.cli.repeated_command import is_on_command_line

if TYPE_CHECKING:
    from zerolap.build import KernelSource
    from zerolap.lab import EmulatedRequest

OF_MACHINES = ("base", "event", "load", "rate", "connections", "trace", "min_effect", "fail_on")
"""Options of a sweep on this machine, which an emulated one does not follow."""
EMULATED_REPETITIONS = 1
"""Equal runs count the same: more only show that they do."""
EMULATED_SEED = 1
"""Each command counts the same requests, unless another seed is given."""


@dataclass(frozen=True)
class KernelOptions:
    """The options that name a kernel."""

    kernel: Path | None
    patches: Sequence[Path]
    configurations: Sequence[Path]

    def source(self, context: typer.Context) -> "KernelSource | None":
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
        return KernelSource(self.kernel, self.patches, self.configurations)


def count_forks(request: "EmulatedRequest", reports: options.Reports, place: options.LabOptions) -> int:
    """Carry out the sweep, write what was asked for, and the table; return the exit code."""
    from zerolap.cli.exit_code import DONE
    from zerolap.cli.output import write_sweep
    from zerolap.errors import TrialFailed
    from zerolap.lab import emulated_snapshot
    from zerolap.store import Store

    with (
        Store.open(place.store) as results,
        place.lab(results, options.MeasuringOptions(), quiet=reports.quiet) as lab,
    ):
        report = emulated_snapshot(request, lab)
    write_sweep(report, reports)
    return TrialFailed.exit_code if report.failed else DONE
