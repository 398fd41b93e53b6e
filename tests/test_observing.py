"""What is seen of a lab from outside: metrics and the alerts on them, health, tracebacks in logs."""

import json
import os
import re
import subprocess
import sys
import time
from http import HTTPStatus
from pathlib import Path
from typing import Any

import yaml
from api_client import request
from http_server import served_lab
from prometheus_client.parser import text_string_to_metric_families
from published_history import ARM, MadeUp, Step, keep
from pydantic import BaseModel, ConfigDict, Field
from structlog.testing import capture_logs
from waiting import wait_until
from webhook_payloads import delivery, pushed, settings_of_tests

from zerolap.store import Store
from zerolap.triggers.settings import TriggerLimits
from zerolap.triggers.trigger import PushTrigger
from zerolap.triggers.webhooks.admission_state import stored_trigger

RULES = Path(__file__).parents[1] / "deploy" / "prometheus" / "zerolap.rules.yaml"
DURATION = r"^([0-9]+(ms|[smhdwy]))+$"


def metrics_of(url: str) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """Return the values of all samples by name and labels."""
    samples: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(request("GET", f"{url}/metrics").text):
        samples.setdefault(f"{family.name}_total" if family.type == "counter" else family.name, {})
        for sample in family.samples:
            samples.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return samples


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class AlertRule(_Part):
    alert: str = Field(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$")
    expr: str = Field(min_length=1)
    for_: str = Field(default="0s", alias="for", pattern=DURATION)
    labels: dict[str, str]
    annotations: dict[str, str]


class RuleGroup(_Part):
    name: str
    rules: list[AlertRule]


class RuleFile(_Part):
    """The form of a file of rules, as `promtool check rules` wants it, without what our file does not use."""

    groups: list[RuleGroup]


def test_alerts_are_on_metrics_that_there_are(store: Store) -> None:
    rules = [
        rule for group in RuleFile.model_validate(yaml.safe_load(RULES.read_text())).groups for rule in group.rules
    ]
    with served_lab(store) as url:
        exposed = set(metrics_of(url))
    named = {name for rule in rules for name in re.findall(r"zerolap_\w+", rule.expr)}
    assert named
    assert named <= exposed
    assert len({rule.alert for rule in rules}) == len(rules)


def test_documented_metrics_are_those_that_there_are(store: Store) -> None:
    page = (Path(__file__).parents[1] / "docs" / "operation.md").read_text()
    documented = set(re.findall(r"^\| `(zerolap_\w+)`", page, re.MULTILINE))
    with served_lab(store) as url:
        assert documented == set(metrics_of(url))


def test_open_regressions_are_counted_by_platform_and_group_once_on_a_platform(store: Store) -> None:
    step = Step("zadd-100B", 20, 0.03)
    keep(store, MadeUp((step,)))
    keep(store, MadeUp((step,), range="v2.0..HEAD"))
    keep(store, MadeUp((step, Step("hset-100B", 30, 0.04)), platform=ARM))
    keep(store, MadeUp((Step("zadd-100B", 20, 0.03, accepted="needed"),), platform=ARM, range="v2.0..HEAD"))
    with served_lab(store) as url:
        regressions = metrics_of(url)["zerolap_open_regressions"]
    assert regressions == {
        (("group", group), ("platform", platform)): 2
        for platform, group in (("x86", "sorted-set"), ("arm", "sorted-set"), ("arm", "hash"))
    }


def test_what_the_store_takes_is_counted_in_the_background(store: Store) -> None:
    store.blobs.put(os.urandom(5000))
    (store.builds_directory / "b-1").mkdir(parents=True)
    (store.builds_directory / "b-1" / "server").write_bytes(b"x" * 3000)
    with served_lab(store) as url:
        wait_until(lambda: metrics_of(url)["zerolap_store_bytes"])
        sizes = metrics_of(url)["zerolap_store_bytes"]
    assert sizes[("kind", "blobs"),] >= 5000
    assert sizes[("kind", "builds"),] == 3000
    assert sizes[("kind", "mirrors"),] == 0
    assert sizes[("kind", "database"),] >= Path(store.address).stat().st_size > 0


def test_refused_deliveries_are_counted_by_cause(store: Store) -> None:
    sent = delivery("push", pushed())
    with served_lab(store, settings_of_tests()) as url:
        for body in (sent.body, sent.body + b" "):
            request("POST", f"{url}/webhooks/github", dict(sent.headers), content=body)
        counted = metrics_of(url)["zerolap_webhook_deliveries_total"]
        refused = metrics_of(url)["zerolap_refused_requests_total"]
    assert refused[("cause", "unsigned_deliveries"),] == 1
    assert counted[("cause", ""), ("outcome", "admitted")] == 1
    assert counted[("cause", "signature"), ("outcome", "refused")] == 1


def test_a_flood_of_forged_deliveries_does_not_fill_the_log(store: Store) -> None:
    sent = delivery("push", pushed())
    # One more a minute is logged, however long the flood takes here.
    settings = settings_of_tests(TriggerLimits(forged_per_minute_per_address=1))
    with capture_logs() as logs, served_lab(store, settings) as url:
        for header in ({}, {"x-github-event": "NO EVENT"}, {"x-github-delivery": "no id"}):
            for _ in range(100):
                headers = dict(sent.headers) | header
                assert request("POST", f"{url}/webhooks/github", headers, content=b"{}").is_client_error
    assert 0 < len([entry for entry in logs if entry["event"] == "delivery refused"]) < 100


def test_health_shows_triggers_and_agents(store: Store) -> None:
    trigger = PushTrigger(repository="redis/redis", branch="unstable", before=None, after="0" * 40)
    now = time.time()
    failed, waiting = stored_trigger(trigger, "the first", now - 20), stored_trigger(trigger, "the second", 10.0)
    assert store.triggers.add(failed)
    assert store.triggers.add(waiting)
    assert store.triggers.end(failed.id, "failed", "its repository is secret")
    with served_lab(store) as url:
        answer = request("GET", f"{url}/health")
        number_waiting = metrics_of(url)["zerolap_waiting_triggers"]
    health: dict[str, Any] = answer.json()
    assert (answer.status_code, health["state"]) == (HTTPStatus.OK, "degraded")
    assert health["agents"] == {"local": 0}
    assert "no agent of the platform local takes jobs" in health["problems"]
    assert any("a trigger has waited" in problem for problem in health["problems"])
    assert (health["triggers"]["waiting"], health["triggers"]["last_failed"]) == (1, failed.id)
    assert "secret" not in answer.text
    assert number_waiting == {(): 1.0}


def test_json_logs_have_tracebacks() -> None:
    program = (
        "import structlog\nfrom zerolap.cli.logging import set_up_logs\nset_up_logs()\n"
        "import logging\n"
        "try:\n    {}['missing']\n"
        "except KeyError:\n"
        "    structlog.get_logger('t').exception('failed', reason='a reason')\n"
        "    logging.getLogger('library').exception('failed too')\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in ended.stderr.splitlines()]
    assert [line["event"] for line in lines] == ["failed", "failed too"]
    for line in lines:
        assert "Traceback (most recent call last)" in line["exception"]
        assert "KeyError: 'missing'" in line["exception"]
    assert lines[0]["reason"] == "a reason"
