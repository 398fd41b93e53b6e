"""Two servers in, verdicts and reasons out."""

from collections.abc import Mapping
from dataclasses import replace

from zerolap.documents.changed_functions import ExecutedChange, changed_functions
from zerolap.documents.conclusions import CaseExplainer, conclude, spreads_of, start_ratios_of
from zerolap.documents.executed_code import ExecutedCases
from zerolap.documents.executed_files import changed_files, unexecuted_notes
from zerolap.documents.regime_results import differing_in_regimes, measured_regimes
from zerolap.documents.results import Results
from zerolap.documents.suite_changes import suite_changes
from zerolap.documents.traced_sides import traced_sides
from zerolap.documents.unmeasured import placement_notes, untimed_notes
from zerolap.judge import JUDGED_BY_STARTS, Bank, with_rules
from zerolap.records import (
    ANCHOR,
    BASE,
    HEAD,
    TRACED,
    CaseResult,
    ChangedFiles,
    Comparison,
    DocumentState,
    EnvironmentMissing,
    MeasuredServer,
    Resolved,
    Side,
    Summary,
)
from zerolap.store import BlobDamaged, Store


def comparison_of(results: Results, state: DocumentState, store: Store, explainer: CaseExplainer | None) -> Comparison:
    """Judge what was measured of a comparison; cases are in the order of the request. No explainer, no reasons."""
    resolved = results.resolved
    servers, anchor = described_servers(resolved, results, store), resolved.servers.get(ANCHOR)
    of_anchor = [] if anchor is None else [f"timed beside {anchor.source.name}, the anchor of their history"]
    bank = read_bank(store, resolved.platform.fingerprint)
    cases = [_with_traced(case, results, store) for case in conclude(results, bank, explainer)]
    regimes = measured_regimes(results, cases)
    # What changed in a regime no otherwise than the case itself is in the line on it.
    added = {case.name for case in results.in_regimes}
    shown = differing_in_regimes(results, cases)
    cases = [case for case in cases if case.case not in added or case.case in shown]
    words = [case.verdict for case in cases]
    files, code = _changed_code(results, explainer) if explainer is not None else (None, None)
    return Comparison(
        schema="zerolap.comparison/1",
        id=resolved.id,
        created=resolved.request.created,
        command_line=resolved.request.exact_command_line,
        state=state,
        base=servers[BASE],
        head=servers[HEAD],
        platform=resolved.platform,
        settings=with_rules(resolved.settings),
        summary=Summary(
            regression=words.count("regression"),
            improvement=words.count("improvement"),
            same=words.count("same"),
            unsure=words.count("unsure"),
            invalid=words.count("invalid"),
            machine_seconds=results.machine_seconds,
            memory_regression=sum(case.memory == "regression" for case in cases),
            memory_improvement=sum(case.memory == "improvement" for case in cases),
        ),
        notes=[
            *resolved.notes,
            *of_anchor,
            *(unexecuted_notes(files) if code is None else []),
            *placement_notes(results),
            *untimed_notes(results, state),
        ],
        changed_files=files,
        changed_functions=code.functions if code is not None else None,
        unmeasured=code.unexecuted if code is not None else None,
        suite=suite_changes(
            [case for case in cases if case.case not in added],
            resolved.settings,
            code.executed_by if code is not None else {},
            start_ratios_of(results, cases),
        ),
        regimes=regimes,
        cases=cases,
        skipped=list(resolved.skipped),
    )


def _changed_code(results: Results, explainer: CaseExplainer) -> tuple[ChangedFiles | None, ExecutedChange | None]:
    try:
        cases = ExecutedCases(results, explainer.code)
        files, code = changed_files(explainer.code, cases), changed_functions(explainer.code, cases)
    except (ValueError, OSError, BlobDamaged):
        # What was measured stands, though a call graph or the debug information cannot be read.
        return None, None
    if code is None or not code.unexecuted:
        return files, code
    measured = {case.name for case in results.resolved.cases}
    proposals = explainer.proposals(code.unexecuted)
    proposed = {
        "proposed_cases": [name for name in proposals.cases if name not in measured],
        "tested_commands": proposals.tested_commands,
    }
    return files, replace(code, functions=code.functions.model_copy(update=proposed))


def _with_traced(case: CaseResult, results: Results, store: Store) -> CaseResult:
    trials = results.other.get(TRACED, {}).get(case.case)
    traced = traced_sides(trials, store.blobs) if case.validity.valid else None
    return case if traced is None else case.model_copy(update={"traced": traced})


def read_bank(store: Store, platform: str) -> Bank:
    """Return how much starts differ on the platform with that fingerprint, by metric and circumstances."""
    circumstances = store.circumstances(platform)
    return {(metric, one): store.spreads(platform, metric, one) for metric in JUDGED_BY_STARTS for one in circumstances}


def add_to_bank(results: Results, store: Store) -> None:
    """Record how much starts differed."""
    for circumstances, spreads in spreads_of(results).items():
        store.record_spreads(results.resolved.id, spreads, circumstances)


def record_start_ratios(results: Results, comparison: Comparison, store: Store) -> None:
    """Record what each start says of the metrics on which a comparison has verdicts; its document is recorded."""
    store.record_start_ratios(comparison.id, start_ratios_of(results, comparison.cases))


def described_servers(resolved: Resolved, results: Results, store: Store) -> Mapping[Side, MeasuredServer]:
    """Return the servers of a request as documents describe them; raises `EnvironmentMissing` for a build unknown."""
    servers = {}
    for side, server in resolved.servers.items():
        build = results.builds.get(server.spec.digest) or store.build(server.spec.digest)
        if build is None:
            raise EnvironmentMissing(
                f"the store does not know the build {server.spec.digest} of `{server.source.name}`"
            )
        servers[side] = MeasuredServer.of(build, server.source, server.config)
    return servers
