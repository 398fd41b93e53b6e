"""`zerolap snapshot`: what a save in the background costs clients, over sizes, also with a kernel of one's own."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from zerolap.cli import completion, options
from zerolap.cli.option_groups import Only, flag, option
from zerolap.cli.option_values import BYTES_PER_UNIT
from zerolap.cli.repeated_command import command_line, is_on_command_line
from zerolap.cli.verb import Verb
from zerolap.cli.verbs import VERBS
from zerolap.errors import UsageError
from zerolap.fail_on import FailOn

if TYPE_CHECKING:
    from zerolap.lab import Factor
    from zerolap.records import KernelFiles, SnapshotLoad

MOST_REPETITIONS = 100
SMALLEST_SIZE = 1 << 20
OF_MACHINES = ("base", "event", "load", "rate", "connections", "trace", "min_effect", "fail_on", "platform")
"""Options of a sweep on machines themselves, which an emulated one does not follow."""

app = Verb()

HELP = f"""{VERBS["snapshot"]}

SERVER is a binary, a source tree, a revision of --repo or of this checkout, or a program on the PATH. It is started \
and filled once for each size; then an event makes it fork several times, at random moments under load. It reports \
the time of the fork, the longest pause that a client saw, latencies outside of the event and during it, and how the \
fork grows with the data.

With --base or --vary, servers or settings are measured beside each other, with a start of each for every repetition, \
and there are verdicts on fork, pause, p99.9, duration and copied memory. zerolap resume or the same command goes on \
with a sweep that was interrupted or killed. zerolap explain ID shows it again, and zerolap serve draws it.

With --kernel, forks are counted instead, in emulated machines with a kernel that is built of that source: \
instructions, entries of page tables, and what the requests meanwhile wait. --vary fork=copy,async compares the fork \
of a kernel with Async-fork in it (docs/async-fork.md). The counts are kept and shown again in the same way.

Examples:

    zerolap snapshot redis-server
    zerolap snapshot redis-server --sizes 256MiB,512MiB,1GiB --html snapshot.html
    zerolap snapshot 8.0 --repo ~/redis --event bgrewriteaof
    zerolap snapshot redis-server --event replica --load open --rate 20000
    zerolap snapshot redis-server --sizes 1GiB --vary io-threads=1,4 --vary transparent-huge-pages=never,always
    zerolap snapshot redis-server --sizes 1GiB --trace --html snapshot.html
    zerolap snapshot 8.0 --base 7.2 --repo ~/redis --fail-on regression --markdown -
    zerolap snapshot 8.0 --repo ~/redis --sizes 1GiB --platform arm
    zerolap snapshot redis-server --kernel /usr/src/linux-source-6.1.tar.xz --kernel-patch my-fork.patch
