"""What a comparison says of a case as a whole."""

from collections.abc import Sequence

from zerolap.records import CaseVerdict, Check, Measurement, Validity, Verdict

# The first of these that changed decides; instructions are what the others cost in the end.
WEIGHED = ("instructions_per_op", "syscalls_per_op")
DECIDING = ("instructions_per_op", "syscalls_per_op", "allocations_per_op")


def deciding_verdict(verdicts: Sequence[Verdict]) -> Verdict | None:
    """Return the verdict that decides the case: the first that is not same, else the first; none without any."""
    ordered = [verdict for metric in DECIDING for verdict in verdicts if verdict.metric == metric]
    return next((verdict for verdict in ordered if verdict.verdict != "same"), ordered[0] if ordered else None)


def case_verdict(verdicts: Sequence[Verdict], validity: Validity) -> CaseVerdict:
    """Return the case's verdict from those on its metrics.

    Fewer instructions against more system calls, or the reverse, only timing can weigh up: that is unsure.
    """
    deciding = deciding_verdict(verdicts)
    if not validity.valid or deciding is None:
        return "invalid"
    words = {verdict.verdict for verdict in verdicts if verdict.metric in WEIGHED}
    return "unsure" if {"regression", "improvement"} <= words else deciding.verdict


def case_validity(base: Sequence[Measurement], head: Sequence[Measurement]) -> Validity:
    """Return one check of each kind over all trials of both sides: the one that failed where any did."""
    chosen: dict[str, Check] = {}
    for measurement in [*base, *head]:
        for check in measurement.validity.checks:
            if check.check not in chosen or (chosen[check.check].ok and not check.ok):
                chosen[check.check] = check
    return Validity.of(list(chosen.values()))
