"""`zerolap history`: shows and measures how cases went over a range of commits."""

from typing import Annotated, Any

import typer

from zerolap.cli import completion, options
from zerolap.cli.history_exchange import (
    EXPORT_HELP,
    IMPORT_HELP,
    IMPORTED_HELP,
    Imported,
    beside_imported,
    export,
    import_series,
    imported,
)
from zerolap.cli.history_table import TABLE_HELP, table
from zerolap.cli.history_triage import ACK_HELP, REPORT_HELP, ack, report
from zerolap.cli.option_groups import Only, Without
from zerolap.cli.verb import PlainHelp, PlainHelpOfGroup, Verb, commands
from zerolap.cli.verbs import VERBS
from zerolap.errors import UsageError

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


class _ShowByDefault(PlainHelpOfGroup):
    """A group whose command `show` needs not be written."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert `show` where no other command is called."""
        if not args or args[0] not in self.commands:
            args = [SHOW, *args]
        return super().parse_args(ctx, args)


class _Show(PlainHelp):
    """The command `show`, whose help and usage are those of `zerolap history`."""

    def get_usage(self, ctx: Any) -> str:
        """Return the usage without the name of the command."""
        return super().get_usage(ctx).replace(f" {SHOW} ", " ", 1)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of the command, and the other commands of histories."""
        super().format_help(ctx, formatter)
        formatter.write("\n" + "\n\n".join(commands(ctx.parent.command, ctx.parent)) + "\n")


app = Verb(cls=_ShowByDefault, help=HELP, add_help_option=False)


@app.own(SHOW, help=HELP, cls=_Show, hidden=True)
def show(
    context: typer.Context,
    *,
    cases: options.CaseOptions,
    commits: options.RangeOptions,
    of_others: Imported = None,
    measure: Annotated[
        str | None,
        typer.Option(
            help="Commits to measure where that is missing, and to show.",
            metavar="RANGE",
            autocompletion=completion.revisions,
            rich_help_panel="How",
        ),
    ] = None,
    measuring: Annotated[options.MeasuringOptions, Only("engine", "budget", "trial_limit")],
    retry: Annotated[
        bool, typer.Option("--retry", help="Try again what failed or was invalid before.", rich_help_panel="How")
    ] = False,
    reports: Annotated[options.Reports, Without("html", "junit", "sarif")],
    place: options.LabOptions,
) -> None:
    """Measure what is missing, and write the history."""
    from zerolap.cli.exit_code import filling_exit_code
    from zerolap.cli.output import write_history
    from zerolap.cli.repeated_command import command_line, is_on_command_line
    from zerolap.history import Filling, FillOptions, HistoryHeader, history_of, keep_history, measurer_for
    from zerolap.lab import Lab
    from zerolap.store import Store

    if measure is not None and commits.shown is not None:
        raise UsageError("`--measure` shows what it measures", hint="leave --range out")
    for name in ("engine", "budget", "trial_limit", "retry"):
        if measure is None and is_on_command_line(context, name):
            raise UsageError(
                f"`--{name.replace('_', '-')}` without `--measure`: nothing is measured",
                hint="zerolap history --measure RANGE",
            )
    engines = measuring.engines_of_range("a history is not measured")
    measuring.check()
    asked = commits.asked(cases.selected(), measure)
    line = command_line(context)
    with Store.open_known(place.store) if measure is None else Store.open(place.store) as results:
        asked = commits.on_platform(asked, results)
        summary, filled = HistoryHeader(line), None
        if measure is not None:
            with place.lab(results, measuring, quiet=reports.quiet) as lab:
                wanted = FillOptions(engines, measuring.budget_seconds, line, retry=retry)
                filled = Filling(asked, wanted, lab, measurer_for(asked, lab)).fill()
            summary = HistoryHeader(line, filled.machine_seconds, filled.notes)
        asked = commits.built(asked, results)
        document = beside_imported(history_of(asked, Lab(results), summary), of_others, results)
        keep_history(document, asked, results)
        write_history(document, reports)
    if filled is not None:
        raise typer.Exit(filling_exit_code(document, engines, filled))


app.own("ack", help=ACK_HELP)(ack)
app.own("table", help=TABLE_HELP)(table)
app.own("report", help=REPORT_HELP)(report)
app.own("import", help=IMPORT_HELP)(import_series)
app.own("imported", help=IMPORTED_HELP)(imported)
app.own("export", help=EXPORT_HELP)(export)
