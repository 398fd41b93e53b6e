"""`zerolap compare --each-commit`: the share that each commit of a range has in a change of work."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zerolap.cli.bar import Bar
from zerolap.cli.exit_code import filling_exit_code, history_exit_code
from zerolap.cli.options import FailOn
from zerolap.cli.output import HistoryReports, write_shares
from zerolap.history import Filling, FillOptions, HistoryHeader, HistoryRange, history_of
from zerolap.lab import Lab
from zerolap.store import Store

if TYPE_CHECKING:
    from zerolap.sandbox import SandboxPolicy

COUNTED = ("counted",)


@dataclass(frozen=True)
class SharesOptions:
    """How the commits of a range are counted, and where their shares are written."""

    budget_seconds: float | None
    command_line: str
    json: str | None
    markdown: str | None
    quiet: bool
    store: str | None
    fail_on: FailOn
    trial_seconds: float


def show_shares_of_commits(asked: HistoryRange, wanted: SharesOptions, policy: "SandboxPolicy") -> int:
    """Count the commits of a range that are not counted yet, write the share of each, and return the exit code."""
    with Store.open(wanted.store) as results:
        with Bar(quiet=wanted.quiet) as bar:
            lab = Lab(results, bar, policy, trial_seconds=wanted.trial_seconds)
            filled = Filling(asked, FillOptions(COUNTED, wanted.budget_seconds, wanted.command_line), lab).fill()
        notes = ("the budget is used up: the same command goes on",) if filled.is_over_budget else ()
        document = history_of(asked, Lab(results), HistoryHeader(wanted.command_line, filled.machine_seconds, notes))
        write_shares(document, HistoryReports(wanted.json, wanted.markdown, None, wanted.quiet))
    # Only work is counted; what others have timed of the range is no answer to this command.
    counted = [series for series in document.series if series.engine in COUNTED]
    of_work = document.model_copy(update={"series": tuple(counted)})
    code = filling_exit_code(of_work, COUNTED, filled)
    return code or history_exit_code(of_work, [case.name for case in asked.cases], wanted.fail_on)
