"""`zerolap resume`: continues an interrupted comparison, run or sweep of snapshots."""

from typing import Annotated

import typer

from zerolap.cli import completion, options
from zerolap.cli.verbs import VERBS

app = typer.Typer(add_completion=False, rich_markup_mode="rich")

HELP = f"""{VERBS["resume"]}

ID is listed by `zerolap explain`; a unique beginning of it will do, and `latest` is the newest that was interrupted or
killed. The same command continues it, too.

Examples:

    zerolap resume latest

    zerolap resume c-1f2e3d4c --json report.json --html report.html
"""


@app.command(help=HELP)
def resume(
    identity: Annotated[
        str, typer.Argument(metavar="ID", show_default=False, autocompletion=completion.unfinished_results)
    ],
    json: options.Json = None,
    html: options.Html = None,
    markdown: options.Markdown = None,
    benchfmt: options.Benchfmt = None,
    fail_on: options.FailWhen = options.FailOn.NEVER,
    trial_limit: options.TrialLimit = None,
    store: options.StoreLocation = None,
    unsafe_no_sandbox: options.UnsafeNoSandbox = False,
    quiet: options.Quiet = False,
) -> None:
    """Continue the request, write the reports, and exit."""
    from zerolap.cli.bar import Bar
    from zerolap.cli.exit_code import exit_code, run_exit_code, snapshot_exit_code
    from zerolap.cli.output import Reports, write_comparison, write_run, write_sweep
    from zerolap.lab import Lab, resume as resume_request
    from zerolap.records import Comparison, RunReport
    from zerolap.store import Store

    options.check_reports(json=json, markdown=markdown, html=html, benchfmt=benchfmt)
    trial_seconds = options.trial_seconds(trial_limit, None, quick=False)
    reports = Reports(json, markdown, html, benchfmt, quiet)
    with Store.open(store) as results:
        with Bar(quiet=quiet) as bar:
            lab = Lab(results, bar, options.sandbox_policy(unsafe_no_sandbox), trial_seconds=trial_seconds)
            document = resume_request(identity, lab)
        if isinstance(document, Comparison):
            write_comparison(document, results, reports)
            code = exit_code(document, fail_on)
        elif isinstance(document, RunReport):
            write_run(document, results, reports)
            code = run_exit_code(document)
        else:
            write_sweep(document, reports)
            code = snapshot_exit_code(document, fail_on)
    raise typer.Exit(code)
