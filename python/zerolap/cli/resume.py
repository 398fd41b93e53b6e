"""`zerolap resume`: continues an interrupted comparison, run, sweep of snapshots or check."""

from typing import Annotated

import typer

from zerolap.cli import completion, options
from zerolap.cli.option_groups import Only, Without
from zerolap.cli.verb import Verb
from zerolap.cli.verbs import VERBS

app = Verb()

HELP = f"""{VERBS["resume"]}

ID is listed by `zerolap explain`; a unique beginning of it will do, and `latest` is the newest that was interrupted or
killed. The same command continues it, too.

Examples:

    zerolap resume latest
    zerolap resume c-1f2e3d4c --json report.json --html report.html
"""


@app.own(help=HELP)
def resume(
    identity: Annotated[
        str, typer.Argument(metavar="ID", show_default=False, autocompletion=completion.unfinished_results)
    ],
    *,
    reports: Annotated[options.Reports, Without("sarif")],
    fail_on: options.FailWhen = "never",
    measuring: Annotated[options.MeasuringOptions, Only("trial_limit")],
    place: options.LabOptions,
) -> None:
    """Continue the request, write the reports, and exit."""
    from zerolap.cli.exit_code import check_exit_code, exit_code, run_exit_code, snapshot_exit_code
    from zerolap.cli.output import write_check, write_comparison, write_run, write_sweep
    from zerolap.lab import resume as resume_request
    from zerolap.records import CheckReport, Comparison, RunReport
    from zerolap.store import Store

    measuring.check()
    with Store.open(place.store) as results:
        with place.lab(results, measuring, quiet=reports.quiet) as lab:
            document = resume_request(identity, lab)
        if isinstance(document, Comparison):
            write_comparison(document, results, reports, fail_on)
            code = exit_code(document, fail_on)
        elif isinstance(document, RunReport):
            write_run(document, results, reports)
            code = run_exit_code(document)
        elif isinstance(document, CheckReport):
            write_check(document, reports)
            code = check_exit_code(document)
        else:
            write_sweep(document, reports)
            code = snapshot_exit_code(document, fail_on)
    raise typer.Exit(code)
