"""Comparisons of code that does the same: harmless edits, and harmless commits of other people."""

import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import zerolap
from benches.comparing import ClockedComparison
from benches.truth.case_data import all_cases, cases_of, changes_by_sample, data_of
from benches.truth.edited import Edited, directory_name
from benches.truth.estimates import correlation, correlation_bound, highest_rate
from benches.truth.harmless import Edit, harmless_edits
from benches.truth.measuring import Estimate, Limit, TruthFigure
from benches.truth.samples import Data, Experiment, PlannedSample, Sample, Unavailable
from benches.truth.sampling import METRIC
from zerolap import Options

COMMITS = "ZEROLAP_BENCH_COMMITS"
"""Names a file of harmless commits: a line has a repository, a base and a head."""
TIMED_ALONE = ("timed",)
"""Without counting it is not known which cases are identical, so that all of them are timed."""
REPEATED = 15
"""So many edits are compared once more."""
FEWEST_VERDICTS = 300


def _timed(edit: Edit, name: str, directory: Path, seed: int) -> Data:
    edited = Edited.make(directory / "edited" / directory_name(name), edit)
    store = directory / "store"
    return data_of(edited.compare(Options(engines=TIMED_ALONE, seed=seed), store), store, edit=name)


def _timed_commit(repository: str, base: str, head: str, store: Path, seed: int) -> Data:
    began = time.monotonic()
    document = zerolap.compare(
        base, head, repo=repository, options=Options(engines=TIMED_ALONE, seed=seed), store=store
    )
    compared = ClockedComparison(document, time.monotonic() - began)
    return data_of(compared, store, repository=Path(repository).name, base=base, head=head)


def commits_of_others() -> list[tuple[str, str, str]]:
    """Return repository, base and head of each line of the file that the environment names.

    Raises `Unavailable` for a file that cannot be read, or a line of another form.
    """
    name = os.environ.get(COMMITS)
    if not name:
        return []
    try:
        lines = [line.split() for line in Path(name).read_text().splitlines()]
    except OSError as fault:
        raise Unavailable(f"{COMMITS}: {fault}") from fault
    commits = []
    for number, fields in enumerate(lines, 1):
        if not fields or fields[0].startswith("#"):
            continue
        if len(fields) != 3:
            raise Unavailable(f"{COMMITS}: line {number} of {name} is not `repository base head`")
        commits.append((fields[0], fields[1], fields[2]))
    return commits


def _nulls(directory: Path) -> list[PlannedSample]:
    edits = [PlannedSample(name, partial(_timed, edit, name, directory)) for name, edit in harmless_edits().items()]
    commits = [
        PlannedSample(
            f"{Path(repository).name} {base}..{head}",
            partial(_timed_commit, repository, base, head, directory / "store"),
        )
        for repository, base, head in commits_of_others()
    ]
    return [*edits, *commits]


def _repeats(directory: Path) -> list[PlannedSample]:
    """Plan the edits that are compared once more, from all kinds of edits."""
    every = list(harmless_edits().items())
    chosen = every[:: max(1, len(every) // REPEATED)][:REPEATED]
    return [PlannedSample(name, partial(_timed, edit, name, directory)) for name, edit in chosen]


def _harmless(directory: Path) -> list[PlannedSample]:
    return [
        PlannedSample(name, partial(_as_users_do, edit, name, directory)) for name, edit in harmless_edits().items()
    ]


def _as_users_do(edit: Edit, name: str, directory: Path, seed: int) -> Data:
    edited = Edited.make(directory / "edited" / directory_name(name), edit)
    store = directory / "store"
    return data_of(edited.compare(Options(seed=seed), store), store, edit=name)


NULLS = Experiment("nulls", 1, ["harmless.py"], _nulls)
NULL_REPEATS = Experiment("null_repeats", 1, ["harmless.py"], _repeats)
HARMLESS = Experiment("harmless", 1, ["harmless.py"], _harmless)


def alarms(samples: Sequence[Sample]) -> Estimate:
    """Return the number of timed case verdicts that report a change."""
    cases = all_cases(samples)
    judged = [case for case in cases if case.has_timed_verdict]
    changed = sum(case.has_changed for case in judged)
    return Estimate(
        changed,
        len(judged),
        [
            f"the rate is at most {highest_rate(changed, len(judged)):.2%} (95 %, one-sided)",
            f"{len(cases) - len(judged)} of {len(cases)} cases have no timed verdict",
            *changes_by_sample(samples),
        ],
    )


def share_same(samples: Sequence[Sample]) -> Estimate:
    """Return the share of all cases, refused ones included, whose time is the same."""
    cases = all_cases(samples)
    counts: dict[str, int] = {}
    for case in cases:
        word = "not timed" if not case.has_timed_verdict else str(case.time)
        counts[word] = counts.get(word, 0) + 1
    checks: dict[str, int] = {}
    for case in cases:
        for check in case.failed_checks:
            checks[check] = checks.get(check, 0) + 1
    listed = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
    failed = [f"failed checks: {', '.join(f'{check} {count}' for check, count in checks.items())}"] if checks else []
    return Estimate(counts.get("same", 0) / len(cases), len(cases), [listed, *failed])


def errors_of_repeats(samples: Sequence[Sample]) -> list[tuple[float, float]]:
    """Return the errors of both comparisons of an edit, case by case, in half widths of their intervals.

    The true change is 0. The unit is of the interval: cases that scatter much do not outweigh the others.
    """
    errors: dict[tuple[str, str], dict[str, float]] = {}
    for sample in samples:
        for case in cases_of(sample):
            metric = case.metric(METRIC)
            if metric is not None and metric.change is not None and metric.half_width:
                errors.setdefault((sample.key, case.case), {})[sample.experiment] = metric.change / metric.half_width
    return [
        (both[NULLS.name], both[NULL_REPEATS.name])
        for both in errors.values()
        if NULLS.name in both and NULL_REPEATS.name in both
    ]


def independence(samples: Sequence[Sample]) -> Estimate | None:
    """Return the correlation of the errors of two comparisons of the same builds."""
    pairs = errors_of_repeats(samples)
    value = correlation(pairs)
    if value is None:
        return None
    return Estimate(value, len(pairs), [f"at most {correlation_bound(value, len(pairs)):.2f} (95 %, one-sided)"])


def confirmed(samples: Sequence[Sample]) -> Estimate:
    """Return the number of confirmed changes of all cases, identical ones included."""
    cases = all_cases(samples)
    return Estimate(sum(case.confirmed for case in cases), len(cases), changes_by_sample(samples))


def identical_share(samples: Sequence[Sample]) -> Estimate:
    """Return the share of cases whose work is identical."""
    cases = all_cases(samples)
    return Estimate(sum(case.work == "identical" for case in cases) / len(cases), len(cases))


FIGURES = [
    TruthFigure(
        "null_alarms_timed", "changes reported", [NULLS], FEWEST_VERDICTS, "timed case verdicts", alarms, Limit(most=1)
    ),
    TruthFigure(
        "same_share_of_nulls", "of all cases", [NULLS], FEWEST_VERDICTS, "cases", share_same, Limit(least=0.85)
    ),
    TruthFigure(
        "repeat_independent",
        "correlation of errors",
        [NULLS, NULL_REPEATS],
        REPEATED * 10,
        "pairs of case verdicts",
        independence,
        Limit(least=-1.0, most=0.2),
    ),
    TruthFigure("null_alarms", "confirmed changes", [HARMLESS], 360, "cases", confirmed, Limit(most=1)),
    TruthFigure("identical_share", "of the cases", [HARMLESS], 360, "cases", identical_share, Limit(least=0.75)),
]
