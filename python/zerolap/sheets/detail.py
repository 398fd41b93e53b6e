"""Levels of detail of a comparison as Markdown: a document of its own, and comments from the largest on."""

from dataclasses import dataclass, replace
from typing import Final

from zerolap.sheets.format import one_line, shortened
from zerolap.sheets.sheet import as_name


@dataclass(frozen=True)
class Lengths:
    """The largest numbers of characters of a name and of a sentence."""

    name: int = 60
    sentence: int = 300

    @property
    def half(self) -> "Lengths":
        """Half of a sentence for names and sentences, as in a cell of a table."""
        return Lengths(self.sentence // 2, self.sentence // 2)

    def plain(self, text: str) -> str:
        """Return a foreign name as it stands alone, such as in a cell of a table."""
        return shortened(one_line(text), self.name)

    def named(self, text: str) -> str:
        """Return a foreign name for a sentence, in backticks."""
        return as_name(self.plain(text))

    def foreign(self, text: str) -> str:
        """Return a foreign sentence, none of whose backticks are taken for those of names."""
        return shortened(one_line(text), self.sentence).replace("`", "'")

    def told(self, text: str) -> str:
        """Return a sentence of the lab, whose names stand in backticks already."""
        return shortened(one_line(text), self.sentence)


@dataclass(frozen=True)
class Detail(Lengths):
    """The largest number of rows, reasons and so on; `name` and `sentence` are numbers of characters.

    `links` is the number of links of a reason, `builds` that of platforms whose builds are described, `groups` that of
    groups of unchanged cases, `unexecuted` that of changed functions or files that no case executes. `cases` is the
    number of cases with all that is known of them, `traced` that of traced cases. Without `facts` there is no folded
    section.
    """

    rows: int = 0
    reasons: int = 0
    links: int = 0
    acknowledgements: int = 0
    platforms: int = 0
    groups: int = 0
    builds: int = 0
    notes: int = 0
    unexecuted: int = 5
    facts: bool = True
    cases: int = 0
    traced: int = 0


COMMENT: Final = (
    Detail(80, 400, 20, 3, links=2, acknowledgements=5, platforms=12, groups=12, builds=6, notes=5),
    Detail(64, 320, 15, 3, links=2, acknowledgements=3, platforms=12, groups=8, builds=2, notes=3),
    Detail(64, 280, 10, 3, links=1, acknowledgements=3, platforms=12, groups=6, builds=1, notes=2),
    Detail(56, 240, 8, 3, links=1, acknowledgements=2, platforms=8, groups=4, notes=1),
    Detail(48, 200, 5, 3, links=1, acknowledgements=1, platforms=8, groups=2),
    Detail(32, 120, 3, 2, links=1, acknowledgements=1, platforms=6, unexecuted=3, facts=False),
    Detail(20, 60, 1, 1, links=1, acknowledgements=1, platforms=3, unexecuted=1, facts=False),
    Detail(12, 40, unexecuted=0, facts=False),
)
"""What a comment has, from the most to what always fits."""
_OF_A_DOCUMENT: Final = replace(COMMENT[0], rows=80, reasons=12, groups=30, notes=30)
DOCUMENT: Final = (
    replace(_OF_A_DOCUMENT, sentence=1_000, cases=12, traced=4),
    replace(_OF_A_DOCUMENT, cases=3, traced=1),
    *COMMENT,
)
"""What the Markdown of a comparison has: more than a comment, as far as it fits."""
