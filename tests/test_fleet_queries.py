"""The queries of fleet, platforms and triggers, in each database."""

from collections.abc import Iterator

import pytest
from api_client import request
from demonstrated_lab import Demonstration
from http_server import served_lab
from made_records import a_case, a_time, a_work
from stored_comparison import COMPARISON, ID, recorded_comparison

from zerolap.demonstration import ARM, X86
from zerolap.errors import UsageError
from zerolap.github import site_of
from zerolap.queries import (
    FLEET,
    JOB_FAILURE,
    OVERVIEW,
    PLATFORM,
    PLATFORM_PAIR,
    PLATFORMS,
    TRIGGERS,
    PageQuery,
    QuerySources,
)
from zerolap.queries.fleet_state import FleetState, JobFailure
from zerolap.queries.overview import Overview
from zerolap.queries.platform_details import PlatformDetails, PlatformListing, PlatformPair, share_bounds
from zerolap.queries.trigger_list import TriggerList
from zerolap.records import CaseResult
from zerolap.store import KnownAgent, Store, StoredDelivery, StoredTrigger
from zerolap.triggers.settings import GitHubSettings, LabSettings, TriggerSettings


def answer(query: PageQuery, store: Store, **parameters: object) -> object:
    return answer_beside(None, query, store, **parameters)


def answer_beside(site: str | None, query: PageQuery, store: Store, **parameters: object) -> object:
    """Return an answer of a lab whose GitHub has its pages at `site`."""
    return query.read(QuerySources(store, site), query.parameters.model_validate(parameters))


def fleet_of(store: Store) -> FleetState:
    shown = answer(FLEET, store)
    assert isinstance(shown, FleetState)
    return shown


def platform_of(store: Store, fingerprint: str) -> PlatformDetails:
    shown = answer(PLATFORM, store, fingerprint=fingerprint)
    assert isinstance(shown, PlatformDetails)
    return shown


def platform_pair_of(store: Store) -> PlatformPair:
    """Lay the only platform beside itself."""
    fingerprint = COMPARISON.platform.fingerprint
    shown = answer(PLATFORM_PAIR, store, fingerprint=fingerprint, other=fingerprint)
    assert isinstance(shown, PlatformPair)
    return shown


