"""`zerolap compare --each-commit`: the share that each commit of a range has in a change of work."""

from pathlib import Path

from zerolap.cli import options
from zerolap.cli.exit_code import filling_exit_code, history_exit_code
from zerolap.cli.option_values import require_gate_of_range
from zerolap.cli.output import write_sheet
from zerolap.fail_on import FailOn
from zerolap.history import Filling, FillOptions, HistoryHeader, history_of
from zerolap.lab import Lab
from zerolap.sheets import commit_shares_sheet
from zerolap.store import Store

COUNTED = ("counted",)


def show_shares(
    ends: tuple[str, str | None],
    cases: options.CaseOptions,
    servers: options.ServerOptions,
    measuring: options.MeasuringOptions,
    reports: options.Reports,
    place: options.LabOptions,
    command_line: str,
    fail_on: FailOn,
) -> int:
    """Count the commits that are not counted yet, write the share of each, and return the exit code.

    The range is BASE to HEAD, the two `ends`, or BASE is a range and what follows are names of cases.
    """
    require_gate_of_range(fail_on)
    (base, head), names = ends, cases.cases or []
    text, names = (base, [*filter(None, [head]), *names]) if ".." in base else (f"{base}..{head or ''}", names)
    of_range = options.RangeOptions(repo=servers.repo or Path(), config=servers.config, variant=servers.variant)
    asked = of_range.asked(cases.selected(names), text)
    with Store.open(place.store) as results:
        with place.lab(results, measuring, quiet=reports.quiet) as lab:
            filled = Filling(asked, FillOptions(COUNTED, measuring.budget_seconds, command_line), lab).fill()
        document = history_of(asked, Lab(results), HistoryHeader(command_line, filled.machine_seconds, filled.notes))
        write_sheet("the shares of commits", document, commit_shares_sheet(document), reports)
    # Only work is counted; what others have timed of the range is no answer to this command.
    counted = [series for series in document.series if series.engine in COUNTED]
    of_work = document.model_copy(update={"series": tuple(counted)})
    code = filling_exit_code(of_work, COUNTED, filled)
    return code or history_exit_code(of_work, [case.name for case in asked.cases], fail_on)
