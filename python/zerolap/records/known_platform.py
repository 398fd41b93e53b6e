"""What is known of platforms: when their facts changed, their false alarms, how much starts differ, their verdicts."""

from zerolap.records.base import Record
from zerolap.records.verdict import VerdictWord


class ListedPlatform(Record):
    """A platform: when it was seen first, when its facts changed last, in how many states it was seen.

    `reports` are its comparisons and runs.
    """

    fingerprint: str
    name: str
    cpu: str
    cores: int
    kernel: str
    first_seen: str
    last_change: str
    states: int
    reports: int


class FalseAlarm(Record):
    """A change of time that was reported for a case in which nothing can have changed.

    `change`, `low` and `high` are shares. `same_build` is whether both sides were one build, otherwise their executed
    code was identical.
    """

    comparison: str
    created: str
    case: str
    verdict: VerdictWord
    metric: str | None
    change: float | None
    low: float | None
    high: float | None
    confirmed: bool
    same_build: bool


class FalseAlarmCounts(Record):
    """How many cases were timed in which nothing can have changed, and for how many a change was reported.

    `same_build`: both sides were one build; otherwise the builds differ, and their executed code was identical.
    A confirmed alarm was reported as certain. `comparisons` are those that have such cases, `since` is when the oldest
    of them was asked for.
    """

    same_build: bool
    comparisons: int
    timed: int
    alarms: int
    confirmed_alarms: int
    since: str


class StartSpread(Record):
    """How much starts of one build differ in a metric: the standard deviation as a share, over `spreads` cases.

    `circumstances` are what comparable starts have in common, `degrees` the degrees of freedom that it is based on.
    """

    metric: str
    circumstances: str
    spreads: int
    standard_deviation: float
    degrees: float


class PlatformResult(Record):
    """The verdict on a case on a platform: a metric with its verdict, its values and the change as a share.

    `metric` is null where the verdict rests on none.
    """

    comparison: str
    verdict: str | None
    metric: str | None
    base: float | None
    head: float | None
    change: float | None
    low: float | None
    high: float | None
