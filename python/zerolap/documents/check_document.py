"""Checks as documents: of each case that was examined its faults, from what its trial has recorded."""

from zerolap.documents.case_trials import Trials
from zerolap.documents.results import Results
from zerolap.documents.stored_documents import results_with_builds
from zerolap.judge import faults_of
from zerolap.records import (
    HEAD,
    Case,
    CaseFacts,
    CheckedCase,
    CheckReport,
    Fault,
    MeasuredServer,
    UnreadableRecord,
    UsageError,
    read_stored,
)
from zerolap.store import BlobDamaged, Store


def check_of(results: Results) -> CheckReport:
    """Return the document of the cases that were examined so far; one whose record cannot be read has failed."""
    resolved = results.resolved
    asked = {case.name: case for case in resolved.request.cases}
    server = resolved.servers[HEAD]
    checked = (_checked(case, asked[case.name], results) for case in resolved.cases)
    return CheckReport(
        id=resolved.id,
        schema="zerolap.check/1",
        created=resolved.request.created,
        command_line=resolved.request.command_line,
        server=MeasuredServer.of(results.builds[server.spec.digest], server.source, dict(server.config)),
        platform=resolved.platform,
        cases=[case for case in checked if case is not None],
        skipped=list(resolved.skipped),
    )


def read_check(store: Store, identity: str) -> CheckReport:
    """Return the check of that id; of one that is not done, the cases that were examined. Raises `ZerolapError`."""
    request = store.request(identity).request
    results = results_with_builds(request.id, store) if request.kind == "check" else None
    if results is None:
        raise UsageError(f"nothing of a check {request.id} is recorded yet", hint="zerolap explain lists what there is")
    return check_of(results)


def _checked(case: Case, asked: Case, results: Results) -> CheckedCase | None:
    """Return a case with its faults, none before it was examined; `asked` is the case as it was not scaled down."""
    trials = results.of_case(case).other.get("checked")
    if trials is None or not trials.has_begun:
        return None
    notes = [*case.warnings, *case.limits]
    if trials.failure is not None or trials.refusal is not None:
        text = trials.refusal or "" if trials.failure is None else trials.failure.message
        fault = Fault(kind="failed", text=text)
        return CheckedCase(case=case.name, group=case.group, faults=[fault], warnings=notes)
    if not trials.all:
        return None
    try:
        checked, facts = _examined(trials, results)
    except (UnreadableRecord, BlobDamaged) as unreadable:
        fault = Fault(kind="failed", text=f"what was recorded cannot be read: {unreadable.message}")
        return CheckedCase(case=case.name, group=case.group, faults=[fault], warnings=notes)
    whole = {
        "factor": asked.quick_factor if facts.has_dataset else 1.0,
        "requests": asked.client.requests,
        "key_range": asked.client.keys.count if asked.is_public else None,
    }
    facts = facts.model_copy(update=whole)
    return checked.model_copy(
        update={"facts": facts, "faults": faults_of(facts), "warnings": [*notes, *checked.warnings]}
    )


def _examined(trials: Trials, results: Results) -> tuple[CheckedCase, CaseFacts]:
    """Return what the trial of a case recorded; raises `BlobDamaged`, `UnreadableRecord`: an agent may have sent it."""
    name = f"a trial of {results.resolved.id}"
    content = results.blobs.get(trials.all[0].record or "").decode(errors="replace")
    checked = read_stored(CheckedCase, content, name)
    if checked.facts is None:
        raise UnreadableRecord(f"{name} has no facts")
    return checked, checked.facts
