"""How far a detector's predictions were right: for edits of which it is known what they save."""

from collections.abc import Iterable

from zerolap.records import Calibration, KnownEdit


def calibration_of(detector: str, edits: Iterable[KnownEdit]) -> Calibration:
    """Return how the savings of a detector's known edits compare with what it predicted."""
    of_detector = [edit for edit in edits if edit.detector == detector]
    ratios = [edit.measured / edit.predicted for edit in of_detector if edit.is_counted]
    return Calibration(
        edits=len(ratios),
        smallest_ratio=min(ratios, default=None),
        largest_ratio=max(ratios, default=None),
        uncounted_edits=len(of_detector) - len(ratios),
    )
