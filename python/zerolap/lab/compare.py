"""Two servers in, verdicts and reasons out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from zerolap.build import DEFAULT, Builder, Source, Variant, changes_between
from zerolap.cases import Case
from zerolap.host import fingerprint
from zerolap.lab.bank import add_to_bank, read_bank
from zerolap.lab.conclusions import conclude, untimed_notes
from zerolap.lab.explaining import Explainer
from zerolap.lab.judging import Bank, undecided
from zerolap.lab.measuring import Measured, Work, measure
from zerolap.lab.progress import Progress
from zerolap.lab.session import builds_directory, case_notes, new_id, now, require_instruments, sandbox_note
from zerolap.lab.skipping import select_possible
from zerolap.lab.timing import DECIDING
from zerolap.lab.trials import CaseTrials, SideUnderTest
from zerolap.records import (
    Comparison,
    Interrupted,
    Settings,
    Side,
    Summary,
    ZerolapError,
)
from zerolap.sandbox import Cancellation, SandboxPolicy, current_cancellation
from zerolap.store import Store


@dataclass(frozen=True)
class CompareRequest:
    """What to compare: sources, each built in its variant; the settings are given to the servers when they start.

    With `all_stacks` every case is sampled, not only those that changed; `notes` belong to the result; `sandbox` is for
    code of repositories and trees.
    """

    base: Source
    head: Source
    cases: Sequence[Case]
    settings: Settings
    command_line: str
    base_settings: Mapping[str, str] = field(default_factory=dict)
    head_settings: Mapping[str, str] = field(default_factory=dict)
    base_variant: Variant = DEFAULT
    head_variant: Variant = DEFAULT
    all_stacks: bool = False
    notes: Sequence[str] = ()
    sandbox: SandboxPolicy = SandboxPolicy.REQUIRED


@dataclass(frozen=True)
class _Begun:
    """A comparison that has been begun: both sides are built, nothing is measured yet."""

    request: CompareRequest
    sides: Mapping[Side, SideUnderTest]
    comparison: Comparison
    bank: Bank
    store: Store


def compare(
    request: CompareRequest, store: Store, progress: Progress, cancellation: Cancellation | None = None
) -> Comparison:
    """Build both sides, measure all cases and return the verdicts with their reasons; all of it is stored too.

    Raises `EnvironmentMissing`, `BuildFailed`, or `Interrupted` once the user or `cancellation` stops it; what was
    measured is kept.
    """
    with (cancellation or Cancellation()).current():
        return _compare(request, store, progress)


def _compare(request: CompareRequest, store: Store, progress: Progress) -> Comparison:
    require_instruments(request.settings.engines)
    for note in [*sandbox_note(), *request.notes]:
        progress.note(note)
    sides = _build(request, store, progress)
    selection = select_possible(request.cases, sides, request.settings)
    request = replace(request, cases=selection.cases)
    comparison = _begin(request, sides).model_copy(update={"skipped": selection.skipped})
    store.begin(comparison)
    begun = _Begun(request, sides, comparison, read_bank(store, comparison.platform.fingerprint), store)
    measured = Measured()
    try:
        measure(_work(begun), store, progress, measured)
    except (KeyboardInterrupt, Interrupted):
        stopped = _conclude(begun, measured, "interrupted")
        raise Interrupted(
            f"interrupted after {len(stopped.cases)} of {len(request.cases)} cases; what was measured is kept",
            hint=f"zerolap explain {comparison.id}",
        ) from None
    except ZerolapError:
        _conclude(begun, measured, "failed")
        raise
    finally:
        progress.finished()
    add_to_bank(comparison, request.base_settings == request.head_settings, measured, store)
    return _conclude(begun, measured, "done")


def _work(begun: _Begun) -> Work:
    request = begun.request
    return Work(
        identity=begun.comparison.id,
        cases=request.cases,
        sides=begun.sides,
        settings=request.settings,
        enough=lambda found: not undecided(found, request.settings, len(request.cases)),
        on_counted=lambda trials: _record_case(trials, begun),
        worth_sampling=lambda measured: _worth_sampling(begun, measured),
        bank=begun.bank[DECIDING],
    )


def _build(request: CompareRequest, store: Store, progress: Progress) -> dict[Side, SideUnderTest]:
    builder = Builder(builds_directory(store), progress.building, request.sandbox)
    try:
        builder.check(request.base, request.base_variant)
        builder.check(request.head, request.head_variant)
        return {
            "base": SideUnderTest(builder.build(request.base, request.base_variant), request.base_settings),
            "head": SideUnderTest(builder.build(request.head, request.head_variant), request.head_settings),
        }
    except (KeyboardInterrupt, Interrupted):
        current_cancellation().cancel()
        raise Interrupted("interrupted while building; nothing was measured yet") from None
    except ZerolapError:
        progress.finished()
        raise


def _begin(request: CompareRequest, sides: Mapping[Side, SideUnderTest]) -> Comparison:
    return Comparison(
        schema="zerolap.comparison/1",
        id=new_id("c"),
        created=now(),
        command_line=request.command_line,
        state="running",
        base=sides["base"].record,
        head=sides["head"].record,
        platform=fingerprint(),
        settings=request.settings,
        summary=Summary(regression=0, improvement=0, same=0, unsure=0, invalid=0, machine_seconds=0.0),
        notes=[*sandbox_note(), *request.notes, *case_notes(request.cases, request.settings.engines)],
        cases=[],
    )


def _conclude(begun: _Begun, measured: Measured, state: str) -> Comparison:
    """Judge and explain what was measured, store it and return it; cases in the order of the request."""
    request, sides, store = begun.request, begun.sides, begun.store
    explainer = Explainer(
        sides["base"].server, sides["head"].server, changes_between(request.base, request.head), store.blobs
    )
    cases = conclude(measured, request.cases, request.settings, begun.bank, explainer)
    words = [case.verdict for case in cases]
    concluded = begun.comparison.model_copy(
        update={
            "state": state,
            "notes": [*begun.comparison.notes, *untimed_notes(measured)],
            "cases": cases,
            "summary": Summary(
                regression=words.count("regression"),
                improvement=words.count("improvement"),
                same=words.count("same"),
                unsure=words.count("unsure"),
                invalid=words.count("invalid"),
                machine_seconds=measured.seconds(),
            ),
        }
    )
    store.finish(concluded)
    return concluded


def _worth_sampling(begun: _Begun, measured: Measured) -> list[Case]:
    """Return the cases that changed, or all that are valid where stacks of all are asked for."""
    request = begun.request
    results = conclude(measured, request.cases, request.settings, begun.bank, None)
    changed = ("regression", "improvement")
    wanted = {one.case for one in results if one.verdict in changed or (request.all_stacks and one.validity.valid)}
    return [case for case in request.cases if case.name in wanted]


def _record_case(trials: CaseTrials, begun: _Begun) -> None:
    """Store a case as soon as it is counted: time, q and reasons come when all cases are measured."""
    counted = Measured(counted={trials.case.name: trials})
    for case in conclude(counted, [trials.case], begun.request.settings, {}, None):
        begun.store.record_case(begun.comparison.id, case)
