"""`zerolap history ack` and `zerolap history report`: what a team accepts, and what is open."""

from typing import TYPE_CHECKING, Annotated

import typer

from zerolap import writer
from zerolap.cli import options
from zerolap.cli.option_groups import Only
from zerolap.errors import UsageError

if TYPE_CHECKING:
    from zerolap.store import Store

ACK_HELP = """Accept a change: its commit, case and metric belong to no open regression any more.

CHANGE is the id of a change as the history shows it, COMMIT:CASE:METRIC, or a part of it: COMMIT alone accepts all \
that the commit changed, COMMIT:CASE all metrics of the case. The ledger of small changes begins anew there.

Examples:

    zerolap history ack 4f8cdc2a1ea5:get-100B:instructions_per_op --repo ~/redis --reason 'bounds check, CVE fix'
    zerolap history ack 4f8cdc2a1ea5 --repo ~/redis --reason 'new encoding, agreed on'
    zerolap history ack 4f8cdc2a1ea5 --repo ~/redis --withdraw
"""
REPORT_HELP = """List the regressions and drifts that are open: not accepted, and not made good since.

Examples:

    zerolap history report --repo ~/redis
    zerolap history report --repo ~/redis --range HEAD~60..HEAD --json - --fail-on regression
"""

CHANGE_PARTS = 3


def ack(
    change: Annotated[str, typer.Argument(metavar="CHANGE", help="COMMIT[:CASE[:METRIC]]", show_default=False)],
    *,
    commits: Annotated[options.RangeOptions, Only("repo")],
    reason: Annotated[str, typer.Option(help="Why the change is accepted.", metavar="TEXT")] = "",
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Open an accepted change again.")] = False,
    store: options.StoreLocation = None,
) -> None:
    """Record or withdraw an accepted change."""
    from zerolap.build import required_commit
    from zerolap.history import TIME, WORK
    from zerolap.store import AcceptedChange, Store

    name, *rest = change.split(":", CHANGE_PARTS - 1)
    commit = required_commit(commits.repo, name)
    if not withdraw and not reason.strip():
        raise UsageError("an accepted change needs a reason", hint="--reason 'why it is accepted'")
    case, metric = (*rest, "", "")[:2]
    if metric and metric not in (*WORK, *TIME):
        raise UsageError(f"a history does not follow `{metric}`", hint=f"metrics are {', '.join([*WORK, *TIME])}")
    accepted = AcceptedChange(str(commits.repo.resolve()), commit, reason.strip(), case, metric)
    with Store.open(store) as results:
        if not withdraw:
            if case:
                _require_known(case, results)
            is_known = results.history.accept(accepted)
            writer.show(f"accepted: {change}")
            if not is_known:
                writer.note("note: no history that was shown here has this change; one that will is accepted")
            return
        if not results.history.withdraw(accepted):
            raise UsageError(f"`{change}` is not accepted", hint="withdraw it as it was accepted, by the same parts")
        writer.show(f"open again: {change}")


def _require_known(case: str, results: "Store") -> None:
    """Raise `UsageError` for a case that is neither measured nor in the core suite: its name is misspelt."""
    from difflib import get_close_matches

    from zerolap.cases import core_suite

    known = results.history.cases() | {each.name for each in core_suite()}
    if case not in known:
        near = get_close_matches(case, sorted(known), n=1)
        hint = f"did you mean `{near[0]}`?" if near else "CHANGE is COMMIT[:CASE[:METRIC]], as the history shows it"
        raise UsageError(f"no case `{case}` is measured", hint)


def report(
    context: typer.Context,
    *,
    cases: options.CaseOptions,
    commits: options.RangeOptions,
    reports: Annotated[options.Reports, Only("json", "markdown", "csv", "quiet")],
    fail_on: options.FailWhen = "never",
    store: options.StoreLocation = None,
) -> None:
    """Write what is open."""
    from zerolap.cli.exit_code import history_exit_code
    from zerolap.cli.option_values import require_gate_of_range
    from zerolap.cli.output import write_history
    from zerolap.cli.repeated_command import command_line
    from zerolap.history import HistoryHeader, history_of, open_changes
    from zerolap.lab import Lab
    from zerolap.store import Store

    require_gate_of_range(fail_on)
    asked = commits.asked(cases.selected())
    with Store.open_known(store) as results:
        asked = commits.known(asked, results)
        document = history_of(asked, Lab(results), HistoryHeader(command_line(context)))
        write_history(open_changes(document), reports, nothing="nothing is open")
    raise typer.Exit(history_exit_code(document, [case.name for case in asked.cases], fail_on))
