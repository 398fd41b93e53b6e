"""`zerolap doctor`: reports what this machine can measure, and how well."""

import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zerolap import writer
from zerolap.cli import options
from zerolap.cli.verb import Verb
from zerolap.cli.verbs import VERBS
from zerolap.errors import EnvironmentMissing, UsageError

if TYPE_CHECKING:
    from zerolap.host import Diagnosis

app = Verb()

HELP = f"""{VERBS["doctor"]}

Examples:

    zerolap doctor
    zerolap doctor --json -
    zerolap doctor --calibrate
"""

SIGNS = {"ok": "ok", "warning": "weak", "missing": "missing"}
STYLES = {"ok": "green", "warning": "yellow", "missing": "red"}


@app.own(help=HELP)
def doctor(
    json: Annotated[
        str | None, typer.Option("--json", help="Write JSON; - is standard output.", metavar="FILE|-")
    ] = None,
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate",
            help="Compare the installed redis-server with itself for a few minutes, and store how much starts of one "
            "build differ on this machine, for later comparisons.",
        ),
    ] = False,
    store: options.StoreLocation = None,
) -> None:
    """Examine the machine and print the result."""
    if calibrate and json is not None:
        raise UsageError("--calibrate does not write JSON", hint="zerolap explain latest --json -")
    if calibrate:
        _calibrate(store)
        return
    from rich.text import Text

    from zerolap.cli.output import write_document
    from zerolap.host import doctor as examine, doctor_json

    diagnoses = [*examine(), *_of_store(store)]
    write_document(json, doctor_json(diagnoses))
    if json == "-":
        return
    table = writer.table("subject", "state", "found")
    console = writer.console()
    for diagnosis in diagnoses:
        state = str(diagnosis.state)
        table.add_row(Text(diagnosis.subject), Text(SIGNS[state], STYLES[state]), Text(diagnosis.found))
    console.print(table)
    for diagnosis in diagnoses:
        if diagnosis.cost:
            console.print()
            console.print(Text.assemble((diagnosis.subject, "bold"), f": {diagnosis.cost}"), soft_wrap=True)
            console.print(f"  hint: {diagnosis.remedy}", soft_wrap=True, markup=False, highlight=False)


def _of_store(location: str | None) -> list["Diagnosis"]:
    from dataclasses import asdict

    from zerolap.api import usage
    from zerolap.cli.store import size
    from zerolap.host import Diagnosis, State
    from zerolap.store import DEFAULT_DIRECTORY, Store

    if location is None and not Path(DEFAULT_DIRECTORY).is_dir():
        return []
    with Store.open_to_read(location) as results:
        taken = usage(results)
        parts = ", ".join(f"{name} {size(count)}" for name, count in asdict(taken).items())
        return [Diagnosis("store", State.OK, f"{results.address}: {parts}")]


def _calibrate(location: str | None) -> None:
    """Compare the installed server with itself, and print how much its starts differ."""
    from zerolap.build import resolve
    from zerolap.cases import core_suite
    from zerolap.cli.bar import Bar
    from zerolap.lab import Lab, Options, compare, comparison_request
    from zerolap.records import RequestedServer
    from zerolap.store import Store

    server = RequestedServer(source=resolve("redis-server", None))
    request = comparison_request(
        base=server,
        head=server,
        cases=core_suite(),
        options=Options(engines=["timed"]),
        command_line="zerolap doctor --calibrate",
    )
    with Store.open(location) as results:
        with Bar() as bar:
            comparison = compare(request, Lab(results, bar))
        timed = [verdict for case in comparison.cases for verdict in case.verdicts if verdict.metric == "cpu_ns_per_op"]
        # The newest spreads are those of this comparison.
        spreads = results.spreads(comparison.platform.fingerprint, "cpu_ns_per_op")[: len(timed)]
    if not spreads:
        raise EnvironmentMissing("no case could be timed", hint="zerolap explain latest")
    typical = statistics.median(spread.variance**0.5 for spread in spreads)
    cases = f"{len(spreads)} {'case' if len(spreads) == 1 else 'cases'}"
    writer.show(f"starts of one build differ by {typical:.1%} in CPU time per request (standard deviation, {cases})")
