"""`zerolap opportunities`: what to optimise next, over all cases."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from zerolap import writer
from zerolap.cli import completion, options
from zerolap.cli.option_groups import Only
from zerolap.cli.verb import Verb
from zerolap.cli.verbs import VERBS

if TYPE_CHECKING:
    from zerolap.records import Case, CaseWeights, SourceFunction

app = Verb()
BY_COMMAND: Final = "command"

HELP = f"""{VERBS["opportunities"]}

Opportunities are found in the call graphs of counted cases: nothing is measured. ID is that of a comparison or a run, \
or a unique beginning of it; without ID the newest that counted is taken. Of a comparison the head is looked at, \
with --side base the base. --all takes in the cases of the same build from all results of the store that were measured \
alike: on the same platform, with the same settings and topology, and with --quick if ID was.

Cases that send the same commands with data of different sizes also show which costs grow faster than the data. Other \
builds of the same code that comparisons of the store have measured to be faster are listed apart.

A saving is a part of the work of a request, the mean over all cases: of its counted instructions, and of what they do \
not show, such as the kernel's part of system calls. By default each command has the same weight, however many cases \
send it. INFO commandstats of your own servers weighs each command by the time spent in it.

A call graph does not show whether two calls get the same arguments. With --check-arguments, this is looked at for the \
opportunities shown that suppose it: their server is started once more, and bpftrace compares the arguments of calls \
within each of some hundred requests. Nothing is timed meanwhile, and what is seen is kept. It needs bpftrace and root.

Examples:

    zerolap run --engine counted && zerolap opportunities
    zerolap opportunities c-1f2e3d4c --side base --limit 30
    sudo zerolap opportunities --check-arguments
    zerolap opportunities --all --weights tcp://localhost:6379
    redis-cli INFO commandstats > usage.txt; zerolap opportunities --weights usage.txt --markdown -
"""


@app.own(help=HELP)
def opportunities(
    context: typer.Context,
    identity: Annotated[
        str | None, typer.Argument(metavar="ID", show_default=False, autocompletion=completion.results)
    ] = None,
    side: Annotated[Literal["base", "head"], typer.Option(help="Side of a comparison that is looked at.")] = "head",
    everywhere: Annotated[
        bool, typer.Option("--all", help="Take in the cases of the same build from all results measured alike.")
    ] = False,
    weights: Annotated[
        str,
        typer.Option(
            help="Weights of the cases: command, equal, priority, a file with INFO commandstats, or tcp://HOST:PORT.",
            metavar="WEIGHTS",
        ),
    ] = BY_COMMAND,
    check_arguments: Annotated[
        bool,
        typer.Option(
            "--check-arguments", help="Look at the arguments of calls that opportunities suppose to be equal."
        ),
    ] = False,
    limit: Annotated[int, typer.Option(help="Most opportunities and functions to show.", metavar="N", min=1)] = 10,
    *,
    login: options.LoginOptions,
    reports: Annotated[options.Reports, Only("json", "markdown", "quiet")],
    place: options.LabOptions,
) -> None:
    """Find opportunities, and write them."""
    from zerolap.cli.output import write_opportunities
    from zerolap.cli.repeated_command import command_line
    from zerolap.opportunities import counted_version, version_opportunities
    from zerolap.store import Store

    with Store.open_to_read(place.store) as results, _progress(quiet=reports.quiet) as listen:
        version = counted_version(results, identity, side=side, everywhere=everywhere)
        stated = _weights(weights, list(version.cases.values()), login)
        words = command_line(context)
        if check_arguments:
            from zerolap.lab import Lab, checked_opportunities

            lab = Lab(results, sandbox=options.sandbox_policy(place.unsafe_no_sandbox))
            document = checked_opportunities(version, stated, lab, words, limit, listen)
        else:
            document = version_opportunities(version, stated, results, _functions_of_build, words, listen)
    write_opportunities(document, limit, reports)


def _functions_of_build(builds: Path, digest: str) -> "Sequence[SourceFunction] | None":
    if not (builds / digest).is_dir():
        return None
    # To import what reads a build takes a while.
    from zerolap.build import functions_of_build

    return functions_of_build(builds, digest)


def _weights(text: str, cases: "Sequence[Case]", login: options.LoginOptions) -> "CaseWeights":
    """Return the weights that a user asks for; raises as `case_weights` does."""
    if text == BY_COMMAND:
        from zerolap.records import named_weights

        return named_weights(BY_COMMAND, cases)
    # What asks servers takes a while to import.
    from zerolap.server import case_weights

    return case_weights(text, cases, login.login)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Show on a terminal how many call graphs are looked through, and how many cases have their arguments checked."""
    from rich.progress import Progress

    console = writer.console(to_error=True)
    if quiet or not console.is_terminal:
        yield lambda activity, done, expected: None
        return
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("", total=None, visible=False)

        def listen(activity: str, done: int, expected: int) -> None:
            progress.update(task, description=activity, completed=done, total=expected, visible=True)

        yield listen
