"""What `/api/v1` answers with; the names are stable."""

from datetime import UTC, datetime
from typing import Annotated, Final, Literal

from pydantic import Field

from zerolap.records import BASE, HEAD, AttemptState, Priority, Record, RequestState, Summary
from zerolap.store import KnownAgent, NamedSource, RequestInShort, StoredRow, StoredTrigger, TriggerState

UNREADABLE: Final = NamedSource("unreadable", None)

State = Annotated[RequestState, Field(description="How it stands; the last four are ends.")]


class ServerLink(Record):
    """A side of a comparison; `commit` is none for what is no revision."""

    name: str = Field(examples=["0f1e2d3c4b5a"])
    commit: str | None


class ComparisonLinks(Record):
    """Where else a comparison is found; relative to the lab, or with its address where the settings have it."""

    self: str
    report: str = Field(description="The one-file HTML report.")
    document: str = Field(description="The document of schema zerolap.comparison/1.")
    markdown: str
    cancel: str


class JobProgress(Record):
    """Jobs by state. More are given out as results come in: there is no total before the end."""

    jobs: dict[AttemptState, int] = Field(examples=[{"done": 7, "claimed": 1}])


class ComparisonResource(Record):
    """A comparison on one platform that was submitted; times are in UTC. `summary` is there once it is done."""

    id: str = Field(examples=["c-9f5a06d1a4d7082cc3a3b40d"])
    platform: str = Field(examples=["arm"])
    state: State
    reason: str = Field(description="Why it waits, has failed, or was ended.")
    created: datetime
    ended: datetime | None
    priority: Priority
    topic: str
    cause: str = Field(description="What it was submitted for.", examples=["asked by ci"])
    base: ServerLink
    head: ServerLink
    summary: Summary | None
    links: ComparisonLinks


class ComparisonDetails(ComparisonResource):
    """A comparison with its progress."""

    progress: JobProgress


class ComparisonList(Record):
    """The newest comparisons, the newest first; `cursor` is that of the next ones, none where there are no more."""

    comparisons: tuple[ComparisonResource, ...]
    cursor: str | None


class TriggerLinks(Record):
    """Where a trigger is found, and the comparisons that it has led to."""

    self: str
    comparisons: tuple[str, ...]


class TriggerResource(Record):
    """Something that has caused work, or is going to: `comparisons` are known once it is done."""

    id: str = Field(examples=["t-5b8f0c1d2e3f4a5b6c7d8e9f"])
    kind: str = Field(examples=["asked"])
    repository: str
    subject: str = Field(examples=["redis/redis:ci/nightly"])
    actor: str | None
    state: TriggerState
    reason: str
    created: datetime
    comparisons: tuple[str, ...]
    links: TriggerLinks


class PlatformResource(Record):
    """A platform that is served; `agents` is how many have reported for it."""

    name: str
    builder: str
    agents: int


class PlatformList(Record):
    """All platforms, by name."""

    platforms: tuple[PlatformResource, ...]


class AgentResource(Record):
    """An agent; `refusal` is why it is given no jobs."""

    name: str
    lab: str
    platform: str
    seen: datetime
    draining: bool
    refusal: str | None


class AgentList(Record):
    """All agents that have ever reported, by name."""

    agents: tuple[AgentResource, ...]


class Ended(Record):
    """A comparison that was ended on request."""

    id: str
    state: Literal["cancelled"] = "cancelled"


def comparison_fields(asked: RequestInShort, recorded: StoredRow | None, address: str) -> dict[str, object]:
    """Return the fields of a comparison; `address` is where the lab is reached, empty for relative links."""
    of_api, of_pages = f"{address}/api/v1/comparisons/{asked.id}", f"{address}/comparisons/{asked.id}"
    return {
        "id": asked.id,
        "platform": asked.platform,
        "state": asked.state,
        "reason": asked.reason or asked.unreadable,
        "created": moment(asked.submitted),
        "ended": None if asked.ended is None else moment(asked.ended),
        "priority": asked.priority,
        "topic": asked.topic,
        "cause": asked.trigger,
        "base": _side(asked.sides.get(BASE, UNREADABLE)),
        "head": _side(asked.sides.get(HEAD, UNREADABLE)),
        "summary": recorded.summary if recorded is not None and asked.state == "done" else None,
        "links": ComparisonLinks(
            self=of_api,
            report=of_pages,
            document=f"{of_pages}.json",
            markdown=f"{of_pages}.md",
            cancel=f"{of_api}/cancel",
        ),
    }


def trigger_resource(stored: StoredTrigger, address: str) -> TriggerResource:
    """Return a trigger as the API shows it."""
    comparisons = [f"{address}/api/v1/comparisons/{identity}" for identity in stored.requests]
    return TriggerResource.taken_from(
        stored,
        created=moment(stored.created),
        comparisons=stored.requests,
        links=TriggerLinks(self=f"{address}/api/v1/triggers/{stored.id}", comparisons=tuple(comparisons)),
    )


def agent_resource(agent: KnownAgent) -> AgentResource:
    """Return an agent as the API shows it."""
    return AgentResource.taken_from(agent, seen=moment(agent.seen))


def moment(seconds: float) -> datetime:
    """Return a time in seconds since the epoch as the API writes it."""
    return datetime.fromtimestamp(int(seconds), UTC)


def _side(side: NamedSource) -> ServerLink:
    return ServerLink(name=side.name, commit=side.commit)
