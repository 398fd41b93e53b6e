"""Change points of simulated series: false ones, steps that are seen, spikes, layouts, and steps of a platform."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from benches.figures import Figure
from benches.history import otava
from benches.history.series import NOISES, gaussian, levels_of, seeded, stepped
from zerolap.judge import SeriesChanges, history_changes, series_changes

REPETITIONS: Final = 1000
POINTS: Final = 365
"""Commits of a year, one a day."""
SHORT: Final = (12, 20, 32, 50, 100)
"""Points of series whose noise and correlation are not known well."""
MARGIN: Final = 3
"""A step is seen where a change of its direction is within so many commits of it."""
FAR_FROM_ZERO: Final = 1000.0


@dataclass(frozen=True)
class Outcomes:
    """Of each series under a kind of noise or layout: how many changes were found, or whether the planted one was."""

    of: str
    ours: list[int]
    otava: list[int] | None = None

    @property
    def rate(self) -> float:
        """The share of series with some."""
        return _share(self.ours)

    @property
    def peer_rate(self) -> list[float]:
        """That of the peer, if there is one."""
        return [] if self.otava is None else [_share(self.otava)]

    def __str__(self) -> str:
        peer = "".join(f", {otava.NAME} {rate:.3f}" for rate in self.peer_rate)
        return f"{self.of}: {self.rate:.3f}{peer}"


def flat_alarm_max() -> Figure:
    """Measure how often a series without a change has one, under each kind of noise; the worst is the figure."""
    outcomes = []
    for noise, draw in NOISES.items():
        series = [draw(seeded("flat", noise, number), POINTS) for number in range(REPETITIONS)]
        answered = _otava(series)
        theirs = None if answered is None else [len(found) for found in answered]
        outcomes.append(Outcomes(noise, [_alarms(series_changes(levels_of(values))) for values in series], theirs))
    return _figure(max(each.rate for each in outcomes), "share of flat series", outcomes)


def flat_alarm_short() -> Figure:
    """Measure how often a short series without a change has one, under each kind of noise; the worst is the figure."""
    outcomes = []
    for points in SHORT:
        for noise, draw in NOISES.items():
            series = [draw(seeded("short", noise, points, number), points) for number in range(REPETITIONS)]
            alarms = [_alarms(series_changes(levels_of(values))) for values in series]
            outcomes.append(Outcomes(f"{points} points, {noise}", alarms))
    return _figure(max(each.rate for each in outcomes), "share of flat series", outcomes)


def power_2sigma() -> Figure:
    """Measure how often a step of two standard deviations is seen, on series that the peer gets too.

    It is at any commit but the ten first and last ones. The figure is the share under normal noise; the notes have the
    others, under which the peer alarms without any step too.
    """
    outcomes = []
    for noise, draw in NOISES.items():
        series, places = [], []
        for number in range(REPETITIONS):
            randoms = seeded("power", noise, number)
            values = draw(randoms, POINTS)
            places.append(randoms.randrange(10, POINTS - 10))
            series.append(stepped(values, places[-1], 2 * statistics.pstdev(values)))
        ours = [
            _seen([(change.position, change.log_change) for change in series_changes(levels_of(values)).changes], at)
            for values, at in zip(series, places, strict=True)
        ]
        answered = _otava(series)
        theirs = None if answered is None else [_seen(found, at) for found, at in zip(answered, places, strict=True)]
        outcomes.append(Outcomes(noise, ours, theirs))
    return _figure(outcomes[0].rate, "share of steps seen", outcomes)


def last_point_spike() -> Figure:
    """Measure how often one or two spikes at the end of a flat series are taken for a change.

    The figure is the worst over sizes of 6 to 1,000 standard deviations.
    """
    outcomes = []
    for spikes in (1, 2):
        for size in (6.0, 20.0, 1000.0):
            series = [gaussian(seeded("spike", spikes, size, number), 100) for number in range(REPETITIONS)]
            for values in series:
                values[-spikes:] = [value + size for value in values[-spikes:]]
            ours = [
                sum(change.position >= len(values) - spikes for change in series_changes(levels_of(values)).changes)
                for values in series
            ]
            answered = _otava(series)
            theirs = None if answered is None else [sum(at >= 98 for at, _ in found) for found in answered]
            outcomes.append(Outcomes(f"{spikes} of {size:g} standard deviations", ours, theirs))
    return _figure(max(each.rate for each in outcomes), "share of series", outcomes)


def layout_residue() -> Figure:
    """Measure how often a shift of all starts of a build, which its layout makes and not its code, is taken for a step.

    A point is the mean of six starts with a standard deviation of 0.5 %, and its variance is that of these. At one
    commit all starts are shifted by 1 %. With fresh seeds in each job the shift is drawn anew with every build: each
    point then has one, of 1 % standard deviation, that its own variance does not know of. The notes have what would be
    with seeds that are kept: the shift stays from the commit on.
    """
    outcomes = []
    cases: Mapping[str, Callable[[Sequence[float], int], list[float]]] = {
        "one build of the series is shifted": lambda shifts, at: [
            0.01 if number == at else 0.0 for number in range(POINTS)
        ],
        "every build is shifted, by fresh seeds": lambda shifts, at: list(shifts),
        "seeds are kept from the commit on": lambda shifts, at: [
            0.01 if number >= at else 0.0 for number in range(POINTS)
        ],
    }
    for case, shifted in cases.items():
        alarms = []
        for number in range(REPETITIONS):
            randoms = seeded("layout", case, number)
            at = randoms.randrange(10, POINTS - 10)
            values, variances = [], []
            for shift in shifted([randoms.gauss(0, 0.01) for _ in range(POINTS)], at):
                starts = [randoms.gauss(shift, 0.005) for _ in range(6)]
                values.append(statistics.fmean(starts))
                variances.append(statistics.variance(starts) / len(starts))
            pooled = statistics.fmean(variances)
            # As `levels_of` of the judge: each variance is drawn towards that of all.
            moderated = [(5 * variance + 30 * pooled) / 35 for variance in variances]
            alarms.append(_alarms(series_changes(levels_of(values, variances=moderated))))
        outcomes.append(Outcomes(case, alarms))
    return _figure(max(each.rate for each in outcomes[:2]), "share of series", outcomes)


def platform_step_events(panels: int = 20, series: int = 400) -> Figure:
    """Measure how many events a step of all series of a platform is: at one commit, each by its own size.

    The figure is the number of events of the platform in the panel where it is farthest from one. The notes count
    panels with further events: of single series, of which the rate of false discoveries allows one in twenty panels.
    """
    of_platform, misplaced, with_others = [], 0, 0
    samples = []
    for panel in range(panels):
        randoms = seeded("platform", panel)
        at = randoms.randrange(30, POINTS - 30)
        levels = []
        for number in range(series):
            size = randoms.uniform(1.5, 8) * randoms.choice((-1, 1))
            levels.append(levels_of(stepped(gaussian(randoms, POINTS), at, size), str(number)))
        events = history_changes(levels).commit_events
        of_platform.append(sum(event.of_platform for event in events))
        misplaced += at not in [event.position for event in events if event.of_platform]
        with_others += len(events) > of_platform[-1]
        samples.append([at, *([event.position, event.of_platform, len(event.changes)] for event in events)])
    notes = [
        f"panels with other events beside it: {with_others} of {panels}",
        f"panels in which the event is not at its commit: {misplaced}",
    ]
    farthest = max(of_platform, key=lambda count: abs(count - 1))
    return Figure(farthest, "events", samples, panels * series, {}, notes)


def false_events(panels: int = 40, series: int = 100) -> Figure:
    """Measure how many of the commits that are named are false, where ten of a hundred series step, each at its own."""
    named = false = 0
    samples = []
    for panel in range(panels):
        randoms = seeded("false events", panel)
        places = {str(number): randoms.randrange(20, POINTS - 20) for number in range(10)}
        levels = [
            levels_of(stepped(gaussian(randoms, POINTS), places.get(str(number), 0), 3), str(number))
            for number in range(series)
        ]
        events = history_changes(levels).commit_events
        wrong = [
            event
            for event in events
            if not any(
                each.name in places and abs(each.change.position - places[each.name]) <= 10 for each in event.changes
            )
        ]
        named += len(events)
        false += len(wrong)
        samples.append([len(events), len(wrong)])
    return Figure(
        false / max(named, 1), "share of events", samples, panels * series, {}, [f"{named} events of {10 * panels}"]
    )


def _alarms(found: SeriesChanges) -> int:
    return len(found.changes) + len(found.disturbed)


def _figure(value: float, unit: str, outcomes: Sequence[Outcomes]) -> Figure:
    trials = sum(len(each.ours) for each in outcomes)
    peer_rates = [rate for each in outcomes for rate in each.peer_rate]
    peers = {otava.NAME: peer_rates} if peer_rates else {}
    return Figure(
        value, unit, [asdict(each) for each in outcomes], trials, peers, [*otava.notes(), *map(str, outcomes)]
    )


def _otava(series: Sequence[Sequence[float]]) -> list[list[tuple[int, float]]] | None:
    answered = otava.answers([[FAR_FROM_ZERO + value for value in values] for values in series])
    return None if answered is None else answered.changes


def _seen(found: Sequence[tuple[int, float]], at: int) -> int:
    """Count the changes that are the upward step at a commit: one, or none."""
    return int(any(abs(position - at) <= MARGIN and change > 0 for position, change in found))


def _share(counts: Sequence[int]) -> float:
    return sum(map(bool, counts)) / len(counts)


FIGURES: Final[Mapping[str, Callable[[], Figure]]] = {
    "flat_alarm_max": flat_alarm_max,
    "flat_alarm_short": flat_alarm_short,
    "power_2sigma": power_2sigma,
    "last_point_spike": last_point_spike,
    "layout_residue": layout_residue,
    "platform_step_events": platform_step_events,
    "false_events": false_events,
}
