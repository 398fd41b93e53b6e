"""What a page of a comparison or a run begins with."""

from pydantic import Field

from zerolap.records import Record
from zerolap.sheets.sheet import Sheet


class ListedCase(Record):
    """A case by what it is chosen; its row is the one of its number in the table of the section `cases`."""

    case: str
    commands: list[str]
    group: str
    outcomes: list[str]
    metrics: list[str] = Field(default_factory=list)
    engines: list[str] = Field(default_factory=list)


class CaseList(Record):
    """A comparison or a run with a row a case; `subject` is what was measured, on which platform."""

    subject: str
    command_line: str
    engines: list[str]
    sheet: Sheet
    cases: list[ListedCase]
