"""What a comparison says of a case as a whole."""

from collections.abc import Sequence

from zerolap.judge.deciding_time import deciding_time
from zerolap.records import CaseVerdict, Check, Measurement, Validity, Verdict

# The first of these that changed decides; instructions are what the others cost in the end.
WEIGHED = ("instructions_per_op", "syscalls_per_op")
COUNTED_DECIDING = ("instructions_per_op", "syscalls_per_op", "allocations_per_op")
SERVED = "ops_per_sec"
CHANGED = ("regression", "improvement")


def deciding_verdict(verdicts: Sequence[Verdict]) -> Verdict | None:
    """Return the verdict that decides the case, none without any.

    That is the timed one on the cost of a request where it is sure; where that is the same though throughput is beyond
    doubt not, as of a server that waits, the one on throughput. Else it is of the counted ones the first that is not
    same, or the first; where nothing was counted, the timed one.
    """
    timed = deciding_time(verdicts)
    if timed is not None and timed.verdict != "unsure":
        served = served_change(verdicts)
        return served if timed.verdict == "same" and served is not None else timed
    ordered = [verdict for metric in COUNTED_DECIDING for verdict in verdicts if verdict.metric == metric]
    return next((verdict for verdict in ordered if verdict.verdict != "same"), ordered[0] if ordered else timed)


def case_verdict(verdicts: Sequence[Verdict], validity: Validity) -> CaseVerdict:
    """Return the case's verdict from those on its metrics.

    Fewer instructions against more system calls, or the reverse, only timing can weigh up: that is unsure, as is less
    throughput for less CPU time, or the reverse.
    """
    deciding = deciding_verdict(verdicts)
    if not validity.valid or deciding is None:
        return "invalid"
    if deciding.engine == "timed":
        served = served_change(verdicts)
        contrary = served is not None and {served.verdict, deciding.verdict} == set(CHANGED)
        return "unsure" if contrary else deciding.verdict
    words = {verdict.verdict for verdict in verdicts if verdict.metric in WEIGHED}
    return "unsure" if {"regression", "improvement"} <= words else deciding.verdict


def served_change(verdicts: Sequence[Verdict]) -> Verdict | None:
    """Return the verdict on throughput if that changed beyond doubt."""
    return next((verdict for verdict in verdicts if verdict.metric == SERVED and verdict.is_beyond_doubt), None)


def is_confirmed(word: CaseVerdict, verdicts: Sequence[Verdict]) -> bool:
    """Whether timing says that a case of that verdict changed."""
    deciding = deciding_verdict(verdicts)
    return word in CHANGED and deciding is not None and deciding.engine == "timed"


def case_validity(measurements: Sequence[Measurement]) -> Validity:
    """Return one check of each kind over all trials of all sides: the one that failed where any did."""
    chosen: dict[str, Check] = {}
    for measurement in measurements:
        for check in measurement.validity.checks:
            if check.check not in chosen or (chosen[check.check].ok and not check.ok):
                chosen[check.check] = check
    return Validity.of(list(chosen.values()))
