"""A request carried out from its beginning, or from where it was interrupted, to its document."""

from dataclasses import asdict

from zerolap.engines import TRIAL_PREFIX
from zerolap.host import fingerprint
from zerolap.judge import case_answers
from zerolap.lab.comparison import add_to_bank, comparison_of, read_bank, unfinished_comparison
from zerolap.lab.loop import Loop
from zerolap.lab.planner import Planner
from zerolap.lab.requests import Lab, Question, request_of
from zerolap.lab.results import Results
from zerolap.lab.run import run_of
from zerolap.records import (
    CaseResult,
    Comparison,
    Interrupted,
    Note,
    Request,
    RequestState,
    RunReport,
    UsageError,
    ZerolapError,
)
from zerolap.sandbox import remove_abandoned
from zerolap.store import RequestBusy, Store


def compare(question: Question, lab: Lab) -> Comparison:
    """Build both servers, measure all cases and return the verdicts with their reasons; all of it is stored too.

    A comparison of the same that was not finished is continued. Raises `EnvironmentMissing`, `BuildFailed`, or
    `Interrupted` once the user stops it; what was measured is kept.
    """
    document = _work_on(_begun(question, lab), lab)
    assert isinstance(document, Comparison)
    return document


def run(question: Question, lab: Lab) -> RunReport:
    """Build the server, measure all cases and return the report; all of it is stored too. Raises as `compare` does."""
    document = _work_on(_begun(question, lab), lab)
    assert isinstance(document, RunReport)
    return document


def resume(identity: str, lab: Lab) -> Comparison | RunReport:
    """Continue a comparison or run that was interrupted; nothing is measured twice.

    Raises `UsageError` for one that is done, that another process works on, or that was begun on another machine.
    """
    request = lab.store.request(identity)
    here = fingerprint()
    if request.platform.fingerprint != here.fingerprint:
        raise UsageError(
            f"{request.id} was begun on another machine, `{request.platform.name}`: a result is of one machine",
            hint="resume it there, or ask for the same anew here",
        )
    if lab.store.state(request.id) == "done":
        raise UsageError(f"{request.id} is done", hint=f"zerolap explain {request.id}")
    return _work_on(request, lab)


def read_comparison(store: Store, identity: str) -> Comparison:
    """Return a stored comparison; of one that is not finished, what was recorded so far. Raises `UsageError`."""
    comparison = _with_answers(store.comparison(identity))
    if comparison.state != "running":
        return comparison
    try:
        request = store.request(comparison.id)
    except UsageError:
        # It was recorded by a version that kept no requests.
        return comparison
    return unfinished_comparison(recorded_results(request, store), store, comparison.state)


def read_run(store: Store, identity: str) -> RunReport:
    """Return a stored run; of one that is not finished, what was recorded so far. Raises `UsageError`."""
    report = store.run(identity)
    try:
        request = store.request(report.id)
    except UsageError:
        return report
    if store.state(request.id) != "running":
        return report
    return run_of(recorded_results(request, store), store).model_copy(update={"notes": report.notes})


def _with_answers(comparison: Comparison) -> Comparison:
    """Return a comparison whose cases have work and time; versions before recorded the verdict alone, which stays."""
    return comparison.model_copy(update={"cases": [_with_answers_of_case(case) for case in comparison.cases]})


def _with_answers_of_case(case: CaseResult) -> CaseResult:
    if "work" in case.model_fields_set:
        return case
    answers = case_answers(case.verdicts, case.validity)
    kept = asdict(answers)
    del kept["verdict"], kept["confirmed"]
    if case.deciding is not None:
        del kept["deciding"]
    return case.model_copy(update=kept)


def _begun(question: Question, lab: Lab) -> Request:
    """Return the request that a question comes to: an unfinished one of the same, or a new one."""
    request = request_of(question, lab)
    for identity in lab.store.unfinished(request.digest):
        try:
            with lab.store.claim(identity):
                pass
        except RequestBusy:
            continue
        trials = sum(len(recorded.events) > 0 for recorded in lab.store.jobs(identity))
        lab.listen(Note(text=f"continuing {identity}, which was not finished; {trials} jobs are recorded"))
        return lab.store.request(identity)
    lab.store.begin(request)
    return request


def recorded_results(request: Request, store: Store) -> Results:
    """Return the results of a request that the store holds, except for its builds."""
    results = Results(request, store.blobs)
    for recorded in store.jobs(request.id):
        for event in recorded.events:
            results.add(recorded.job, event)
    return results


def _work_on(request: Request, lab: Lab) -> Comparison | RunReport:
    store = lab.store
    with store.claim(request.id):
        store.end(request.id, "running")
        results = recorded_results(request, store)
        for server in request.servers.values():
            built = lab.builds.find(server.spec.digest)
            if built is not None:
                results.builds[server.spec.digest] = built.record
        remove_abandoned(TRIAL_PREFIX)
        planner = begin_measuring(results, lab)
        try:
            Loop(planner, lab.worker, lab.place, store, lab.listen).run(results)
        except (KeyboardInterrupt, Interrupted):
            stopped = _ended(results, lab, "interrupted")
            raise Interrupted(
                f"interrupted after {len(stopped.cases)} of {len(request.cases)} cases; what was measured is kept",
                hint=f"zerolap resume {request.id} goes on; zerolap explain {request.id} shows what there is",
            ) from None
        except (ZerolapError, OSError):
            _ended(results, lab, "failed")
            raise
        return conclude(results, lab)


def begin_measuring(results: Results, lab: Lab) -> Planner:
    """Record the document of a request whose builds are made, and return its planner."""
    bank = read_bank(lab.store, results.request.platform.fingerprint)
    _keep(_document(results, lab, "running", reasons=False), lab.store, "running")
    return Planner(results.request, bank)


def conclude(results: Results, lab: Lab) -> Comparison | RunReport:
    """Judge and explain a request of which everything is measured, and record it as done."""
    if results.request.kind == "compare":
        add_to_bank(results, lab.store)
    return _ended(results, lab, "done")


def interrupt(results: Results, lab: Lab, state: RequestState) -> None:
    """Record what there is of a request that ends early, without reasons."""
    _keep(_document(results, lab, state, reasons=False), lab.store, state)
    lab.store.end(results.request.id, state)


def _ended(results: Results, lab: Lab, state: RequestState) -> Comparison | RunReport:
    document = _document(results, lab, state, reasons=True)
    _keep(document, lab.store, state)
    lab.store.end(results.request.id, state)
    return document


def _document(results: Results, lab: Lab, state: RequestState, *, reasons: bool) -> Comparison | RunReport:
    if results.request.kind == "run":
        return run_of(results, lab.store)
    if reasons:
        return comparison_of(results, lab, state)
    return unfinished_comparison(results, lab.store, state)


def _keep(document: Comparison | RunReport, store: Store, state: RequestState) -> None:
    if isinstance(document, Comparison):
        store.record_comparison(document)
    else:
        store.record_run(document, state)
