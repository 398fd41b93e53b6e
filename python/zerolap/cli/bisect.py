"""`zerolap bisect`: finds the commit of a range that changed a case."""

from pathlib import Path
from typing import Annotated

import typer

from zerolap.cli import completion, options
from zerolap.cli.verbs import VERBS

app = typer.Typer(add_completion=False, rich_markup_mode="rich")

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

Repository = Annotated[
    Path, typer.Option("--repo", help="Git repository of the commits; by default the directory.", metavar="DIR")
]


@app.command(help=HELP)
def bisect(
    context: typer.Context,
    good: Annotated[str, typer.Argument(metavar="GOOD", show_default=False, autocompletion=completion.revisions)],
    bad: Annotated[str, typer.Argument(metavar="BAD", show_default=False, autocompletion=completion.revisions)],
    case: Annotated[str, typer.Argument(metavar="CASE", show_default=False, autocompletion=completion.case_names)],
    repo: Repository = Path("."),
    cases_directory: options.CasesDirectory = None,
    engine: options.Engine = None,
    budget: options.Budget = None,
    wait: options.Wait = None,
    trial_limit: options.TrialLimit = None,
    min_effect: options.MinEffect = "counted=0.5%,timed=2%",
    topology: options.Topology = None,
    config: options.Config = None,
    variant: options.VariantWords = None,
    json: options.Json = None,
    markdown: options.Markdown = None,
    store: options.StoreLocation = None,
    unsafe_no_sandbox: options.UnsafeNoSandbox = False,
    seed: options.Seed = None,
    quiet: options.Quiet = False,
) -> None:
    """Search the range, write the outcome, and exit."""
    from zerolap.cli.bar import Bar
    from zerolap.cli.case_selection import deployed, selected_cases
    from zerolap.cli.output import write_bisect
    from zerolap.errors import UsageError
    from zerolap.history import RangeSearch, SearchOptions
    from zerolap.lab import Lab
    from zerolap.store import Store

    options.check_reports(json=json, markdown=markdown)
    engines = options.engines(engine, judging=True) or ["counted", "timed"]
    wrong = [name for name in engines if name not in ("counted", "timed")]
    if wrong:
        raise UsageError(f"a range is not searched by the engine `{wrong[0]}`", hint="--engine counted,timed")
    selected = deployed(selected_cases(cases_directory, [case], None, None), topology, cases_directory)
    if len(selected) > 1:
        names = ", ".join(one.name for one in selected[:5])
        raise UsageError(f"`{case}` names {len(selected)} cases, and a search is for one", hint=f"name one of {names}")
    settings = options.server_settings(config)
    asked = options.history_range(repo, f"{good}..{bad}", selected, variant, settings, takes_releases=False)
    if len(asked.commits) < 2:
        raise UsageError(f"`{good}` and `{bad}` are the same commit", hint="name a good one and a later, bad one")
    wanted = SearchOptions(
        engines=engines,
        min_effect=options.min_effects(min_effect),
        budget_seconds=options.seconds(budget),
        seed=seed,
        command_line=options.command_line(context),
    )
    wait_seconds = options.wait_seconds(wait, None)
    trial_seconds = options.trial_seconds(trial_limit, None, quick=False)
    with Store.open(store) as results:
        with Bar(quiet=quiet) as bar:
            policy = options.sandbox_policy(unsafe_no_sandbox)
            lab = Lab(results, bar, policy, wait_seconds=wait_seconds, trial_seconds=trial_seconds)
            report = RangeSearch(asked, wanted, lab).search()
        write_bisect(report, json=json, markdown=markdown, quiet=quiet)
