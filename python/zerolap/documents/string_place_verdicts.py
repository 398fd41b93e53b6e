"""Comparisons whose instructions differ by other places of strings: no change of the work."""

from collections.abc import Sequence
from typing import Final

from zerolap.documents.case_trials import Trials
from zerolap.documents.side_profiles import graph_kind, merged_graph
from zerolap.judge import SMALLEST_CHANGE, difference_by_string_places, is_by_string_places
from zerolap.records import BASE, CHANGED, HEAD, METRICS, OF_INSTRUCTIONS, Finding, Verdict
from zerolap.store import BlobDamaged, Blobs

JUDGED: Final = (*CHANGED, "unsure")


def without_string_places(verdicts: Sequence[Verdict], counted: Trials, blobs: Blobs) -> list[Verdict]:
    """Return verdicts; that on instructions is `same` where the places of strings account for its change.

    Its figures stay as they were counted.
    """
    return [
        verdict.model_copy(update={"verdict": "same", "q": None})
        if verdict.verdict in JUDGED and _is_by_places(verdict, _by_places(verdict, counted, blobs))
        else verdict
        for verdict in verdicts
    ]


def string_place_findings(verdicts: Sequence[Verdict], counted: Trials, blobs: Blobs) -> list[Finding]:
    """Return a finding for each verdict that is `same`, at a certain change for which the places of strings account.

    Also within the minimum effect: a change of the instructions needs its reason, however small it is.
    """
    return [
        _finding(verdict, by_places)
        for verdict in verdicts
        if verdict.verdict == "same" and (verdict.low > SMALLEST_CHANGE or verdict.high < -SMALLEST_CHANGE)
        for by_places in [_by_places(verdict, counted, blobs)]
        if is_by_string_places(verdict.change, by_places, verdict.min_effect)
    ]


def _is_by_places(verdict: Verdict, by_places: float) -> bool:
    """Whether the whole interval lies within the minimum effect without what the places of strings account for."""
    if not by_places or not is_by_string_places(verdict.change, by_places, verdict.min_effect):
        return False
    return max(abs(bound - by_places) for bound in (verdict.low, verdict.high)) < verdict.min_effect


def _by_places(verdict: Verdict, counted: Trials, blobs: Blobs) -> float:
    """Return what the places of strings account for, as a part of the base; 0 where that is not known."""
    kind = graph_kind(verdict.metric)
    measured = [counted.measurements[side] for side in (BASE, HEAD)]
    has_graphs = all(any(getattr(trial, kind) for trial in side) for side in measured)
    if verdict.metric not in OF_INSTRUCTIONS or not has_graphs or verdict.base <= 0.0:
        return 0.0
    try:
        base, head = (merged_graph(side, blobs, kind) for side in measured)
    except (BlobDamaged, ValueError, OSError):
        # The verdict stands then; the reasons for it state what is damaged.
        return 0.0
    return difference_by_string_places(base, head) / verdict.base


def _finding(verdict: Verdict, by_places: float) -> Finding:
    text = (
        f"{METRICS[verdict.metric].label.capitalize()} {verdict.change:+.2%}, of which {by_places:+.2%} are functions "
        "of the C library for strings that are called as often as before. Which path they take depends on where "
        "strings lie in their pages, and any new constant of a program moves them: this is no change of the work."
    )
    return Finding(kind="cause", rank=0, text=text)
