"""One comparison on one platform: the stable document behind `--json`."""

from typing import Literal, TypeAlias

from pydantic import Field

from zerolap.records.base import Record
from zerolap.records.build import MeasuredServer
from zerolap.records.finding import Finding
from zerolap.records.measurement import Validity
from zerolap.records.platform import Platform
from zerolap.records.skipped import Skipped
from zerolap.records.verdict import Verdict, WorkWord

COMPARISON_SCHEMA = "zerolap.comparison/1"

CaseVerdict: TypeAlias = Literal["regression", "improvement", "same", "unsure", "invalid"]


class Settings(Record):
    """What the comparison was asked to do; `min_effect` by engine, as a fraction.

    `load_policy` says whose oddities the load generator kept: nobody's (`lab`), as without its `--compat`. `load_tool`
    is the program that the engine `loaded` uses, all others use the lab's own.
    """

    engines: list[str]
    min_effect: dict[str, float]
    q: float
    budget_seconds: float | None
    seed: int
    quick: bool = False
    load_policy: Literal["lab"] = "lab"
    load_tool: str = "zerolap-load"


class Summary(Record):
    """Cases by verdict, and the seconds of machine time that trials took."""

    regression: int
    improvement: int
    same: int
    unsure: int
    invalid: int
    machine_seconds: float


class CaseResult(Record):
    """What a comparison concludes for a case; an invalid one has no verdicts.

    `deciding` is the metric whose verdict decided the case's, none for an invalid one. `work` is `identical` where both
    sides execute the same instructions.
    """

    case: str
    commands: list[str]
    group: str
    topology: str
    verdict: CaseVerdict
    deciding: str | None = None
    work: WorkWord | None = None
    confirmed: bool
    validity: Validity
    verdicts: list[Verdict]
    findings: list[Finding]
    failure: str | None = None


class Comparison(Record):
    """The document of one comparison."""

    schema_: str = Field(default=COMPARISON_SCHEMA, alias="schema", serialization_alias="schema")
    id: str
    created: str
    command_line: str
    state: Literal["running", "done", "interrupted", "failed"]
    base: MeasuredServer
    head: MeasuredServer
    platform: Platform
    settings: Settings
    summary: Summary
    notes: list[str] = []
    cases: list[CaseResult]
    skipped: list[Skipped] = []
