"""Coverage of a server's commands by cases: the server is started once and asked for its commands."""

from collections.abc import Sequence

from zerolap.build import Builder, parse_variant
from zerolap.cases import excused_commands
from zerolap.documents import CoverageInput, coverage_of, read_check
from zerolap.engines import TRIAL_PREFIX
from zerolap.lab.lab import Lab
from zerolap.records import Case, CheckReport, CoverageReport, MeasuredServer, RequestedServer, UsageError, now
from zerolap.sandbox import scratch_directory
from zerolap.server import known_commands, start
from zerolap.store import Store


def stored_proofs(identity: str, cases: Sequence[Case], store: Store) -> CheckReport:
    """Return a stored check, without the cases that have changed since.

    Raises `UsageError` if there is none of that id, or if it has none of the cases.
    """
    report = read_check(store, identity)
    asked = {case.name: _content(case) for case in store.request(identity).request.cases}
    same = {case.name for case in cases if asked.get(case.name) == _content(case)}
    kept = [checked for checked in report.cases if checked.case in same]
    if not kept:
        raise UsageError(f"the check {identity} has none of these cases", hint="check them: --measure")
    return report.model_copy(update={"cases": kept})


def _content(case: Case) -> Case:
    return case.model_copy(update={"file": "", "line": 0})


def coverage(
    server: RequestedServer, cases: Sequence[Case], checks: Sequence[CheckReport], lab: Lab, command_line: str
) -> CoverageReport:
    """Build the server unless it is there, ask it for its commands, and hold them against the cases and their checks.

    Raises `BuildFailed`, `EnvironmentMissing` or `UsageError` for a server that cannot be built, `TrialFailed` for one
    that does not start or does not list its commands.
    """
    builder = Builder(lab.store.builds_directory, policy=lab.sandbox)
    with lab.cancellation.current():
        built = builder.build(server.source, parse_variant(server.variant))
        with scratch_directory(TRIAL_PREFIX) as directory:
            place = directory / "server"
            place.mkdir()
            with start(built.program, server.config, place, log=directory / "server.log") as running:
                known = known_commands(running)
    for check in checks:
        if check.server.build == built.record.build:
            continue
        raise UsageError(
            f"the check {check.id} is of `{check.server.name}` {check.server.version}, another build than this one",
            hint="name its server by --server, or check the cases with this one: --measure",
        )
    held = CoverageInput(known, cases, excused_commands(), checks)
    return coverage_of(held, MeasuredServer.of(built.record, server.source, dict(server.config)), now(), command_line)
