"""The answer of a case on its memory: whether its data take as many bytes.

What a key takes leads: it is exact. What the server uses beside that, its clients and its process decide where a key
takes the same.
"""

from collections.abc import Mapping, Sequence

from zerolap.judge.weighed_work import deciding
from zerolap.records import METRICS, MetricRule, Verdict, VerdictWord


def memory_answer(
    verdicts: Sequence[Verdict], rules: Mapping[str, MetricRule] = METRICS
) -> tuple[VerdictWord | None, str | None]:
    """Return the word on memory and the metric that it rests on, none where no memory was measured.

    A process alone shows a change or that there is none; that it shows neither is no answer. A key that takes less is
    no gain where the server takes more for it elsewhere: that is unsure.
    """
    leading = deciding("memory", "always", verdicts, rules)
    beside = deciding("memory", "others same", verdicts, rules)
    resident = [
        verdict
        for verdict in deciding("memory", "beyond doubt", verdicts, rules)
        if verdict.is_beyond_doubt or (verdict.verdict == "same" and not (leading or beside))
    ]
    every = [*leading, *beside, *resident]
    if not every:
        return None, None
    lost = next((verdict for verdict in every if verdict.verdict == "regression"), None)
    gained = next((verdict for verdict in every if verdict.verdict == "improvement"), None)
    if lost is not None:
        is_opposed = gained is not None and gained in leading
        return ("unsure" if is_opposed else "regression"), lost.metric
    undecided = next((verdict for verdict in leading if verdict.verdict == "unsure"), None)
    first = gained or undecided or every[0]
    return first.verdict, first.metric
