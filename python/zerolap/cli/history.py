"""`zerolap history`: shows and measures how cases went over a range of commits."""

import copy
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from zerolap.cli import completion, options
from zerolap.cli.history_exchange import (
    EXPORT_HELP,
    IMPORT_HELP,
    IMPORTED_HELP,
    Benchfmt,
    Csv,
    Imported,
    beside_imported,
    export,
    import_series,
    imported,
)
from zerolap.cli.history_table import TABLE_HELP, table
from zerolap.cli.history_triage import ACK_HELP, REPORT_HELP, ack, report
from zerolap.cli.verbs import VERBS

SHOW = "show"
HELP = f"""{VERBS["history"]}

A range is A..B, the first parents of B since A; tags:A..B, the releases from A to B; tags:A,B,C, these releases \
alone; or dates:FROM..TO, the first parents of HEAD of that time. Work is counted at each commit, with the same \
requests and seeds, so that every \
difference is exact; small ones are summed in a ledger since the last release. Time is never compared across days: \
commits are compared with their neighbour and with the release before. Commits whose programs are equal are measured \
once. Measuring can be interrupted and begun again.

Examples:

    zerolap history --repo ~/redis --measure HEAD~60..HEAD --engine counted

    zerolap history --repo ~/redis --range tags:6.0.0..HEAD

    zerolap history --repo ~/redis --measure tags:6.2.14,7.0.15,7.2.4 --engine counted

    zerolap history 'hash-*' --repo ~/redis --measure tags:6.0.0..unstable --budget 30m

    zerolap history --repo ~/redis --range HEAD~60..HEAD --csv points.csv --markdown -

    zerolap history --repo ~/redis --measure HEAD~60..HEAD --platform arm

    zerolap history report --repo ~/redis --range HEAD~60..HEAD

    zerolap history table --repo ~/redis --range tags:6.0.0..HEAD

    zerolap history ack 4f8cdc2a1ea5:get-100B --repo ~/redis --reason 'needed for safety'
"""


class _ShowByDefault(TyperGroup):
    """A group whose command `show` needs not be written."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert `show` where no other command is called."""
        if not args or args[0] not in self.commands:
            args = [SHOW, *args]
        return super().parse_args(ctx, args)


class _Show(TyperCommand):
    """The command `show`, whose help is that of the group: its own arguments and options, and the other commands."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help as that of `zerolap history`."""
        group = copy.copy(ctx.parent.command)
        group.params, group.help, group.subcommand_metavar = self.get_params(ctx), self.help, ""
        group.format_help(ctx.parent, formatter)


app = typer.Typer(add_completion=False, cls=_ShowByDefault, rich_markup_mode="rich", help=HELP, add_help_option=False)

Range = Annotated[
    str | None,
    typer.Option(
        "--range",
        help="Commits to show: A..B, tags:A..B or dates:FROM..TO; by default those of HEAD that are measured.",
        autocompletion=completion.revisions,
        metavar="RANGE",
    ),
]
Repository = Annotated[
    Path, typer.Option("--repo", help="Git repository of the commits; by default the directory.", metavar="DIR")
]


CasesOrVerb = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[CASE]...", help="Names or globs of cases; by default all.", autocompletion=completion.cases_or_verbs
    ),
]


@app.command(SHOW, help=HELP, cls=_Show, hidden=True)
def show(
    context: typer.Context,
    cases: CasesOrVerb = None,
    repo: Repository = Path("."),
    shown: Range = None,
    measure: Annotated[
        str | None,
        typer.Option(
            help="Commits to measure where that is missing, and to show.",
            metavar="RANGE",
            autocompletion=completion.revisions,
        ),
    ] = None,
    cases_directory: options.CasesDirectory = None,
    command: options.Command = None,
    group: options.Group = None,
    engine: options.Engine = None,
    budget: options.Budget = None,
    trial_limit: options.TrialLimit = None,
    topology: options.Topology = None,
    config: options.Config = None,
    variant: options.VariantWords = None,
    json: options.Json = None,
    markdown: options.Markdown = None,
    csv: Csv = None,
    benchfmt: Benchfmt = None,
    of_others: Imported = None,
    store: options.StoreLocation = None,
    platform: options.MeasuredOn = None,
    unsafe_no_sandbox: options.UnsafeNoSandbox = False,
    retry: Annotated[bool, typer.Option("--retry", help="Try again what failed or was invalid before.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure what is missing, and write the history."""
    from zerolap.build import BRANCH
    from zerolap.cli.bar import Bar
    from zerolap.cli.case_selection import deployed, selected_cases
    from zerolap.cli.exit_code import filling_exit_code
    from zerolap.cli.output import HistoryReports, write_history
    from zerolap.errors import UsageError
    from zerolap.history import (
        Filling,
        FillOptions,
        HistoryHeader,
        history_of,
        keep_history,
        measurer_for,
        of_built_commits,
    )
    from zerolap.lab import Lab
    from zerolap.store import Store

    options.check_reports(json=json, markdown=markdown, benchfmt=benchfmt, csv=csv)
    if measure is not None and shown is not None:
        raise UsageError("`--measure` shows what it measures", hint="leave --range out")
    for name in ("engine", "budget", "trial_limit", "retry"):
        if measure is None and options.is_on_command_line(context, name):
            raise UsageError(
                f"`--{name.replace('_', '-')}` without `--measure`: nothing is measured",
                hint="zerolap history --measure RANGE",
            )
    engines = options.engines(engine, judging=True) or ["counted", "timed"]
    wrong = [name for name in engines if name not in ("counted", "timed")]
    if wrong:
        raise UsageError(f"a history is not measured by the engine `{wrong[0]}`", hint="--engine counted,timed")
    selected = deployed(selected_cases(cases_directory, cases, command, group), topology, cases_directory)
    asked = options.history_range(repo, measure or shown or BRANCH, selected, variant, options.server_settings(config))
    line = options.command_line(context)
    trial_seconds = options.trial_seconds(trial_limit, None, quick=False)
    with Store.open_known(store) if measure is None else Store.open(store) as results:
        asked = options.on_platform(asked, platform, results)
        summary, filled = HistoryHeader(line), None
        if measure is not None:
            with Bar(quiet=quiet) as bar:
                policy = options.sandbox_policy(unsafe_no_sandbox)
                lab = Lab(results, bar, policy, trial_seconds=trial_seconds)
                wanted = FillOptions(engines, options.seconds(budget), line, retry=retry)
                filled = Filling(asked, wanted, lab, measurer_for(asked, lab)).fill()
            notes = ("the budget is used up: the same command goes on",) if filled.is_over_budget else ()
            summary = HistoryHeader(line, filled.machine_seconds, notes)
        if asked.text == BRANCH:
            asked = of_built_commits(asked, results)
        document = beside_imported(history_of(asked, Lab(results), summary), of_others, results)
        keep_history(document, asked, results)
        write_history(document, HistoryReports(json, markdown, csv, quiet, benchfmt))
    if filled is not None:
        raise typer.Exit(filling_exit_code(document, engines, filled))


app.command("ack", help=ACK_HELP, no_args_is_help=True)(ack)
app.command("table", help=TABLE_HELP)(table)
app.command("report", help=REPORT_HELP)(report)
app.command("import", help=IMPORT_HELP, no_args_is_help=True)(import_series)
app.command("imported", help=IMPORTED_HELP)(imported)
app.command("export", help=EXPORT_HELP, no_args_is_help=True)(export)
