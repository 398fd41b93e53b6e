"""`zerolap bisect`: finds the commit of a range that changed a case."""

from typing import Annotated

import typer

from zerolap.cli import completion, options
from zerolap.cli.option_groups import Only, Without
from zerolap.cli.verb import Verb
from zerolap.cli.verbs import VERBS
from zerolap.errors import UsageError

app = Verb()

HELP = f"""{VERBS["bisect"]}

GOOD and BAD are revisions of the repository; the commits between them are the first parents of BAD, of which GOOD \
is one. Where the change shows in counted work, counts find it, as they are exact. Else commits are timed against \
GOOD, several times where that is worth it, until one has a probability of 95 %. Commits that do not build are \
skipped; several culprits are all found. At last each is compared with its parent, which gives the reason.

The search can be interrupted: the same command goes on, and measures nothing twice.

Examples:

    zerolap bisect HEAD~64 HEAD get-100B --repo ~/redis
    zerolap bisect 7.2.3 7.2.4 xadd-auto-id --repo ~/redis --json bisect.json
    zerolap bisect v1.2 main zrange-10 --repo ~/redis --engine timed --budget 1h
    zerolap bisect HEAD~20 HEAD get-100B --repo ~/redis --engine counted --markdown -
"""


@app.own(help=HELP)
def bisect(
    context: typer.Context,
    good: Annotated[str, typer.Argument(metavar="GOOD", show_default=False, autocompletion=completion.revisions)],
    bad: Annotated[str, typer.Argument(metavar="BAD", show_default=False, autocompletion=completion.revisions)],
    case: Annotated[str, typer.Argument(metavar="CASE", show_default=False, autocompletion=completion.case_names)],
    *,
    cases: Annotated[options.CaseOptions, Only("cases_directory", "topology")],
    commits: Annotated[options.RangeOptions, Without("shown", "platform")],
    measuring: Annotated[options.MeasuringOptions, Without("quick", "count_build")],
    reports: Annotated[options.Reports, Only("json", "markdown", "csv", "quiet")],
    place: options.LabOptions,
) -> None:
    """Search the range, write the outcome, and exit."""
    from zerolap.cli.output import write_sheet
    from zerolap.cli.repeated_command import command_line
    from zerolap.history import RangeSearch, SearchOptions
    from zerolap.sheets import bisect_sheet
    from zerolap.store import Store

    measuring.check()
    engines = measuring.engines_of_range("a range is not searched")
    selected = cases.selected([case])
    if len(selected) > 1:
        names = ", ".join(each.name for each in selected[:5])
        raise UsageError(f"`{case}` names {len(selected)} cases, and a search is for one", hint=f"name one of {names}")
    asked = commits.asked(selected, f"{good}..{bad}", takes_releases=False)
    if len(asked.commits) < 2:
        raise UsageError(f"`{good}` and `{bad}` are the same commit", hint="name a good one and a later, bad one")
    wanted = SearchOptions(
        engines=engines,
        min_effect=measuring.min_effects,
        budget_seconds=measuring.budget_seconds,
        seed=measuring.seed,
        command_line=command_line(context),
    )
    with Store.open(place.store) as results:
        with place.lab(results, measuring, quiet=reports.quiet) as lab:
            report = RangeSearch(asked, wanted, lab).search()
        write_sheet("a search", report, bisect_sheet(report), reports)
