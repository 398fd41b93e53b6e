"""A version table: what each command has gained and lost since each release of a range."""

from typing import Final, Literal

from pydantic import Field

from zerolap.records.base import Record
from zerolap.records.history import BoundedChange
from zerolap.records.platform import Platform
from zerolap.records.weights import StatedWeights

VERSION_TABLE_SCHEMA: Final = "zerolap.version-table/1"


class TableVersion(Record):
    """A column: a release, or the last commit. `failure` is why it could not be built, or not be measured in full."""

    name: str
    commit: str
    time: str
    failure: str | None = None


class TableChange(Record):
    """A change from one version to a later one: as a whole, and its parts where they are known.

    `build` is the part of other flags and another allocator, `code` that of the code: multiplied as factors, both make
    up the whole.
    """

    whole: BoundedChange
    code: BoundedChange | None = None
    build: BoundedChange | None = None


class TableCell(Record):
    """A case at a version: the change from it to the last version, and that from the version before to it.

    Either is null where it is not measured. `value` is the metric itself, null for time, of which only contrasts are
    known.
    """

    since: TableChange | None
    step: TableChange | None
    value: float | None = None


class TableCause(Record):
    """The largest change of a case between the two versions of the headline, in the direction of their difference."""

    after: str
    commit: str
    subject: str
    author: str = ""
    change: float
    reasons: tuple[str, ...]


class TableRow(Record):
    """A case; `weight` is its part of all weights. `cells` has an entry for each version."""

    case: str
    group: str
    commands: tuple[str, ...]
    weight: float
    cells: tuple[TableCell, ...]
    cause: TableCause | None = None


class TableTotal(Record):
    """The weighted geometric mean over the cases that are measured at a version and have a weight.

    `since_cases` and `step_cases` are how many these are.
    """

    since: TableChange | None
    since_cases: int
    step: TableChange | None
    step_cases: int


class TableCommand(Record):
    """The cases that send the same commands; `totals` has an entry for each version."""

    commands: tuple[str, ...]
    cases: tuple[str, ...]
    weight: float
    totals: tuple[TableTotal, ...]


class BuildDifference(Record):
    """Two neighbouring versions that are built differently.

    `words` are the differences. `variant` is the one in which the code of `after` is built as that of `version` is;
    null where no variant can express any of them. `not_split` are the differences that count as code.
    """

    after: str
    version: str
    words: tuple[str, ...]
    variant: str | None
    not_split: tuple[str, ...] = ()


class VersionTable(Record):
    """The document of `zerolap history table --json`.

    `since` is the index of the version that the headline begins at; it ends at the last one.
    """

    schema_: Literal["zerolap.version-table/1"] = Field(
        default=VERSION_TABLE_SCHEMA, alias="schema", serialization_alias="schema"
    )
    created: str
    command_line: str
    repository: str
    range: str
    variant: str
    config: dict[str, str]
    platform: Platform
    metric: str
    weights: StatedWeights
    since: int
    versions: tuple[TableVersion, ...]
    rows: tuple[TableRow, ...]
    commands: tuple[TableCommand, ...]
    totals: tuple[TableTotal, ...]
    builds: tuple[BuildDifference, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def weighted_cases(self) -> int:
        """How many cases have a weight."""
        return sum(row.weight > 0.0 for row in self.rows)

    @property
    def measured_rows(self) -> list[TableRow]:
        """The cases that are measured at both versions of the headline."""
        return [row for row in self.rows if row.cells[self.since].since is not None]
