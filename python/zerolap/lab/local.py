"""Requests carried out on this machine: from their beginning, or from where they were interrupted."""

from collections.abc import Callable

from zerolap.build import Builder
from zerolap.engines import LOADED, missing_for_sampling
from zerolap.host import fingerprint, tracing_obstacle
from zerolap.lab.execution import Document, Execution
from zerolap.lab.lab import Lab
from zerolap.lab.loop import Loop
from zerolap.lab.platforms import LocalPlatform, sandbox_notes
from zerolap.lab.quiet import wait_for_quiet
from zerolap.lab.requests import packed
from zerolap.load.tools import load_tool_named
from zerolap.records import (
    TRACED,
    Build,
    CheckReport,
    Comparison,
    EmulatedSnapshotReport,
    EnvironmentMissing,
    Note,
    Request,
    ResolvedServer,
    RunReport,
    SnapshotReport,
    SweepReport,
    UsageError,
)
from zerolap.store import RequestBusy


def compare(request: Request, lab: Lab) -> Comparison:
    """Build both servers, measure all cases and return the verdicts with their reasons; all of it is stored too.

    A comparison of the same that was not finished is continued. Raises `EnvironmentMissing`, `BuildFailed`, or
    `Interrupted` once the user stops it; what was built and measured is kept.
    """
    document = _begun(request, lab)
    assert isinstance(document, Comparison)
    return document


def run(request: Request, lab: Lab) -> RunReport:
    """Build the server, measure all cases and return the report; all of it is stored too. Raises as `compare` does."""
    document = _begun(request, lab)
    assert isinstance(document, RunReport)
    return document


def snapshot(request: Request, lab: Lab) -> SweepReport:
    """Build the servers, measure at all sizes and return the report; all of it is stored too.

    A size at which a server fails is reported as such, and the others go on. Raises as `compare` does, and
    `TrialFailed` if no size could be measured.
    """
    document = _begun(request, lab)
    assert isinstance(document, SnapshotReport | EmulatedSnapshotReport)
    return document


def check(request: Request, lab: Lab) -> CheckReport:
    """Run each case for a moment and return what is wrong with it; what was seen is stored. Raises as `compare` does.

    A case whose trial fails is faulty, and the others go on.
    """
    document = _begun(request, lab)
    assert isinstance(document, CheckReport)
    return document


def resume(identity: str, lab: Lab) -> Document:
    """Continue a comparison, run, sweep or check that was interrupted; nothing is measured twice.

    `latest` is the newest that was interrupted or killed. Raises `UsageError` if there is none, for one that is done,
    that another process works on, or that was begun on another machine.
    """
    if identity == "latest":
        latest = lab.store.latest_interrupted()
        if latest is None:
            raise UsageError("nothing was interrupted", hint="zerolap explain lists what there is")
        identity = latest
    recorded = lab.store.request(identity)
    request, resolved = recorded.request, lab.store.resolved(recorded.request.id)
    if request.platform:
        raise UsageError(
            f"{request.id} was asked of the fleet's platform {request.platform}",
            hint=f"zerolap fleet retry {request.id}",
        )
    here = fingerprint()
    if resolved is not None and resolved.platform.fingerprint != here.fingerprint:
        raise UsageError(
            f"{request.id} was begun on another machine, `{resolved.platform.name}`: a result is of one machine",
            hint="resume it there, or ask for the same anew here",
        )
    if recorded.state == "done":
        raise UsageError(f"{request.id} is done", hint=f"zerolap explain {request.id}")
    _require_instruments(request, lab)
    with lab.store.claim(request.id):
        return _carried_out(request, lab)


def run_unless(is_known: Callable[[Build], bool], request: Request, lab: Lab) -> RunReport | None:
    """Build the server of a run, and measure it unless its build is known; raises as `compare` does.

    Of a known build only the relation to its commit is recorded.
    """
    document = _begun(request, lab, is_known)
    assert document is None or isinstance(document, RunReport)
    return document


