"""Submissions: what a conductor is asked to measure on a platform, before anything is built."""

from typing import Final, Literal, TypeAlias

from pydantic import Field

from zerolap.records.base import Record
from zerolap.records.case import Case
from zerolap.records.comparison import Settings
from zerolap.records.revision import ArchiveSource
from zerolap.records.trial import Side

SUBMISSION_SCHEMA: Final = "zerolap.submission/1"

Priority: TypeAlias = Literal["release", "pull", "backfill"]
"""Releases are served before pull requests, and these before backfills."""

SubmissionState: TypeAlias = Literal["waiting", "running", "done", "failed", "cancelled", "superseded"]


class SubmittedServer(Record):
    """A server of a submission: its source as it travels, its variant, and the user's settings."""

    source: ArchiveSource
    variant: str
    config: dict[str, str] = {}


class Submission(Record):
    """A comparison or run that is asked for on one platform, known by its name.

    `id` is also that of the request and of the document that it leads to. `cases` are not selected yet: what can be
    measured is known once the servers are built. A newer submission of the same `topic`, if that is not empty,
    supersedes an older one on the same platform. `trigger` is what caused it.
    """

    schema_: Literal["zerolap.submission/1"] = Field(default=SUBMISSION_SCHEMA, alias="schema")
    id: str
    kind: Literal["compare", "run"]
    created: str
    command_line: str
    servers: dict[Side, SubmittedServer]
    cases: tuple[Case, ...]
    settings: Settings
    platform: str
    priority: Priority = "pull"
    topic: str = ""
    trigger: str = "command line"
    all_stacks: bool = False
    notes: tuple[str, ...] = ()