@pytest.fixture(scope="module")
def made_up(demonstration: Demonstration, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with demonstration.opened_in(tmp_path_factory.mktemp("demonstration") / "store") as store:
        yield store


def test_an_empty_lab_has_an_empty_fleet(either_store: Store) -> None:
    shown = fleet_of(either_store)
    assert (shown.agents, shown.held, shown.lost, shown.requests) == ((), (), (), ())
    triggers = answer(TRIGGERS, either_store)
    assert isinstance(triggers, TriggerList)
    assert (triggers.triggers, triggers.cursor) == ((), None)
    with pytest.raises(UsageError, match="knows no platform"):
        platform_of(either_store, "nobody")


def test_an_agent_is_shown_with_what_it_runs_and_since_when(made_up: Store) -> None:
    shown = fleet_of(made_up)
    agents = {agent.name: agent for agent in shown.agents}
    busy = agents["arm-agent-b"]
    assert busy.state == "busy"
    assert busy.runs is not None
    assert busy.since == busy.runs.since
    assert busy.runs == next(job for job in shown.held if job.agent == "arm-agent-b")
    assert busy.runs.request in {request.id for request in shown.requests if request.is_open}
    assert agents["x86-agent-b"].state == "refused"
    assert "kernel" in agents["x86-agent-b"].refusal
    assert (agents["arm-agent-a"].state, agents["arm-agent-a"].draining) == ("draining", True)
    assert (agents["x86-agent-c"].state, agents["x86-agent-c"].since) == ("gone", agents["x86-agent-c"].seen)
    assert agents["x86-agent-c"].fingerprint in {platform.fingerprint for platform in made_up.platform_records.listed()}


def test_queues_and_lost_jobs_are_shown(made_up: Store) -> None:
    shown = fleet_of(made_up)
    queues = {queue.platform: queue for queue in shown.queues}
    assert queues[ARM].held == 1
    assert queues[ARM].waiting >= 1
    assert queues[ARM].oldest
    assert {job.state for job in shown.lost} == {"failed", "given up"}
    failed = next(job for job in shown.lost if job.state == "failed")
    failure = answer(JOB_FAILURE, made_up, job=failed.job)
    assert isinstance(failure, JobFailure)
    assert failure.reason
    with pytest.raises(UsageError, match="no failure"):
        answer(JOB_FAILURE, made_up, job="j-0")


def test_requests_are_listed_by_when_they_were_asked_for(made_up: Store) -> None:
    asked = [request.submitted for request in fleet_of(made_up).requests]
    assert asked == sorted(asked, reverse=True)


def test_the_overview_counts_agents_as_the_fleet_has_them(made_up: Store) -> None:
    overview = answer(OVERVIEW, made_up)
    assert isinstance(overview, Overview)
    states = [agent.state for agent in fleet_of(made_up).agents]
    health = overview.fleet
    assert (health.agents, health.gone) == (len(states), states.count("gone"))
    assert (health.draining, health.refused) == (states.count("draining"), states.count("refused"))


def test_an_agent_whose_report_cannot_be_read_is_shown(either_store: Store) -> None:
    either_store.fleet.saw_agents([KnownAgent("old", "lab", "here", '{"protocol": [', 1.0, refusal="another version")])
    [agent] = fleet_of(either_store).agents
    assert (agent.state, agent.refusal, agent.cpu, agent.fingerprint) == ("refused", "another version", "", "")


def test_the_facts_of_a_platform_are_compared_over_time(made_up: Store) -> None:
    listed = answer(PLATFORMS, made_up)
    assert isinstance(listed, PlatformListing)
    for platform in listed.platforms:
        shown = platform_of(made_up, platform.fingerprint)
        assert len(shown.changes) == platform.states - 1
        assert all(change.before != change.after for state in shown.changes for change in state.changes)
        assert any(fact.name == "kernel" and fact.value == platform.kernel for fact in shown.facts)
        assert shown.spreads
        assert all(0 < spread.standard_deviation < 1 for spread in shown.spreads)


def test_two_platforms_are_laid_side_by_side_by_commits(made_up: Store) -> None:
    by_name = {platform.name: platform.fingerprint for platform in made_up.platform_records.listed()}
    pair = answer(PLATFORM_PAIR, made_up, fingerprint=by_name[ARM], other=by_name[X86])
    assert isinstance(pair, PlatformPair)
    assert "kernel" in {change.name for change in pair.facts}
    assert pair.comparisons > 0
    for case in pair.cases:
        here, there = (made_up.comparison(result.comparison) for result in (case.here, case.there))
        assert (here.base.commit, here.head.commit) == (there.base.commit, there.head.commit)
        assert (here.platform.name, there.platform.name) == (ARM, X86)
        assert case.here.metric == case.there.metric or case.agreement == "invalid"
    order = [case.agreement for case in pair.cases]
    assert order == sorted(order, key=["different", "invalid", "same"].index)
    assert pair.agreements == {word: order.count(word) for word in ("different", "invalid", "same")}
    assert pair.agreements["different"] > 0
    assert pair.agreements["invalid"] > 0


def judged(name: str, work: str, time: str) -> CaseResult:
    """Return a case whose time was judged though its work may be identical."""
    return a_case(name, a_work(work, 0.0), a_time(time, 0.04))


def test_alarms_for_identical_code_are_counted(either_store: Store) -> None:
    head = COMPARISON.head.model_copy(update={"build": "b-other"})
    cases = [
        judged("quiet", "identical", "same"),
        judged("alarm", "identical", "regression"),
        judged("real", "regression", "regression"),
    ]
    recorded_comparison(either_store, head=head, cases=cases)
    shown = platform_of(either_store, COMPARISON.platform.fingerprint)
    [count] = shown.false_alarm_counts
    assert (count.same_build, count.comparisons, count.timed, count.alarms, count.confirmed_alarms) == (
        False,
        1,
        2,
        1,
        1,
    )
    assert count.low < 0.5 < count.high
    assert platform_pair_of(either_store).comparisons == 1
    [alarm] = shown.false_alarms
    assert (alarm.comparison, alarm.case, alarm.metric, alarm.change) == (ID, "alarm", "cpu_ns_per_op", 0.04)


def test_every_change_between_a_build_and_itself_is_a_false_alarm(either_store: Store) -> None:
    recorded_comparison(either_store, head=COMPARISON.base, cases=[judged("alarm", "same", "improvement")])
    [count] = platform_of(either_store, COMPARISON.platform.fingerprint).false_alarm_counts
    assert (count.same_build, count.timed, count.alarms) == (True, 1, 1)


def test_a_share_has_an_interval_also_at_its_ends() -> None:
    # Wilson (1927), as R's binom::binom.wilson has them.
    assert share_bounds(0, 10) == pytest.approx((0.0, 0.2775328), abs=1e-6)
    assert share_bounds(5, 10) == pytest.approx((0.2365931, 0.7634069), abs=1e-6)
    assert share_bounds(0, 0) == (0.0, 1.0)


def test_triggers_are_listed_by_pages_and_filters(made_up: Store) -> None:
    whole = answer(TRIGGERS, made_up, limit=200)
    assert isinstance(whole, TriggerList)
    seen, cursor = [], None
    while True:
        page = answer(TRIGGERS, made_up, limit=7, **({} if cursor is None else {"cursor": cursor}))
        assert isinstance(page, TriggerList)
        seen += page.triggers
        cursor = page.cursor
        if cursor is None:
            break
    assert tuple(seen) == whole.triggers
    assert sum(whole.counts.values()) == len(whole.triggers)
    refused = answer(TRIGGERS, made_up, state="refused")
    assert isinstance(refused, TriggerList)
    assert {trigger.state for trigger in refused.triggers} == {"refused"}
    assert all(trigger.reason for trigger in refused.triggers)
    nothing = answer(TRIGGERS, made_up, repository="nobody/nothing")
    assert isinstance(nothing, TriggerList)
    assert nothing.triggers == ()
    alone = answer(TRIGGERS, made_up, trigger=whole.triggers[-1].id)
    assert isinstance(alone, TriggerList)
    assert alone.triggers == whole.triggers[-1:]
    led = next(trigger for trigger in whole.triggers if trigger.requests)
    assert led.request_count == len(led.requests)
    assert any(request.outcomes for request in led.requests)


def test_triggers_of_a_pull_request_are_listed(either_store: Store) -> None:
    subjects = ("Redis/Redis#12", "redis/redis#112", "redis/redis@topic#12", "other/server#12")
    for place, subject in enumerate(subjects):
        repository = subject.partition("#")[0].partition("@")[0]
        either_store.triggers.add(StoredTrigger(f"t-{place}", repository, subject.lower(), "pull request", "{}"))
    of_number, of_repository, none = (
        answer(TRIGGERS, either_store, **asked)
        for asked in ({"number": 12}, {"number": 12, "repository": "Redis/Redis"}, {"number": 1})
    )
    assert isinstance(of_number, TriggerList)
    assert [trigger.id for trigger in of_number.triggers] == ["t-3", "t-0"]
    assert isinstance(of_repository, TriggerList)
    assert [trigger.id for trigger in of_repository.triggers] == ["t-0"]
    assert isinstance(none, TriggerList)
    assert none.triggers == ()


def test_pull_requests_are_linked_to_at_the_github_of_the_lab(either_store: Store) -> None:
    records = either_store.triggers
    for place, (repository, subject) in enumerate(
        [("Redis/Redis", "redis/redis#12"), ("redis/redis", "redis/redis@unstable"), ("x/..", "x/..#1")]
    ):
        trigger = StoredTrigger(f"t-{place}", repository, subject, "pull request", "{}", delivery=f"d-{place}")
        assert records.add(trigger, StoredDelivery(f"d-{place}", repository, f"{place}"))
    records.add(StoredTrigger("t-3", "redis/redis", "redis/redis#13", "asked", "{}"))

    def links(site: str | None) -> dict[str, str | None]:
        listed = answer_beside(site, TRIGGERS, either_store)
        assert isinstance(listed, TriggerList)
        return {trigger.id: trigger.pull_request for trigger in listed.triggers}

    address = "https://github.example.com/Redis/Redis/pull/12"
    assert links("https://github.example.com") == {"t-0": address, "t-1": None, "t-2": None, "t-3": None}
    assert set(links(None).values()) == {None}


@pytest.mark.parametrize(
    ("api_url", "site"),
    [
        ("https://api.github.com", "https://github.com"),
        ("https://github.example.com/api/v3/", "https://github.example.com"),
        ("https://api.octo.ghe.com", "https://octo.ghe.com"),
        ("https://api.example.com", None),
        ("https://api.octo.ghe.com/other", None),
        ("http://127.0.0.1:8080", None),
    ],
)
def test_the_pages_of_a_github_follow_from_its_api(api_url: str, site: str | None) -> None:
    assert site_of(api_url) == site


def test_a_lab_links_to_the_github_of_its_settings(store: Store) -> None:
    store.triggers.add(
        StoredTrigger("t-0", "a/b", "a/b#12", "pull request", "{}", delivery="d"), StoredDelivery("d", "a/b", "0")
    )
    settings = TriggerSettings(
        lab=LabSettings(reports="public"), github=GitHubSettings(api_url="https://github.example.com/api/v3")
    )
    with served_lab(store, settings) as url:
        [listed] = request("GET", f"{url}/api/v1/pages/triggers").json()["triggers"]
    assert listed["pull_request"] == "https://github.example.com/a/b/pull/12"