def _begun(request: Request, lab: Lab, is_known: Callable[[Build], bool] | None = None) -> Document | None:
    """Carry out a request, or go on with an unfinished one of the same; none where all its builds are known."""
    _require_instruments(request, lab)
    for note in [*sandbox_notes(), *request.notes]:
        lab.listen(Note(text=note))
    with lab.cancellation.current():
        request = packed(request, lab.store.blobs, Builder(lab.store.builds_directory, policy=lab.sandbox))
    lab.store.submit([request])
    with lab.store.claim(request.id):
        loop = _loop(request, lab)
        resolved = loop.build()
        if is_known is not None and all(_is_known(server, is_known, lab) for server in resolved.servers.values()):
            lab.store.discard(request.id)
            return None
        unfinished = _unfinished(resolved.digest, request, lab)
        if unfinished is None:
            return _measured(loop, request, lab)
        lab.store.discard(request.id)
    with lab.store.claim(unfinished.id):
        return _carried_out(unfinished, lab)


def _is_known(server: ResolvedServer, is_known: Callable[[Build], bool], lab: Lab) -> bool:
    build = lab.builds.get(server.spec.digest).record
    lab.store.record_build(build, server.source)
    return is_known(build)


def _carried_out(request: Request, lab: Lab) -> Document:
    loop = _loop(request, lab)
    loop.build()
    return _measured(loop, request, lab)


def _measured(loop: Loop, request: Request, lab: Lab) -> Document:
    """Carry out the trials, once the machine is quiet where cases are to be timed."""
    # A request that is resumed may find the machine in another state than the one in which it was begun.
    lab.store.record_platform(fingerprint())
    if request.settings.asks_for_time:
        with loop.recorded_end():
            wait_for_quiet(lab.wait_seconds, lab.listen, lab.cancellation)
    return loop.measure()


def _loop(request: Request, lab: Lab) -> Loop:
    return Loop(Execution(request, lab, LocalPlatform(lab)), lab)


def _unfinished(digest: str, new: Request, lab: Lab) -> Request | None:
    """Return an unfinished request of the same, but for the new one, on which no other process works.

    It keeps its seed, which must be that of the new request only where that was chosen.
    """
    for identity in lab.store.unfinished(digest):
        if identity == new.id:
            continue
        recorded = lab.store.request(identity).request
        if not new.is_seed_drawn and recorded.settings.seed != new.settings.seed:
            continue
        try:
            with lab.store.claim(identity):
                pass
        except RequestBusy:
            continue
        trials = sum(len(recorded.events) > 0 for recorded in lab.store.jobs(identity))
        lab.listen(Note(text=f"continuing {identity}, which was not finished; {trials} jobs are recorded"))
        return recorded
    return None


def _require_instruments(request: Request, lab: Lab) -> None:
    """Raise `EnvironmentMissing` if one of the engines, or the load tool of one, cannot be used here.

    Raises `UsageError` or `PluginFault` where there is none of that name.
    """
    settings = request.settings
    for name in settings.engines:
        missing = lab.worker.engine(name).missing()
        if missing is not None:
            raise EnvironmentMissing(f"the engine `{name}` cannot be used: {missing}", hint=_remedy(name))
    if LOADED in settings.engines:
        missing = load_tool_named(settings.load_tool).missing()
        if missing is not None:
            raise EnvironmentMissing(f"the load tool `{settings.load_tool}` cannot be used: {missing}")


def _remedy(engine: str) -> str:
    """Return what to do so that an engine of the lab can be used."""
    if engine == "counted":
        return "apt-get install valgrind"
    if engine == TRACED:
        obstacle = tracing_obstacle()
        return "" if obstacle is None else obstacle.remedy
    unsampled = missing_for_sampling() if engine == "sampled" else None
    return "" if unsampled is None else unsampled.remedy
