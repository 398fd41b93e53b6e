"""What agents note outside the store: which trials they executed, and which results they were told to be accepted."""

import hashlib
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zerolap.engines import Place
from zerolap.fleet.bus import JetStreamLink
from zerolap.fleet.setup.credentials import AgentCredentials
from zerolap.lab import Worker
from zerolap.records import BuildDone, BuildJob, Event, JobFailed, JobFinished, TrialDone, TrialsJob

Line = dict[str, Any]
TrialKey = tuple[str, int, str]
"""Job, block and side."""


def digest_of_metrics(metrics: dict[str, float]) -> str:
    """Return what tells measurements apart."""
    return hashlib.sha256(json.dumps(sorted(metrics.items())).encode()).hexdigest()[:32]


class LedgerFile:
    """A file to which lines are added that outlive the process and the machine."""

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def write(self, what: str, **line: object) -> None:
        """Add a line."""
        document = {"what": what, "time": time.time(), **line}
        os.write(self._handle, json.dumps(document).encode() + b"\n")
        os.fsync(self._handle)


class LedgerWorker(Worker):
    """A worker that notes what it has executed before anyone else hears of it."""

    def __init__(self, ledger: LedgerFile) -> None:
        super().__init__()
        self._ledger = ledger

    def carry_out(self, job: BuildJob | TrialsJob, place: Place) -> Iterator[Event]:
        """Execute a job and yield what happens."""
        self._ledger.write("began", job=job.id)
        for event in super().carry_out(job, place):
            match event:
                case TrialDone():
                    for side, measurement in event.measurements.items():
                        digest = digest_of_metrics(measurement.metrics)
                        self._ledger.write("executed", job=job.id, block=event.block, side=side, digest=digest)
                case BuildDone():
                    self._ledger.write("built", job=job.id, build=event.build.build)
                case JobFailed():
                    self._ledger.write("failed", job=job.id, reason=event.reason)
                case JobFinished():
                    self._ledger.write("finished", job=job.id)
            yield event


class LedgerLink(JetStreamLink):
    """A connection that notes the reports that the conductor has accepted."""

    ledger: LedgerFile

    async def ask(self, content: bytes, seconds: float) -> bytes | None:
        """Send a message to the conductor and return its answer."""
        answer = await super().ask(content, seconds)
        message = json.loads(content)
        if answer is not None and message["message"] == "report" and json.loads(answer)["accepted"]:
            self.ledger.write("told", report=message)
        return answer

    @classmethod
    async def connect(cls, credentials: AgentCredentials) -> "LedgerLink":
        """Connect as an agent."""
        link = await super().connect(credentials)
        assert isinstance(link, LedgerLink)
        return link


@dataclass
class Ledger:
    """The ledgers of all agents, by agent."""

    lines: dict[str, list[Line]] = field(default_factory=dict)

    @classmethod
    def read(cls, directory: Path) -> "Ledger":
        """Read the files of a directory."""
        return cls({path.stem: read_lines(path) for path in sorted(directory.glob("*.jsonl"))})

    def of_kind(self, what: str) -> list[Line]:
        """Return the lines of a kind, of all agents."""
        return [line for lines in self.lines.values() for line in lines if line["what"] == what]

    @property
    def executed(self) -> dict[TrialKey, list[str]]:
        """The digests of all executions of each trial."""
        executed: dict[TrialKey, list[str]] = {}
        for line in self.of_kind("executed"):
            executed.setdefault((line["job"], line["block"], line["side"]), []).append(line["digest"])
        return executed

    @property
    def told(self) -> set[TrialKey]:
        """The trials that agents were told to be recorded."""
        events = [line["report"]["event"] for line in self.of_kind("told")]
        return {
            (event["job"], event["block"], side)
            for event in events
            if event["event"] == "trial_done"
            for side in event["measurements"]
        }

    @property
    def told_builds(self) -> set[str]:
        """The builds that agents were told to be recorded."""
        events = [line["report"]["event"] for line in self.of_kind("told")]
        return {event["build"]["build"] for event in events if event["event"] == "build_done"}


def read_lines(path: Path) -> list[Line]:
    """Return the lines of one ledger; its process may have been killed while it wrote the last."""
    if not path.exists():
        return []
    *whole, _ = path.read_text().split("\n")
    return [json.loads(line) for line in whole]
