"""Change points of series: at which commit a level stepped, by how much, and how sure that is.

The search is in `crates/stats/src/change_points.rs`: segments of least cost with a bounded loss, penalties from
simulated series without changes. Here are its words for histories. A result depends on the points alone, not on when
they came: a series that grew by one point a day and one that is read at once have the same changes.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from zerolap import _core

IDENTICAL: Final = math.inf
"""The penalty of a commit whose code is identical to that of the one before: no change is there."""
KNOWN: Final = -math.inf
"""The penalty of a commit at which there is a change, as is known from elsewhere."""
SEARCH_LEVEL: Final = 0.01
"""The probability that a series without a change has one somewhere."""

ChangeKind: TypeAlias = Literal["step", "ramp"]


@dataclass(frozen=True)
class SeriesLevels:
    """A series: levels at the positions of commits along a branch, in order.

    `values` are logarithms of a metric, or of its ratio to an anchor. `variances` are those of the values, where they
    are known; noise is then not taken as less. `penalties` are what a change at a position costs more than elsewhere,
    in units of the gain, which is twice a log likelihood ratio; `IDENTICAL` where there can be none, `KNOWN` where
    there is one. The first penalty has no meaning.

    Raises `ValueError` when lengths differ or positions do not ascend.
    """

    name: str
    positions: tuple[int, ...]
    values: tuple[float, ...]
    variances: tuple[float, ...] | None = None
    penalties: tuple[float, ...] | None = None

    def with_known_changes(self, positions: Collection[int]) -> "SeriesLevels":
        """Return the series with changes at commits that are known to have changed it."""
        penalties = self.penalties or (0.0,) * len(self.positions)
        return replace(
            self,
            penalties=tuple(
                KNOWN if position in positions else penalty
                for position, penalty in zip(self.positions, penalties, strict=True)
            ),
        )

    def __post_init__(self) -> None:
        lengths = {
            len(part) for part in (self.positions, self.values, self.variances, self.penalties) if part is not None
        }
        if len(lengths) != 1:
            raise ValueError(f"the parts of the series {self.name} are not equally long")
        if any(after <= before for before, after in zip(self.positions, self.positions[1:], strict=False)):
            raise ValueError(f"the positions of the series {self.name} do not ascend")


@dataclass(frozen=True)
class LevelChange:
    """A change of level at the commit `position`; `previous` is the commit that was measured before it.

    With 95 % the commit lies from `first` to `last`. `low` and `high` bound `log_change` with 95 %, given the commit.
    `p` is the probability that a series of this length without a change shows one so large somewhere. A `ramp` is one
    of several changes in one direction between which the series goes that way too.
    """

    position: int
    previous: int
    first: int
    last: int
    level_before: float
    level_after: float
    low: float
    high: float
    gain: float
    p: float
    kind: ChangeKind

    @property
    def log_change(self) -> float:
        """The logarithm of the ratio of the levels."""
        return self.level_after - self.level_before

    @property
    def change(self) -> float:
        """The relative change."""
        return math.expm1(self.log_change)


@dataclass(frozen=True)
class DisturbedStretch:
    """Commits, from `first` to `last`, at nearly all of which the series is far from any level.

    `p` is the probability that a series of this length without a change shows one so clear somewhere. A stretch that
    `goes_on` has not ended with the series.
    """

    first: int
    last: int
    p: float
    goes_on: bool


@dataclass(frozen=True)
class SeriesChanges:
    """What the series `name` consists of.

    `spikes` are the commits whose points lie more than three standard deviations from the level around them, `noise_sd`
    is the standard deviation of a point, or of one with variance 1 where variances are known, and `long_run_factor` by
    how much correlation raises the variance of a mean. `searched` counts the commits at which there could be a change.
    """

    name: str
    changes: tuple[LevelChange, ...]
    spikes: tuple[int, ...]
    disturbed: tuple[DisturbedStretch, ...]
    noise_sd: float
    long_run_factor: float
    searched: int


class SeriesSearch:
    """A series that grows by points, and its changes so far.

    `level` is the probability that a series without a change has one, between 0.001 and 0.1.
    """

    def __init__(self, name: str, known_variances: bool, level: float = SEARCH_LEVEL) -> None:
        self._name = name
        self._known_variances = known_variances
        self._search = _core.ChangeSearch(level, known_variances)
        self._positions: list[int] = []
        self._searched = 0

    def extend(self, levels: SeriesLevels) -> None:
        """Add points.

        Raises `ValueError` for points before the last one, without variances where these are known or with them where
        they are not, or with numbers that are not finite.
        """
        if (levels.variances is not None) != self._known_variances:
            raise ValueError(f"the series {self._name} has variances at some points only")
        if self._positions and levels.positions and levels.positions[0] <= self._positions[-1]:
            raise ValueError(f"the positions of the series {self._name} do not ascend")
        variances = None if levels.variances is None else list(levels.variances)
        penalties = None if levels.penalties is None else list(levels.penalties)
        self._search.extend(list(levels.values), variances, penalties)
        self._positions.extend(levels.positions)
        self._searched += len(levels.values) if penalties is None else sum(penalty < math.inf for penalty in penalties)

    def changes(self) -> SeriesChanges:
        """Return the changes of all points so far."""
        found = self._search.changes()
        at = self._positions
        return SeriesChanges(
            self._name,
            tuple(_level_change(change, at) for change in found.changes),
            tuple(at[index] for index in found.spikes),
            tuple(
                DisturbedStretch(at[start], at[end - 1], p, goes_on=end == len(at)) for start, end, p in found.disturbed
            ),
            found.noise_sd,
            found.long_run_factor,
            max(self._searched, 1),
        )


def series_changes(levels: SeriesLevels, level: float = SEARCH_LEVEL) -> SeriesChanges:
    """Return the changes of a series that is there as a whole.

    Raises `ValueError` for numbers that are not finite, variances not above 0, or a level beyond the thresholds.
    """
    search = SeriesSearch(levels.name, levels.variances is not None, level)
    search.extend(levels)
    return search.changes()


def _level_change(change: _core.ChangePoint, at: Sequence[int]) -> LevelChange:
    return LevelChange(
        position=at[change.index],
        previous=at[change.index - 1],
        first=at[change.first],
        last=at[change.last],
        level_before=change.before,
        level_after=change.after,
        low=change.low,
        high=change.high,
        gain=change.gain,
        p=change.p,
        kind="ramp" if change.ramp else "step",
    )
