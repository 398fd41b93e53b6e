"""`zerolap suites`: lists, shows and checks cases."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zerolap import writer
from zerolap.cli import completion, options
from zerolap.cli.option_groups import Only, Without
from zerolap.cli.verb import Verb
from zerolap.cli.verbs import VERBS

if TYPE_CHECKING:
    from zerolap.records import Case


CORE = "core"
PROOF_SEED = 1

app = Verb(help=VERBS["suites"])


@app.own(name="list")
def list_cases(*, cases: Annotated[options.CaseOptions, Without("topology")]) -> None:
    """List cases with group, commands and description, and the suites that there are.

    Examples:
        zerolap suites list --group stream
        zerolap suites list --suite geo
        zerolap suites list --suite all --command XADD
    """
    from rich.table import Table
    from rich.text import Text

    from zerolap.cases import packaged_suites

    table = Table(box=None, pad_edge=False)
    for heading in ("case", "group", "commands", "description"):
        table.add_column(heading, overflow="fold")
    for case in cases.selected():
        # Text, as brackets in descriptions would be parsed as markup.
        table.add_row(*map(Text, (case.name, case.group, ", ".join(case.verbs), case.description)))
    console = writer.console()
    console.print(table)
    if cases.cases_directory is None:
        others = [name for name in packaged_suites() if name != CORE]
        console.print(
            Text(f"\nof the suite {CORE}; others: {', '.join(others)}: zerolap suites list --suite {others[0]}|all")
        )


@app.own()
def show(
    case: Annotated[str, typer.Argument(metavar="CASE", show_default=False, autocompletion=completion.case_names)],
    *,
    cases: Annotated[options.CaseOptions, Only("cases_directory")],
    yaml: Annotated[bool, typer.Option("--yaml", help="Show it as a case file, to be copied and changed.")] = False,
) -> None:
    """Show a case with all its fields, placeholders filled, as JSON.

    Examples:
        zerolap suites show get-100B
        zerolap suites show get-100B --yaml > my-cases.yml
    """
    from zerolap.cases import case_file_of
    from zerolap.records import UsageError

    selected = cases.selected([case])
    if yaml and len(selected) > 1:
        names = ", ".join(of.name for of in selected[:5])
        raise UsageError(
            f"`{case}` names {len(selected)} cases, and a case file is shown of one", hint=f"name one of {names}"
        )
    for shown in selected:
        writer.write(case_file_of(shown) if yaml else f"{shown.model_dump_json(indent=2)}\n")


@app.own()
def schema() -> None:
    """Write the JSON Schema of case files, by which editors complete and check them.

    Example: zerolap suites schema > case-file.schema.json

    The first line of a case file names it for editors with a YAML language server:
    # yaml-language-server: $schema=case-file.schema.json
    """
    import json

    from zerolap.cases import json_schema

    writer.write(f"{json.dumps(json_schema(), indent=2)}\n")


@app.own()
def check(
    context: typer.Context,
    what: Annotated[
        list[str] | None,
        typer.Argument(metavar="CASE|FILE|DIR", show_default=False, autocompletion=completion.case_names),
    ] = None,
    server: options.Server = "redis-server",
    *,
    servers: Annotated[options.ServerOptions, Without("variant")],
    cases: Annotated[options.CaseOptions, Only("cases_directory", "command", "group")],
    measuring: Annotated[options.MeasuringOptions, Only("trial_limit")],
    no_run: Annotated[bool, typer.Option("--no-run", help="Only check that the files are well-formed.")] = False,
    fail_on_fault: Annotated[
        bool,
        typer.Option(
            "--fail-on-fault/--ignore-faults", help="Exit with code 1 if a case has faults or its file cannot be used."
        ),
    ] = True,
    reports: Annotated[options.Reports, Only("json", "quiet")],
    submission: options.PlatformOptions,
    place: options.LabOptions,
    seed: Annotated[
        int, typer.Option(help="Seed of all random choices.", min=0, max=options.LARGEST_SEED, metavar="N")
    ] = 1,
) -> None:
    """Run each case briefly and report its faults; faults in a file are reported with the line.

    Faults are error replies, requests that find nothing, writes to keys outside the data set, data that is used up or
    expires, and a client that is busier than the server. Without CASE, FILE or DIR the core suite is checked.

    The exit code is 1 if a case has faults or its file cannot be used, and 4 if no case could be checked.

    Examples:
        zerolap suites check my-cases.yml
        zerolap suites check 'get-*' --cases my-suites/ --server ./src/redis-server --json faults.json
        zerolap suites check --no-run my-suites/
    """
    from zerolap.cli.case_selection import cases_named
    from zerolap.cli.exit_code import FAULTS_OF_FILES, check_exit_code
    from zerolap.records import UsageError

    chosen = cases_named(cases.cases_directory, what, cases.command, cases.group)
    if no_run and reports.json is not None:
        raise UsageError("--no-run does not write JSON", hint="omit --no-run or --json")
    if no_run:
        show_form(chosen, quiet=reports.quiet)
        if fail_on_fault and any(
            case.cannot_run is not None and case.cannot_run[0] in FAULTS_OF_FILES for case in chosen
        ):
            raise typer.Exit(1)
        return
    from zerolap.cli.output import write_check
    from zerolap.cli.repeated_command import command_line
    from zerolap.lab import check as check_cases, check_request
    from zerolap.store import Store

    measuring.check()
    request = check_request(servers.requested(server), chosen, seed, command_line(context))
    with Store.open(place.store) as results:
        if submission.platform is not None:
            from zerolap.cli.submitting import answered

            raise typer.Exit(
                answered(request, results, submission, reports, "regression" if fail_on_fault else "never")
            )
        with place.lab(results, replace(measuring, quick=True), quiet=reports.quiet) as lab:
            report = check_cases(request, lab)
    write_check(report, reports)
    raise typer.Exit(check_exit_code(report, fail_on_fault=fail_on_fault))


@app.own()
def coverage(
    context: typer.Context,
    server: options.Server = "redis-server",
    *,
    servers: Annotated[options.ServerOptions, Without("variant")],
    cases: Annotated[options.CaseOptions, Only("cases_directory")],
    measuring: Annotated[options.MeasuringOptions, Only("trial_limit")],
    measure: Annotated[
        bool,
        typer.Option("--measure", help="Check all cases first: a command is covered if its case proves it."),
    ] = False,
    of_checks: Annotated[
        list[str] | None,
        typer.Option("--check", help="Take the proofs from these stored checks of the same server.", metavar="ID"),
    ] = None,
    reports: Annotated[options.Reports, Only("json", "html", "markdown", "csv", "quiet")],
    place: options.LabOptions,
) -> None:
    """Show which commands and subcommands of a server cases measure, which are excused, and which are missing.

    Without --cases all suites of the package count. By default a command is covered that a case names. With --measure
    or --check it is covered if a case without faults called it at least 1,000 times by the server's own count, none of
    the calls failed or was rejected, and replies, hits and encodings are those that the case declares.

    The exit code is 1 if a command is neither covered nor excused.

    Examples:
        zerolap suites coverage
        zerolap suites coverage --server ./src/valkey-server --measure --markdown coverage.md
        zerolap suites coverage --cases my-suites/ --json -
    """
    from zerolap.cases import ALL_SUITES
    from zerolap.cli.output import write_coverage
    from zerolap.cli.repeated_command import command_line
    from zerolap.lab import check as check_cases, check_request, coverage as covered_by, stored_proofs
    from zerolap.records import UsageError
    from zerolap.store import Store

    measuring.check()
    if measure and of_checks:
        raise UsageError("--measure and --check are two ways to prove", hint="leave one of them out")
    chosen = replace(cases, cases_directory=cases.cases_directory or Path(ALL_SUITES)).selected()
    requested, line = servers.requested(server), command_line(context)
    with (
        Store.open(place.store) as results,
        place.lab(results, replace(measuring, quick=True), quiet=reports.quiet) as lab,
    ):
        checks = [stored_proofs(identity, chosen, results) for identity in of_checks or []]
        if measure:
            checks = [check_cases(check_request(requested, chosen, PROOF_SEED, line), lab)]
        report = covered_by(requested, chosen, checks, lab, line)
    write_coverage(report, reports)
    raise typer.Exit(1 if report.uncovered else 0)


def show_form(cases: "Sequence[Case]", *, quiet: bool) -> None:
    """Print the warnings of all cases, and how many cases have any."""
    for case in cases:
        for warning in case.warnings:
            writer.note(warning)
        if case.cannot_run is not None:
            writer.note(f"{case.file}:{case.line}: it cannot run: {': '.join(case.cannot_run)}")
    warned = sum(bool(case.warnings) for case in cases)
    if not quiet:
        outcome = f"{warned} with warnings" if warned else "all well-formed"
        writer.show(f"{len(cases)} {'case' if len(cases) == 1 else 'cases'}, {outcome}")
