"""`zerolap suites`: the cases there are."""

from pathlib import Path
from typing import Annotated

import typer

from zerolap.cli import options

HELP = "The cases there are: list them, show one, check files of cases."

app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help=HELP)


@app.command(name="list")
def list_cases(
    cases: options.Cases = None,
    cases_directory: options.CasesDirectory = None,
    command: options.Command = None,
    group: options.Group = None,
) -> None:
    """List cases by name, group and what they send.

    Example: zerolap suites list --group stream
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from zerolap.cli.selection import selected_cases

    table = Table(box=None, pad_edge=False)
    for heading in ("case", "group", "commands", "description"):
        table.add_column(heading, overflow="fold")
    for case in selected_cases(cases_directory, cases, command, group):
        # What others wrote may hold brackets, which would be taken for markup.
        table.add_row(*map(Text, (case.name, case.group, " ".join(case.verbs), case.description)))
    Console().print(table)


@app.command(no_args_is_help=True)
def show(
    case: Annotated[str, typer.Argument(metavar="CASE", show_default=False)],
    cases_directory: options.CasesDirectory = None,
) -> None:
    """Show a case with all its fields, placeholders filled, as JSON.

    Example: zerolap suites show get-100B
    """
    from zerolap.cli.selection import selected_cases

    for selected in selected_cases(cases_directory, [case], None, None):
        typer.echo(selected.model_dump_json(indent=2))


@app.command(no_args_is_help=True)
def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE|DIR...", show_default=False)],
) -> None:
    """Check case files; a wrong field is told with file, line and what was expected.

    Example: zerolap suites check my-cases.yml
    """
    from zerolap.cases import load_cases

    for file in files:
        cases = load_cases(file)
        typer.echo(f"{file}: {len(cases)} {'case' if len(cases) == 1 else 'cases'}, all well-formed")
