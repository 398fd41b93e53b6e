"""`zerolap history table`: what each command has gained and lost since each release."""

from pathlib import Path
from typing import Annotated

import typer

from zerolap.cli import options

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

INSTRUCTIONS = "instructions_per_op"


def table(
    context: typer.Context,
    cases: options.Cases = None,
    repo: Annotated[Path, typer.Option(help="Git repository of the releases.", metavar="DIR")] = Path("."),
    shown: Annotated[
        str | None, typer.Option("--range", help="Versions to show: tags:A..B, tags:A,B,C, or A..B.", metavar="RANGE")
    ] = None,
    metric: Annotated[
        str, typer.Option(help="Metric of the table, such as cpu_ns_per_op.", metavar="METRIC")
    ] = INSTRUCTIONS,
    since: Annotated[
        str | None,
        typer.Option(help="Release that the headline begins at; by default the first.", metavar="RELEASE"),
    ] = None,
    weights: Annotated[
        str,
        typer.Option(
            help="Weights of the cases: equal, priority, a file with INFO commandstats, or tcp://HOST:PORT.",
            metavar="WEIGHTS",
        ),
    ] = "equal",
    password_file: options.PasswordFile = None,
    username: options.Username = None,
    split_builds: Annotated[
        bool, typer.Option("--split-builds", help="Measure what of a change is due to other flags.")
    ] = False,
    budget: options.Budget = None,
    trial_limit: options.TrialLimit = None,
    cases_directory: options.CasesDirectory = None,
    command: options.Command = None,
    group: options.Group = None,
    topology: options.Topology = None,
    config: options.Config = None,
    variant: options.VariantWords = None,
    json: options.Json = None,
    markdown: options.Markdown = None,
    store: options.StoreLocation = None,
    platform: options.MeasuredOn = None,
    unsafe_no_sandbox: options.UnsafeNoSandbox = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure the parts of builds if asked for, and write the table."""
    from zerolap.build import BRANCH
    from zerolap.cli.bar import Bar
    from zerolap.cli.case_selection import deployed, selected_cases
    from zerolap.cli.output import write_version_table
    from zerolap.errors import UsageError
    from zerolap.history import (
        TIME,
        WORK,
        BuildSplit,
        HistoryHeader,
        TableQuestion,
        case_weights,
        history_of,
        of_built_commits,
        table_positions,
        version_table,
    )
    from zerolap.lab import Lab
    from zerolap.store import Store

    options.check_reports(json=json, markdown=markdown)
    if metric not in (*WORK, *TIME):
        raise UsageError(f"a history does not follow `{metric}`", hint=f"write one of {', '.join([*WORK, *TIME])}")
    selected = deployed(selected_cases(cases_directory, cases, command, group), topology, cases_directory)
    login = options.login(password_file, username)
    question = TableQuestion(metric, case_weights(weights, selected, login), since, options.command_line(context))
    asked = options.history_range(repo, shown or BRANCH, selected, variant, options.server_settings(config))
    policy = options.sandbox_policy(unsafe_no_sandbox)
    trial_seconds = options.trial_seconds(trial_limit, None, quick=False)
    with Store.open_known(store) as results, Bar(quiet=quiet or not split_builds) as bar:
        asked = options.on_platform(asked, platform, results)
        if asked.text == BRANCH:
            asked = of_built_commits(asked, results)
        lab = Lab(results, bar, policy, trial_seconds=trial_seconds)
        history = history_of(asked, lab, HistoryHeader(question.command_line))
        positions = table_positions(history, metric)
        if split_builds and platform is not None:
            raise UsageError("`--split-builds` measures on this machine", hint="leave --platform out")
        if split_builds:
            BuildSplit(asked, positions, metric, lab).measure(options.seconds(budget), question.command_line)
        shares = BuildSplit(asked, positions, metric, lab).shares()
        document = version_table(history, selected, question, shares)
    write_version_table(document, json=json, markdown=markdown, quiet=quiet)
