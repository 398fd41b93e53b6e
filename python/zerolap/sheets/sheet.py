"""A document as it is shown: title, facts, sentences, tables, stacks and notes, the same for every writer.

A sheet holds text as it is read: each figure is rounded, has its unit and stands in its sentence. Text may come from
the code under test; each writer guards it for where it is shown. What stands in backticks in a sentence is a name.
"""

from collections.abc import Container
from typing import Final, Literal, TypeAlias

from pydantic import Field

from zerolap.records import Bound, Record

PUNCTUATION: Final = "([{\"'.,;:!?)]}"

Mark: TypeAlias = Literal[
    "regression",
    "improvement",
    "unsure",
    "failed",
    "invalid",
    "same",
    "identical",
    "worse",
    "better",
    "warning",
    "strong",
    "quiet",
]
"""What a text stands for: an outcome, shown with its sign; `worse` and `better`, shown by colour alone; an emphasis."""


class DrawnChange(Record):
    """A change as a page draws it: fractions, the largest that counts as none, and the values of both sides."""

    change: Bound
    low: Bound
    high: Bound
    least: float
    values: str


class Cell(Record):
    """A cell of a table; `link` is the address of a page of the lab, relative to its root.

    `detail` stands behind the text, such as the interval of a change; it is left out where there is little room.
    `is_part` is set in the first cell of a row that is a part of the row above it, such as a case of a command.
    `order` is what a reader can sort rows by, the largest first; without, they are sorted by the text.
    """

    text: str = ""
    detail: str = ""
    is_name: bool = False
    is_part: bool = False
    mark: Mark | None = None
    link: str | None = None
    order: float | None = None
    drawn: DrawnChange | None = None


class Column(Record):
    """A column of a table.

    `rank` is by which columns are left out where there is little room: the highest goes first, 0 always stays.
    `detail` of the heading is left out before.
    """

    key: str
    heading: str
    detail: str = ""
    unit: str = ""
    is_number: bool = False
    rank: int = 0
    has_name: bool = False
    """Whether the heading is a name, such as that of a version."""
    is_code: bool = False
    """Whether it has lines of code, whose spaces count; it is the last column then."""

    @property
    def title(self) -> str:
        """The heading with its detail and its unit."""
        heading = f"{self.heading}: {self.detail}" if self.detail else self.heading
        return f"{heading}, {self.unit}" if self.unit else heading


class Table(Record):
    """A table; `left_out` is how many rows are not in it, `remark` stands below it."""

    key: str = ""
    heading: str = ""
    columns: list[Column]
    rows: list[list[Cell]]
    left_out: int = 0
    remark: str = ""


class WebLink(Record):
    """An address outside of the lab, such as that of changed lines; names in its text stand in backticks."""

    text: str
    address: str


class Sentence(Record):
    """A sentence, after a word that says what it is, such as `accepted`; names in both stand in backticks."""

    text: str
    label: str = ""
    mark: Mark | None = None
    links: list[WebLink] = Field(default_factory=list)


class Fact(Record):
    """A fact beside its label, such as the base of a comparison; names in both stand in backticks."""

    label: str
    text: str


class Stack(Record):
    """A stack: its share, what it is a stack of, and its functions, from the innermost to the outermost."""

    share: str
    label: str
    frames: list[str]


class Stacks(Record):
    """Stacks below a heading."""

    heading: str
    stacks: list[Stack]


class Section(Record):
    """A part of a sheet, in the order in which it is read.

    `title` is a sentence, `remark` stands beside it. What `is_folded` is opened by the reader: a terminal shows it
    where everything is asked for. `key` is the name of what the section is about, such as a case. `is_ranked` is
    whether its sentences are in the order of their importance, which numbers show.
    """

    key: str = ""
    title: str = ""
    remark: str = ""
    mark: Mark | None = None
    is_folded: bool = False
    is_ranked: bool = False
    facts: list[Fact] = Field(default_factory=list)
    sentences: list[Sentence] = Field(default_factory=list)
    tables: list[Table] = Field(default_factory=list)
    stacks: list[Stacks] = Field(default_factory=list)
    sections: list["Section"] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)

    @property
    def has_content(self) -> bool:
        """Whether there is anything below its title."""
        return any((self.facts, self.sentences, self.tables, self.stacks, self.sections, self.notes))


class Sheet(Section):
    """A document as it is shown; `kind` is what it is of, `closing` is at its end, such as how to repeat it.

    The title goes on with `continuation`, which is less important. `addresses` are those of pages of the lab or of
    others that names in its sentences and facts lead to.
    """

    kind: str
    continuation: str = ""
    closing: list[Fact] = Field(default_factory=list)
    addresses: dict[str, str] = Field(default_factory=dict)


def opened(section: Section) -> Section:
    """Return a section that is shown also where not everything is asked for."""
    return section.model_copy(update={"is_folded": False})


def folded(section: Section) -> Section:
    """Return a section that the reader opens."""
    return section.model_copy(update={"is_folded": True})


def name(text: str, *, mark: Mark | None = None, link: str | None = None, is_part: bool = False) -> Cell:
    """Return the cell of a name that may be anybody's."""
    return Cell(text=text, is_name=True, mark=mark, link=link, is_part=is_part)


def as_name(text: str) -> str:
    """Return a name for a sentence: in backticks, and without any in it."""
    return f"`{text.replace('`', chr(39))}`" if text else ""


def with_names(text: str, names: Container[str]) -> str:
    """Return a sentence in which these names stand in backticks, without the punctuation around them."""
    return " ".join(_as_known_name(word, names) for word in text.replace("`", "'").split(" "))


def _as_known_name(word: str, names: Container[str]) -> str:
    core = word.strip(PUNCTUATION)
    return word.replace(core, as_name(core), 1) if core and core in names else word
