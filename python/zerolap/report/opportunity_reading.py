"""How the opportunities of a version are read: the headline, what each brings, and where it lies."""

from zerolap.records import Calibration, Opportunities, Opportunity, OpportunityCase
from zerolap.sheets import COMMIT_DIGITS, counted, listing, one_line, rough_percent, share, weighting

SHOWN_LINES = 4
"""Lines of source code that a sentence names."""
SMALL = 0.005
"""The part from which on one decimal of a percentage is enough."""
MUCH = 0.9
"""What has to be left of a saving for it not to be worth a word that others share it."""


def opportunities_headline(document: Opportunities) -> str:
    """Write what all opportunities together would save."""
    refuted = sum(opportunity.is_refuted for opportunity in document.opportunities)
    number, cases = len(document.opportunities) - refuted, counted(len(document.cases), "case", "cases")
    besides = f"; {counted(refuted, 'more is', 'more are')} refuted by arguments" if refuted else ""
    if number == 0:
        return f"nothing detected to optimise in {cases}{besides}"
    places = counted(number, "opportunity", "opportunities")
    together = f"{share(document.saved_share)} of the work of a request ({weighting(document.weights)})"
    return f"{places} in {cases}: together {together}{besides}"


def server_line(document: Opportunities) -> str:
    """Write which server it is, and where it was counted."""
    server = document.server
    commit = f" at {one_line(server.commit)[:COMMIT_DIGITS]}" if server.commit else ""
    version = f" {one_line(server.version)}" if server.version else ""
    results = document.results[0] if len(document.results) == 1 else counted(len(document.results), "result", "results")
    return f"{one_line(server.name)}{commit}{version}, counted in {results} on {one_line(document.platform.name)}"


def saving(opportunity: Opportunity) -> str:
    """Write what an opportunity would save over all cases, with its bounds."""
    saved = opportunity.saved_share
    decimals = 1 if saved.high >= SMALL else 2
    low, expected, high = (f"{part * 100:.{decimals}f}" for part in (saved.low, saved.expected, saved.high))
    return f"{expected} % ({low} to {high} %)"


def shared_part(opportunity: Opportunity) -> str:
    """Write what is left of an opportunity after those before it, where that is less; else nothing."""
    if opportunity.additional_share >= MUCH * opportunity.saved_share.expected:
        return ""
    return f"saves {rough_percent(opportunity.additional_share)} once those above are done, which share code with it"


def of_cases(opportunity: Opportunity, document: Opportunities) -> str:
    """Write in how many cases it shows, and what it would bring where it brings most."""
    most = opportunity.cases[0]
    number = f"in {len(opportunity.cases):,} of {counted(len(document.cases), 'case', 'cases')}"
    where = "" if len(opportunity.cases) == 1 else "most in "
    return f"{number}, {where}{one_line(most.case)}: {throughput(most)}"


def throughput(case: OpportunityCase) -> str:
    """Write what a case would save, and by how much it would get faster as far as instructions decide that."""
    return f"{_saved_work(case)}, up to +{rough_percent(case.gain.expected)} throughput"


def _saved_work(case: OpportunityCase) -> str:
    saved, uncounted = case.saved_instructions_per_op.expected, case.uncounted_instructions_per_op.expected
    # What counted trials would show of the change is the counted part alone.
    counted = rough_percent((saved - uncounted) / case.instructions_per_op)
    if uncounted <= 0:
        return f"{counted} fewer instructions"
    return f"{rough_percent(case.saved_share.expected)} less work, {counted} fewer counted instructions"


def kind(opportunity: Opportunity) -> str:
    """Write which detector reports it, how sure that is, and how far its predictions were right."""
    return f"{one_line(opportunity.detector)}, {confidence(opportunity)}; {calibration_text(opportunity.calibration)}"


def confidence(opportunity: Opportunity) -> str:
    """Write how sure an opportunity is."""
    return "refuted by arguments" if opportunity.is_refuted else f"{opportunity.confidence} confidence"


def calibration_text(calibration: Calibration) -> str:
    """Write how the savings of known edits compare with what "it", a detector, predicted."""
    smallest, largest = calibration.smallest_ratio, calibration.largest_ratio
    if smallest is not None and largest is not None:
        bounds = list(dict.fromkeys(f"{ratio:.2f}" for ratio in (smallest, largest)))
        return f"{_edits(calibration.edits)} saved {' to '.join(bounds)} times what it predicted"
    if calibration.uncounted_edits:
        return f"{_edits(calibration.uncounted_edits)}: what is saved is mostly not counted, and tests no prediction"
    return "no known edit tests what it predicts"


def _edits(number: int) -> str:
    return counted(number, "known edit", "known edits")


def way(case: OpportunityCase) -> str:
    """Write the functions from the command down to the place."""
    return " > ".join(map(one_line, case.frames))


def lines_of(case: OpportunityCase) -> str:
    """Write the lines of source code that it is about, as FILE:LINE."""
    lines = [one_line(line) for line in case.lines]
    more = f" and {len(lines) - SHOWN_LINES} more" if len(lines) > SHOWN_LINES else ""
    return f"{listing(lines[:SHOWN_LINES])}{more}"
