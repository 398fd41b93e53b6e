"""Runs: a single server measured, the document of `zerolap run --json`."""

from pydantic import Field

from zerolap.records.base import Record
from zerolap.records.build import MeasuredServer
from zerolap.records.comparison import Settings
from zerolap.records.measurement import Validity
from zerolap.records.platform import Platform
from zerolap.records.skipped import Skipped
from zerolap.records.traced_case import TracedSide

RUN_SCHEMA = "zerolap.run/1"


class FunctionCost(Record):
    """A function's own instructions, calls and sampled time per request, each null if it was not measured.

    `share` is its part of the case's sampled time, or of the instructions if the case was not sampled.
    """

    function: str
    file: str | None
    self_instructions_per_op: float | None = None
    calls_per_op: float | None = None
    self_cpu_ns_per_op: float | None = None
    share: float


class RunCase(Record):
    """One case of a run: the metrics' means over its trials and the functions that cost most.

    `limits` are the parts that could not be measured, and why. `traced` is null where nothing was traced.
    """

    case: str
    commands: list[str]
    group: str
    topology: str
    validity: Validity
    metrics: dict[str, float]
    functions: list[FunctionCost]
    samples: int
    limits: list[str] = []
    traced: TracedSide | None = None
    failure: str | None = None


class RunReport(Record):
    """The document of one run."""

    schema_: str = Field(default=RUN_SCHEMA, alias="schema", serialization_alias="schema")
    id: str
    created: str
    command_line: str
    server: MeasuredServer
    platform: Platform
    settings: Settings
    machine_seconds: float
    notes: list[str] = []
    cases: list[RunCase]
    skipped: list[Skipped] = []

    @property
    def measured_cases(self) -> list[RunCase]:
        """The cases with a result: those that are valid and did not fail."""
        return [case for case in self.cases if case.validity.valid and case.failure is None]
