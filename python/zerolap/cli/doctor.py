"""`zerolap doctor`: what this machine can measure, and how well."""

from typing import Annotated

import typer

app = typer.Typer(rich_markup_mode="rich")

HELP = """Examine this machine: what it can measure, what each missing piece costs, and the command that mends it.

Examples:

    zerolap doctor

    zerolap doctor --json -
"""

SIGNS = {"ok": "ok", "warning": "weak", "missing": "missing"}
STYLES = {"ok": "green", "warning": "yellow", "missing": "red"}


@app.command(help=HELP)
def doctor(
    json: Annotated[
        str | None, typer.Option("--json", help="Write JSON; - is standard output.", metavar="FILE|-")
    ] = None,
) -> None:
    """Examine and print."""
    import json as encoder

    from rich.console import Console
    from rich.table import Table

    from zerolap.cli.output import write
    from zerolap.host import doctor as examine
    from zerolap.host import doctor_json

    diagnoses = examine()
    if json is not None:
        write(json, encoder.dumps(doctor_json(diagnoses), indent=2))
        if json == "-":
            return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("subject", "state", "found"):
        table.add_column(heading, overflow="fold")
    console = Console()
    for diagnosis in diagnoses:
        state = str(diagnosis.state)
        table.add_row(diagnosis.subject, f"[{STYLES[state]}]{SIGNS[state]}[/]", diagnosis.found)
    console.print(table)
    for diagnosis in diagnoses:
        if diagnosis.cost:
            console.print(f"\n[bold]{diagnosis.subject}[/]: {diagnosis.cost}", soft_wrap=True)
            console.print(f"  hint: {diagnosis.remedy}", soft_wrap=True, markup=False, highlight=False)
