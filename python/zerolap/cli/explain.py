"""`zerolap explain`: shows a stored comparison or run with its reasons, a sweep of snapshots, or a check."""

from typing import TYPE_CHECKING, Annotated

import typer

from zerolap.cli import completion, options
from zerolap.cli.verb import Verb
from zerolap.cli.verbs import VERBS
from zerolap.errors import UsageError

if TYPE_CHECKING:
    from zerolap.records import Comparison, RunReport, SweepReport
    from zerolap.store import Store

app = Verb()

HELP = f"""{VERBS["explain"]}

ID is printed at the end of compare, run and snapshot; a unique beginning of it or `latest` will do. Without ID the
newest comparisons, runs, sweeps of snapshots and checks are listed, also those that were interrupted or failed.

Examples:

    zerolap explain
    zerolap explain latest --all
    zerolap explain latest --markdown -
    zerolap explain c-1f2e3d4c --html report.html
    zerolap explain latest --junit tests.xml --sarif regressions.sarif --fail-on regression
"""


@app.own(help=HELP)
def explain(
    identity: Annotated[
        str | None, typer.Argument(metavar="ID", show_default=False, autocompletion=completion.results)
    ] = None,
    *,
    reports: options.Reports,
    shows_all: options.ShowsAll = False,
    fail_on: options.FailWhen = "never",
    store: options.StoreLocation = None,
) -> None:
    """Show a stored comparison, run, sweep or check, or list the newest."""
    from zerolap.cli.listing import latest_result, show_newest
    from zerolap.cli.output import write_check, write_comparison, write_run, write_sweep
    from zerolap.store import Store

    with Store.open_to_read(store) as results:
        if identity is None:
            if reports.targets:
                raise UsageError(
                    "a report needs the ID of a comparison, run, sweep or check", hint="zerolap explain latest"
                )
            show_newest(results)
            return
        if identity == "latest":
            identity = latest_result(results)
        if identity.startswith("w-"):
            write_sweep(_sweep(results, identity), reports)
        elif identity.startswith("k-"):
            from zerolap.documents import read_check

            write_check(read_check(results, identity), reports)
        elif identity.startswith("r-"):
            write_run(_run(results, identity), results, reports, shows_all=shows_all)
        else:
            comparison = _comparison(results, identity)
            write_comparison(comparison, results, reports, fail_on, shows_all=shows_all)
            if fail_on != "never":
                from zerolap.cli.exit_code import exit_code

                raise typer.Exit(exit_code(comparison, fail_on))


def _comparison(results: "Store", identity: str) -> "Comparison":
    """Return a stored comparison; of one that is not finished, what was recorded so far. Raises `UsageError`."""
    comparison = results.comparison(identity)
    if comparison.state != "running":
        return comparison
    # The lab puts it together, and takes longer to import than what is finished takes to read.
    from zerolap.documents import read_comparison

    return read_comparison(results, comparison.id)


def _sweep(results: "Store", identity: str) -> "SweepReport":
    """Return a stored sweep, as `_comparison` does."""
    if results.sweeps.unfinished(identity) is None:
        return results.sweeps.report(identity)
    from zerolap.lab import read_sweep

    return read_sweep(results, identity)


def _run(results: "Store", identity: str) -> "RunReport":
    """Return a stored run, as `_comparison` does."""
    report = results.run(identity)
    if results.state(report.id) != "running":
        return report
    from zerolap.documents import read_run

    return read_run(results, report.id)
