"""What a comparison says of a case as a whole."""

from collections.abc import Sequence

from zerolap.records import CaseVerdict, Check, Measurement, Validity, Verdict

# The first of these that changed decides; instructions are what the others cost in the end.
DECIDING = ("instructions_per_op", "syscalls_per_op", "allocations_per_op")


def case_verdict(verdicts: Sequence[Verdict], validity: Validity) -> CaseVerdict:
    """Return the case's verdict from those on its metrics."""
    if not validity.valid or not verdicts:
        return "invalid"
    by_metric = {verdict.metric: verdict.verdict for verdict in verdicts}
    words = [by_metric[metric] for metric in DECIDING if metric in by_metric]
    for word in words:
        if word != "same":
            return word
    return "same"


def case_validity(base: Sequence[Measurement], head: Sequence[Measurement]) -> Validity:
    """Return one check of each kind over all trials of both sides: the one that failed where any did."""
    chosen: dict[str, Check] = {}
    for measurement in [*base, *head]:
        for check in measurement.validity.checks:
            if check.check not in chosen or (chosen[check.check].ok and not check.ok):
                chosen[check.check] = check
    return Validity.of(list(chosen.values()))
