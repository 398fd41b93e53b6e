"""How predictions compare with the savings of known edits: the figures, their words, and what the documents state."""

from pathlib import Path

import pytest

from benches.explain.calibrating import PARAGRAPH, TABLE, paragraph, table
from zerolap.explain import BUILT_IN_DETECTORS, BUILT_IN_GROUP_DETECTORS, Detector, GroupDetector, calibration_of
from zerolap.opportunities.version_opportunities import known_edits
from zerolap.records import Calibration, KnownEdit
from zerolap.sheets import calibration_text

DOCUMENTS = Path(__file__).parents[1] / "docs"
DETECTORS = (*BUILT_IN_DETECTORS, *BUILT_IN_GROUP_DETECTORS)


def an_edit(detector: str, predicted: float, measured: float, *, is_counted: bool = True) -> KnownEdit:
    return KnownEdit(
        detector=detector,
        name="GET does something twice",
        version="Redis 7.0.15",
        predicted=predicted,
        measured=measured,
        is_counted=is_counted,
    )


EDITS = (
    an_edit("mathematics", 0.1, 0.15),
    an_edit("atomics", 0.001, 0.0, is_counted=False),
    an_edit("mathematics", 0.2, 0.1),
    an_edit("mathematics", 0.0, 0.3, is_counted=False),
)


def test_ratios_are_those_of_the_detectors_own_edits_that_are_counted() -> None:
    calibration = calibration_of("mathematics", EDITS)
    assert (calibration.edits, calibration.uncounted_edits) == (2, 1)
    assert (calibration.smallest_ratio, calibration.largest_ratio) == (pytest.approx(0.5), pytest.approx(1.5))
    assert calibration_of("atomics", EDITS) == Calibration(uncounted_edits=1)
    assert calibration_of("of-a-plugin", EDITS) == Calibration()


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        (EDITS, "2 known edits saved 0.50 to 1.50 times what it predicted"),
        (EDITS[:1], "1 known edit saved 1.50 times what it predicted"),
        (EDITS[3:], "1 known edit: what is saved is mostly not counted, and tests no prediction"),
        ((), "no known edit tests what it predicts"),
    ],
)
def test_words(edits: tuple[KnownEdit, ...], words: str) -> None:
    assert calibration_text(calibration_of("mathematics", edits)) == words


def test_all_known_edits_are_of_detectors_of_the_package() -> None:
    assert {edit.detector for edit in known_edits()} <= {detector.name for detector in DETECTORS}


def test_the_table_of_known_edits_has_the_figures_of_the_package() -> None:
    assert TABLE.findall((DOCUMENTS / "opportunities.md").read_text()) == [table(known_edits())]


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda detector: detector.name)
def test_the_page_of_a_detector_states_how_far_its_predictions_were_right(detector: Detector | GroupDetector) -> None:
    page = (DOCUMENTS / "detectors" / f"{detector.name}.md").read_text()
    assert PARAGRAPH.findall(page) == [paragraph(detector.name, known_edits())]
