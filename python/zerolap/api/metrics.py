"""What Prometheus reads of a conductor."""

import time
from collections import Counter

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from zerolap.fleet import Conductor


def conductor_metrics(conductor: Conductor) -> bytes:
    """Return queues, agents and ages in the text format of Prometheus."""
    registry = CollectorRegistry()
    requests = Gauge(
        "zerolap_submissions", "Requests that have not ended.", ["platform", "priority"], registry=registry
    )
    counted = Counter(
        (execution.request.platform, execution.request.priority) for execution in conductor.executions.values()
    )
    for labels, count in counted.items():
        requests.labels(*labels).set(count)
    jobs = Gauge(
        "zerolap_attempts", "Jobs given to agents that have not ended.", ["platform", "state"], registry=registry
    )
    oldest = Gauge(
        "zerolap_oldest_attempt_seconds", "Age of the oldest job that has not ended.", ["platform"], registry=registry
    )
    attempts = list(conductor.intake.attempts.values())
    for (platform, state), count in Counter((one.platform, one.state) for one in attempts).items():
        jobs.labels(platform, state).set(count)
    for platform in {attempt.platform for attempt in attempts}:
        first = min(attempt.created for attempt in attempts if attempt.platform == platform)
        oldest.labels(platform).set(max(0.0, time.time() - first))
    agents = Gauge("zerolap_agents", "Agents that take jobs.", ["platform"], registry=registry)
    for platform, machines in conductor.roster.machines().items():
        agents.labels(platform).set(machines)
    planned = Gauge("zerolap_planned_jobs", "Jobs that wait to be given to an agent.", ["platform"], registry=registry)
    waiting: Counter[str] = Counter()
    for execution in conductor.executions.values():
        waiting[execution.request.platform] += len(execution.planned)
    for platform, count in waiting.items():
        planned.labels(platform).set(count)
    Gauge("zerolap_working", "Whether store and bus can be used.", registry=registry).set(conductor.trouble is None)
    return generate_latest(registry)
