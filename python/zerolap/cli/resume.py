"""`zerolap resume`: continues an interrupted comparison or run."""

from typing import Annotated

import typer

from zerolap.cli import completion, options
from zerolap.cli.option_groups import Only, Without
from zerolap.cli.verb import Verb
from zerolap.cli.verbs import VERBS

app = Verb()

HELP = f"""{VERBS["resume"]}

ID is listed by `zerolap explain`; a unique beginning of it will do, and `latest` is the newest that was interrupted or
killed. The same compare or run command continues it, too.

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
    reports: Annotated[options.Reports, Without("csv", "sarif")],
    fail_on: options.FailWhen = options.FailOn.NEVER,
    measuring: Annotated[options.MeasuringOptions, Only("trial_limit")],
    place: options.LabOptions,
) -> None:
    """Continue the request, write the reports, and exit."""
    from zerolap.cli.exit_code import exit_code, run_exit_code
    from zerolap.cli.output import write_comparison, write_run
    from zerolap.lab import resume as resume_request
    from zerolap.records import Comparison
    from zerolap.store import Store

    measuring.check()
    with Store.open(place.store) as results:
        with place.lab(results, measuring, quiet=reports.quiet) as lab:
            document = resume_request(identity, lab)
        if isinstance(document, Comparison):
            write_comparison(document, results, reports, fail_on)
            code = exit_code(document, fail_on)
        else:
            write_run(document, results, reports)
            code = run_exit_code(document)
    raise typer.Exit(code)
