"""The trials of a case: which starts there were, where their code lay, and whether they count."""

from collections.abc import Iterable
from typing import Annotated, Final

from pydantic import Field

from zerolap.queries.comparison_page import LONGEST_CASE
from zerolap.queries.query import LARGEST_NUMBER, Parameters, QuerySources, TableRow, page_query
from zerolap.records import RUN_TABLE, Record, Side, UsageError
from zerolap.sheets import failed_check
from zerolap.store import NumberedTrial

MOST_LISTED_TRIALS: Final = 200
SHOWN_METRICS: Final = RUN_TABLE


class TrialListParameters(Parameters):
    """The trials of which case, and of which of its sides."""

    id: Annotated[str, Field(pattern=r"^[ckrw]-[0-9a-f-]{1,64}$", description="The id of a request.")]
    case: Annotated[str, Field(max_length=LONGEST_CASE, description="The name of the case.")]
    side: Annotated[str, Field(max_length=40, description="A side; all without one.")] = ""
    after: Annotated[int, Field(ge=0, le=LARGEST_NUMBER, description="The number of the last trial that is known.")] = 0
    limit: Annotated[int, Field(ge=1, le=MOST_LISTED_TRIALS, description="How many.")] = MOST_LISTED_TRIALS


class ListedTrial(Record):
    """A trial in a list; `placement` states where its code lay, `failed` the checks that do not hold.

    `metrics` has those of the table of a run that were measured. `unreadable` is why the rest is missing.
    """

    number: int
    side: Side
    engine: str
    block: int
    per_second: int | None
    valid: bool
    failed: list[str]
    began: str = ""
    seconds: float = 0.0
    placement: str
    load_host: str = ""
    metrics: dict[str, float]
    unreadable: str


class TrialList(Record):
    """Trials in the order of recording; `next_after` is where the next ones begin, null where there are none."""

    id: str
    case: str
    trials: list[ListedTrial]
    next_after: int | None


def placement_of(numbered: NumberedTrial) -> str:
    """Return in words where the code of a trial's program lay; empty where that does not matter."""
    measurement = numbered.measurement
    if measurement is None or measurement.placement is None:
        return ""
    placement = measurement.placement
    if placement.seed is not None:
        return f"functions in the order of seed {placement.seed}"
    return f"one layout: {placement.failure}" if placement.failure else "one layout, in a fresh copy of its file"


def _read(sources: QuerySources, parameters: TrialListParameters) -> TrialList:
    reports = sources.store.reports
    if reports.progress(parameters.id) is None:
        raise UsageError(f"the lab knows nothing of {parameters.id}")
    limit = parameters.limit
    trials = reports.trials_of(parameters.id, parameters.case, parameters.side, limit + 1, parameters.after)
    shown = trials[:limit]
    return TrialList(
        id=parameters.id,
        case=parameters.case,
        trials=[_listed(numbered) for numbered in shown],
        next_after=shown[-1].number if len(trials) > limit else None,
    )


def _listed(numbered: NumberedTrial) -> ListedTrial:
    measurement = numbered.measurement
    failed = [] if measurement is None else measurement.validity.failed
    metrics = {} if measurement is None else measurement.metrics
    return ListedTrial.taken_from(
        numbered,
        numbered.trial,
        measurement,
        valid=measurement is not None and measurement.validity.valid,
        failed=[failed_check(check.check, check.value, check.limit) for check in failed],
        placement=placement_of(numbered),
        metrics={name: metrics[name] for name in SHOWN_METRICS if name in metrics},
    )


def _rows(answer: TrialList) -> Iterable[TableRow]:
    columns = ("number", "side", "engine", "block", "requests per second asked for", "valid", "failed checks", "began")
    yield (*columns, "seconds", "placement", "load host", *SHOWN_METRICS)
    for trial in answer.trials:
        values = (trial.metrics.get(name) for name in SHOWN_METRICS)
        where = (trial.seconds, trial.placement, trial.load_host)
        failed = "; ".join(trial.failed)
        about = (trial.number, trial.side, trial.engine, trial.block, trial.per_second, trial.valid)
        yield (*about, failed, trial.began, *where, *values)


TRIALS: Final = page_query(_read, "trials", "The trials of a case", table=_rows)
