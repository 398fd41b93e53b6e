"""Submissions: from a question to what a conductor is asked for, and to a request once the servers are built."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from zerolap.build import pack_source
from zerolap.cases import quick_factor, scaled
from zerolap.lab.requests import Question, case_notes, new_id, now, refuse_conflicts
from zerolap.lab.selection import select_possible
from zerolap.records import (
    Abilities,
    ArchiveSource,
    BuildSpec,
    EndpointSource,
    Platform,
    Priority,
    Request,
    RequestedServer,
    Side,
    Submission,
    SubmittedServer,
    UsageError,
)
from zerolap.store import Store


@dataclass(frozen=True)
class Wish:
    """Where a question is to be answered: on which platforms, and before what else.

    A newer submission with the same `topic`, if that is not empty, supersedes this one.
    """

    platforms: Sequence[str]
    priority: Priority = "pull"
    topic: str = ""
    trigger: str = "command line"


def submit(question: Question, wish: Wish, store: Store) -> list[Submission]:
    """Record a submission for each platform and return them; their sources are put into the blobs of the store.

    Raises `UsageError` for a source that cannot travel, or settings that contradict the topology of a case.
    """
    refuse_conflicts(question)
    servers = {}
    for side, server in question.servers.items():
        if isinstance(server.source, EndpointSource):
            raise UsageError(
                f"`{server.source.name}` is a running server: agents build and start servers themselves",
                hint="give a binary, a source tree or a revision, or leave --platform out",
            )
        source = server.source
        if not isinstance(source, ArchiveSource):
            source = pack_source(source, store.blobs)
        servers[side] = SubmittedServer(source=source, variant=server.variant.name, config=dict(server.config))
    submissions = [
        Submission(
            id=new_id("c" if question.kind == "compare" else "r"),
            kind=question.kind,
            created=now(),
            command_line=question.command_line,
            servers=servers,
            cases=tuple(question.cases),
            settings=question.settings,
            platform=platform,
            priority=wish.priority,
            topic=wish.topic,
            trigger=wish.trigger,
            all_stacks=question.all_stacks,
            notes=tuple(question.notes),
        )
        for platform in wish.platforms
    ]
    for submission in submissions:
        store.fleet.submit(submission)
    return submissions


@dataclass(frozen=True)
class KnownPlatform:
    """A platform as its agents describe it, under the name that submissions give it."""

    platform: Platform
    memory_bytes: int


def request_of_submission(
    submission: Submission,
    specs: Mapping[Side, BuildSpec],
    abilities: Sequence[Abilities],
    known: KnownPlatform,
) -> Request:
    """Return the request that a submission comes to on a platform, now that its servers are built."""
    settings = submission.settings
    together = functools.reduce(Abilities.together_with, abilities)
    selection = select_possible(submission.cases, together, quick=settings.quick, memory_bytes=known.memory_bytes)
    cases = selection.cases
    if settings.quick:
        cases = [scaled(case, quick_factor(case)) for case in cases]
    return Request(
        id=submission.id,
        kind=submission.kind,
        created=submission.created,
        command_line=submission.command_line,
        servers={
            side: RequestedServer(source=server.source, variant=server.variant, spec=specs[side], config=server.config)
            for side, server in submission.servers.items()
        },
        cases=tuple(cases),
        settings=settings,
        platform=known.platform.model_copy(update={"name": submission.platform}),
        all_stacks=submission.all_stacks,
        skipped=tuple(selection.skipped),
        notes=(*submission.notes, *case_notes(cases, settings.engines)),
        platforms=(submission.platform,),
        trigger=submission.trigger,
    )
