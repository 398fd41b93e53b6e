"""What Prometheus reads of a lab: gauges of what there is, and counters of what has happened since the start."""

import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from zerolap.api.health import KeptValue, TriggerHealth
from zerolap.api.refusals import Refusals
from zerolap.api.upkeep import Usage
from zerolap.events import LabEvent, RequestEvent, TriggerEvent
from zerolap.fleet import Conductor
from zerolap.github import GitHub
from zerolap.store import Store
from zerolap.triggers.webhooks import Admitted, Outcome

KEPT_SECONDS: Final = 0.5
"""How long metrics are sent again unchanged."""
REGRESSIONS_KEPT_SECONDS: Final = 30.0
MOST_GROUPS: Final = 200
"""Groups on platforms that have a time series each in Prometheus: those with the most open regressions."""
OPEN_STATES: Final = frozenset({"submitted", "waiting", "running"})


class EventCounts:
    """Counts what has happened since the start: requests and triggers by end, webhook deliveries by outcome."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, ...]] = Counter()
        self.triggers: Counter[tuple[str, ...]] = Counter()
        self.deliveries: Counter[tuple[str, ...]] = Counter()

    def count(self, event: LabEvent) -> None:
        """Count an event, if it is the end of a request or a trigger."""
        match event:
            case RequestEvent() if event.state not in OPEN_STATES:
                self.requests[event.kind, event.platform, event.state] += 1
            case TriggerEvent():
                self.triggers[event.kind, event.state] += 1
            case _:
                pass

    def count_delivery(self, outcome: Outcome) -> None:
        """Count a webhook delivery."""
        cause = "" if isinstance(outcome, Admitted) else outcome.cause.value
        self.deliveries[type(outcome).__name__.lower(), cause] += 1


def known_regressions(store: Store) -> KeptValue[dict[tuple[str, str], int]]:
    """Return how many regressions are open by platform and group, as the store had them a while ago."""
    return KeptValue(lambda: store.published_histories.open_regressions(MOST_GROUPS), REGRESSIONS_KEPT_SECONDS)


class LabCollector:
    """Reads the metrics of a lab; `triggers` and `usage` are none where the store cannot be read.

    `regressions` are the open ones by platform and group of cases.
    """

    def __init__(
        self,
        conductor: Conductor,
        counts: EventCounts,
        refusals: Refusals,
        triggers: TriggerHealth | None,
        github: GitHub | None,
        usage: Usage | None,
        *,
        regressions: Mapping[tuple[str, str], int],
    ) -> None:
        self._conductor = conductor
        self._counts = counts
        self._refusals = refusals
        self._triggers = triggers
        self._github = github
        self._usage = usage
        self._regressions = regressions

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        yield from self._gauges()
        yield from self._gauges_of_triggers()
        kinds = {} if self._usage is None else {(kind,): size for kind, size in asdict(self._usage).items()}
        yield _gauge("zerolap_store_bytes", "What the store takes.", ["kind"], kinds)
        meaning = "Regressions of histories that are neither accepted nor made good."
        yield _gauge("zerolap_open_regressions", meaning, ["platform", "group"], self._regressions)
        yield from self._counters()

    def _gauges(self) -> Iterator[Metric]:
        conductor = self._conductor
        yield GaugeMetricFamily(
            "zerolap_working", "Whether store and bus can be used.", float(conductor.trouble is None)
        )
        executions = list(conductor.executions.values())
        open_requests = Counter((one.request.platform or "", one.request.priority) for one in executions)
        yield _gauge("zerolap_open_requests", "Requests that have not ended.", ["platform", "priority"], open_requests)
        planned: Counter[tuple[str, ...]] = Counter()
        for execution in executions:
            planned[execution.request.platform or "",] += len(execution.planned)
        yield _gauge("zerolap_planned_jobs", "Jobs that wait to be given to an agent.", ["platform"], planned)
        attempts = list(conductor.intake.attempts.values())
        states = Counter((attempt.platform, attempt.state) for attempt in attempts)
        yield _gauge("zerolap_attempts", "Jobs given to agents that have not ended.", ["platform", "state"], states)
        ages: dict[tuple[str, ...], float] = {}
        for attempt in attempts:
            age_seconds = max(0.0, time.time() - attempt.created)
            ages[attempt.platform,] = max(age_seconds, ages.get((attempt.platform,), 0.0))
        meaning = "Age of the oldest job that has not ended."
        yield _gauge("zerolap_oldest_attempt_age_seconds", meaning, ["platform"], ages)
        agents = {(platform,): number for platform, number in conductor.roster.machines().items()}
        yield _gauge("zerolap_agents", "Agents that take jobs.", ["platform"], agents)

    def _gauges_of_triggers(self) -> Iterator[Metric]:
        waiting = GaugeMetricFamily("zerolap_waiting_triggers", "Triggers that were not worked on yet.")
        oldest = GaugeMetricFamily(
            "zerolap_oldest_waiting_trigger_age_seconds", "Age of the oldest trigger that waits, 0 without any."
        )
        if self._triggers is not None:
            waiting.add_metric([], self._triggers.waiting)
            oldest.add_metric([], self._triggers.oldest_waiting_seconds or 0.0)
        yield waiting
        yield oldest

    def _counters(self) -> Iterator[Metric]:
        counts = self._counts
        labels = ["platform", "kind", "end"]
        meaning = "Jobs that agents have ended: done, failed, given up."
        yield _counter("zerolap_ended_jobs", meaning, labels, self._conductor.ended_jobs)
        labels = ["kind", "platform", "end"]
        yield _counter("zerolap_ended_requests", "Requests that have ended.", labels, counts.requests)
        yield _counter("zerolap_ended_triggers", "Triggers that were worked on.", ["kind", "end"], counts.triggers)
        labels = ["outcome", "cause"]
        yield _counter("zerolap_webhook_deliveries", "Webhook deliveries.", labels, counts.deliveries)
        refused = {(cause,): number for cause, number in self._refusals.total.items()}
        yield _counter("zerolap_refused_requests", "Requests and connections refused.", ["cause"], refused)
        errors = {} if self._github is None else {(status,): number for status, number in self._github.errors.items()}
        yield _counter("zerolap_github_errors", "Requests that GitHub did not carry out.", ["status"], errors)


class KnownMetrics:
    """The metrics as text, made at most once in a while: anybody may ask for them, and they are made in the loop."""

    def __init__(self, collector: Callable[[], Awaitable[LabCollector]], kept_seconds: float = KEPT_SECONDS) -> None:
        self._collector = collector
        self._kept_seconds = kept_seconds
        self._made = -math.inf
        self._text = b""

    async def text(self) -> bytes:
        """Return the metrics of this moment, or of one a short while ago."""
        collector = await self._collector()
        if time.monotonic() - self._made >= self._kept_seconds:
            self._made = time.monotonic()
            self._text = metrics_text(collector)
        return self._text


def metrics_text(collector: LabCollector) -> bytes:
    """Return metrics in the text format of Prometheus."""
    registry = CollectorRegistry()
    registry.register(collector)
    return generate_latest(registry)


def _gauge(name: str, meaning: str, labels: Iterable[str], values: Mapping[Any, float]) -> Metric:
    family = GaugeMetricFamily(name, meaning, labels=list(labels))
    for label_values, value in values.items():
        family.add_metric(label_values, value)
    return family


def _counter(name: str, meaning: str, labels: Iterable[str], values: Mapping[Any, float]) -> Metric:
    family = CounterMetricFamily(name, meaning, labels=list(labels))
    for label_values, value in values.items():
        family.add_metric(label_values, value)
    return family