"""


@dataclass(frozen=True)
class SweepOptions:
    """What is repeated at which sizes, and what is measured beside each other."""

    sizes: str | None = option(
        "Sizes of data, separated by commas: 256MiB,1GiB. By default 1, 2, 4 and 8 GiB, as memory allows.", "SIZES"
    )
    event: Literal["bgsave", "bgrewriteaof", "replica", "none"] = option(
        "What makes the server fork: bgsave, bgrewriteaof, replica, or none.", "NAME", default="bgsave"
    )
    load: str = option(
        "Loads, separated by commas: open (requests are due at a fixed rate), closed (each connection waits for its"
        " reply).",
        "NAMES",
        default="open,closed",
    )
    rate: int = option("Requests a second of the open loop.", "N", default=5000, min=100, max=10_000_000)
    connections: int = option("Connections of the load.", "N", default=50, min=1, max=10_000)
    repetitions: int = option("Events for each size and load.", "N", default=5, min=1, max=MOST_REPETITIONS)
    base: str | None = option("A second server, that SERVER is compared with at each size.", "SERVER")
    vary: list[str] | None = option(
        "Values of a server setting, of variant or of transparent-huge-pages that are compared with the first one; can"
        " be given several times.",
        "KEY=A,B",
    )
    trace: bool = flag(
        "Trace one more event at the greatest size: the fork by part, the server's system calls with their stacks"
        " until its child has exited, the child. Needs bpftrace and root."
    )
    kernel: Path | None = option(
        "Count forks in emulated machines instead, with a kernel that is built of this source tree or tarball, such as"
        " /usr/src/linux-source-6.1.tar.xz.",
        "SOURCE",
    )
    kernel_patch: list[Path] | None = option("A patch of the kernel; can be given several times.", "FILE")
    kernel_config: list[Path] | None = option(
        "Settings of the kernel beside those that the machine needs; can be given several times.", "FILE"
    )
    min_effect: str = option("Smallest relevant change, for verdicts.", "SIZE", default="10%")

    def kernel_files(self, context: typer.Context) -> "KernelFiles | None":
        """Return what the kernel is built of, or none without `--kernel`; raises `UsageError`."""
        from zerolap.build import KernelSource

        if self.kernel is None:
            if self.kernel_patch or self.kernel_config:
                raise UsageError(
                    "`--kernel-patch` and `--kernel-config` need a kernel",
                    hint="give --kernel /usr/src/linux-source-6.1.tar.xz",
                )
            return None
        for name in OF_MACHINES:
            if is_on_command_line(context, name):
                text = name.replace("_", "-")
                raise UsageError(f"`--{text}` does not go with `--kernel`, which counts forks in emulated machines")
        return KernelSource(self.kernel, self.kernel_patch or [], self.kernel_config or []).files

    def check_gate(self, fail_on: FailOn) -> None:
        """Raise `UsageError` where a sweep has no verdicts of the kind that `--fail-on` looks at."""
        if fail_on in ("work", "memory", "suite", "unmeasured"):
            raise UsageError(f"`--fail-on {fail_on}`: a sweep has no verdicts on it", hint="write --fail-on regression")
        if fail_on != "never" and self.base is None and self.vary is None:
            raise UsageError("`--fail-on` needs something to compare with", hint="give --base SERVER or --vary KEY=A,B")


@app.own(help=HELP)
def snapshot(
    context: typer.Context,
    server: Annotated[str, typer.Argument(metavar="SERVER", show_default=False, autocompletion=completion.revisions)],
    *,
    wanted: SweepOptions,
    servers: options.ServerOptions,
    measuring: Annotated[options.MeasuringOptions, Only("seed")],
    reports: Annotated[options.Reports, Only("json", "html", "markdown", "csv", "quiet")],
    fail_on: options.FailWhen = "never",
    submission: options.PlatformOptions,
    place: options.LabOptions,
) -> None:
    """Carry out the sweep, write what was asked for, and the table."""
    from zerolap.cli.exit_code import snapshot_exit_code
    from zerolap.cli.output import write_sweep
    from zerolap.lab import EMULATED_SEED, emulated_request, sides_of, snapshot as sweep, snapshot_request
    from zerolap.records import EmulatedSweep, SnapshotSweep
    from zerolap.store import Store

    kernel_files = wanted.kernel_files(context)
    wanted.check_gate(fail_on)
    sizes_bytes = () if wanted.sizes is None else _sizes(wanted.sizes)
    factors, words = [_factor(text) for text in wanted.vary or []], command_line(context)
    base = None if wanted.base is None else servers.requested(wanted.base)
    sides = sides_of(servers.requested(server), base, factors)
    seed = measuring.seed
    if kernel_files is not None:
        forks = EmulatedSweep(kernel=kernel_files, sizes_bytes=sizes_bytes)
        if is_on_command_line(context, "repetitions"):
            forks = forks.model_copy(update={"repetitions": wanted.repetitions})
        request = emulated_request(sides, forks, words, seed=EMULATED_SEED if seed is None else seed)
    else:
        measured = SnapshotSweep(
            event=wanted.event,
            sizes_bytes=sizes_bytes,
            loads=_loads(wanted.load),
            rate_per_second=wanted.rate,
            connections=wanted.connections,
            repetitions=wanted.repetitions,
            is_traced=wanted.trace,
        )
        effect, is_here = _min_effect(wanted.min_effect), submission.platform is None
        request = snapshot_request(sides, measured, words, min_effect=effect, seed=seed, is_here=is_here)
    with Store.open(place.store) as results:
        if submission.platform is not None:
            from zerolap.cli.submitting import answered

            raise typer.Exit(answered(request, results, submission, reports, fail_on))
        with place.lab(results, measuring, quiet=reports.quiet) as lab:
            report = sweep(request, lab)
    write_sweep(report, reports)
    raise typer.Exit(snapshot_exit_code(report, fail_on))


def _factor(text: str) -> "Factor":
    """Return what is varied, such as `io-threads=1,4`; raises `UsageError`."""
    from zerolap.lab import Factor

    key, _, values = text.partition("=")
    words = [word.strip() for word in values.split(",")]
    if not key.strip() or not all(words):
        raise UsageError(f"`--vary {text}` is not valid", hint="write --vary io-threads=1,4")
    return Factor(key.strip(), words)


def _min_effect(text: str) -> float:
    """Return the smallest relevant change as a fraction; raises `UsageError`."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(%?)", text.strip())
    effect = 0.0 if match is None else float(match[1]) / (100 if match[2] else 1)
    if not 0 < effect < 1:
        raise UsageError(f"`--min-effect {text}` is not a change between 0 and 100 %", hint="write --min-effect 10%")
    return effect


def _sizes(text: str) -> tuple[int, ...]:
    """Return sizes such as `256MiB,1GiB` in bytes; raises `UsageError`."""
    sizes = []
    for word in filter(None, (word.strip() for word in text.split(","))):
        match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,3})?)\s*(MiB|GiB|TiB)", word)
        size = 0 if match is None else int(float(match[1]) * BYTES_PER_UNIT[match[2]])
        if size < SMALLEST_SIZE:
            raise UsageError(f"`--sizes {word}` is not a size of data", hint="write 256MiB,1GiB; 1MiB is the smallest")
        sizes.append(size)
    if not sizes:
        raise UsageError(f"`--sizes {text}` names no size", hint="write 256MiB,512MiB,1GiB")
    return tuple(sizes)


def _loads(text: str) -> "tuple[SnapshotLoad, ...]":
    """Return the loads of that text, each once; raises `UsageError`."""
    from zerolap.records import SnapshotLoad

    names = list(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    known: tuple[SnapshotLoad, ...] = get_args(SnapshotLoad)
    loads = tuple(load for name in names for load in known if load == name)
    if not loads or len(loads) < len(names):
        raise UsageError(f"`--load {text}` is not valid", hint="write open, closed, or open,closed")
    return loads
