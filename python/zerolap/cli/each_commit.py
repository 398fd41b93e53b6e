"""`zerolap compare --each-commit`: the share that each commit of a range has in a change of work."""

from dataclasses import dataclass
from pathlib import Path

from zerolap.cli import options
from zerolap.cli.exit_code import filling_exit_code, history_exit_code
from zerolap.cli.option_values import require_gate_of_range
from zerolap.cli.output import write_shares
from zerolap.history import Filling, FillOptions, HistoryHeader, history_of
from zerolap.lab import Lab
from zerolap.store import Store

COUNTED = ("counted",)


@dataclass(frozen=True)
class CommitShares:
    """How the commits of a range are counted, and where their shares are written."""

    cases: options.CaseOptions
    servers: options.ServerOptions
    measuring: options.MeasuringOptions
    reports: options.Reports
    lab_options: options.LabOptions
    command_line: str

    def shown(self, base: str, head: str | None, fail_on: options.FailOn) -> int:
        """Count the commits that are not counted yet, write the share of each, and return the exit code.

        The range is BASE to HEAD, or the base is a range and what follows are names of cases.
        """
        require_gate_of_range(fail_on)
        names = self.cases.cases or []
        text, names = (base, [*filter(None, [head]), *names]) if ".." in base else (f"{base}..{head or ''}", names)
        servers = self.servers
        of_range = options.RangeOptions(repo=servers.repo or Path(), config=servers.config, variant=servers.variant)
        asked = of_range.asked(self.cases.selected(names), text)
        with Store.open(self.lab_options.store) as results:
            with self.lab_options.lab(results, self.measuring, quiet=self.reports.quiet) as lab:
                wanted = FillOptions(COUNTED, self.measuring.budget_seconds, self.command_line)
                filled = Filling(asked, wanted, lab).fill()
            notes = ("the budget is used up: the same command goes on",) if filled.is_over_budget else ()
            document = history_of(asked, Lab(results), HistoryHeader(self.command_line, filled.machine_seconds, notes))
            write_shares(document, self.reports)
        # Only work is counted; what others have timed of the range is no answer to this command.
        counted = [series for series in document.series if series.engine in COUNTED]
        of_work = document.model_copy(update={"series": tuple(counted)})
        code = filling_exit_code(of_work, COUNTED, filled)
        return code or history_exit_code(of_work, [case.name for case in asked.cases], fail_on)
