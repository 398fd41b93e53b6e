"""`zerolap history table`: what each command has gained and lost since each release."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from zerolap.cli import options
from zerolap.cli.option_groups import Only, flag, option
from zerolap.errors import UsageError

TABLE_HELP = """Show what each command has gained and lost since each release.

The table is read from what `zerolap history --measure` has measured. A cell is the change of a case from a release to \
the last commit; a second table has the changes from release to release. The mean over all cases is geometric, and \
weighted: equally, by the priority of the cases, or by the time that your own servers spend in each command. FILE \
holds the text of their INFO commandstats; a running server is asked by its address.

Releases change their flags along with their code. With --split-builds the version before is built with the flags of \
the later one too, and measured: the table then has the parts of the code and of the build.

Examples:

    zerolap history table --repo ~/redis --range tags:6.0.0..HEAD
    zerolap history table --repo ~/redis --range tags:6.0.0..HEAD --since 6.2.0 --weights tcp://localhost:6379
    zerolap history table --repo ~/redis --range tags:6.0.0..HEAD --weights tcp://db:6379 --password-file ~/.redis-pass
    zerolap history table 'hash-*' --repo ~/redis --range tags:6.0.0..HEAD --metric cpu_ns_per_op --markdown table.md
"""


@dataclass(frozen=True)
class TableOptions:
    """What a table is of."""

    PANEL: ClassVar = "What"

    metric: str = option("Metric of the table, such as cpu_ns_per_op.", "METRIC", default="instructions_per_op")
    since: str | None = option("Release that the headline begins at; by default the first.", "RELEASE")
    weights: str = option(
        "Weights of the cases: equal, command, priority, a file with INFO commandstats, or tcp://HOST:PORT.",
        "WEIGHTS",
        default="equal",
    )
    split_builds: bool = flag("Measure what of a change is due to other flags.")


def table(
    context: typer.Context,
    *,
    cases: options.CaseOptions,
    commits: options.RangeOptions,
    asked_for: TableOptions,
    login: options.LoginOptions,
    measuring: Annotated[options.MeasuringOptions, Only("budget", "trial_limit")],
    reports: Annotated[options.Reports, Only("json", "markdown", "csv", "quiet")],
    place: options.LabOptions,
) -> None:
    """Measure the parts of builds if asked for, and write the table."""
    from zerolap.cli.output import write_sheet
    from zerolap.cli.repeated_command import command_line
    from zerolap.history import (
        TIME,
        WORK,
        BuildSplit,
        HistoryHeader,
        TableQuestion,
        history_of,
        table_positions,
        version_table,
    )
    from zerolap.server import case_weights
    from zerolap.sheets import version_table_sheet
    from zerolap.store import Store

    metric, split_builds = asked_for.metric, asked_for.split_builds
    if metric not in (*WORK, *TIME):
        raise UsageError(f"a history does not follow `{metric}`", hint=f"write one of {', '.join([*WORK, *TIME])}")
    measuring.check()
    selected = cases.selected()
    weights = case_weights(asked_for.weights, selected, login.login)
    question = TableQuestion(metric, weights, asked_for.since, command_line(context))
    asked = commits.asked(selected)
    is_quiet = reports.quiet or not split_builds
    with Store.open_known(place.store) as results, place.lab(results, measuring, quiet=is_quiet) as lab:
        asked = commits.known(asked, results)
        history = history_of(asked, lab, HistoryHeader(question.command_line))
        positions = table_positions(history, metric)
        if split_builds and commits.platform is not None:
            raise UsageError("`--split-builds` measures on this machine", hint="leave --platform out")
        if split_builds:
            BuildSplit(asked, positions, metric, lab).measure(measuring.budget_seconds, question.command_line)
        shares = BuildSplit(asked, positions, metric, lab).shares()
        document = version_table(history, selected, question, shares)
    write_sheet("a table of versions", document, version_table_sheet(document), reports)
