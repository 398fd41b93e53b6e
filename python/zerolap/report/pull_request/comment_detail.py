"""Levels of detail of a comment, from the most to the one that always fits."""

from dataclasses import dataclass
from typing import Final

from zerolap.report.pull_request.writing import Writing, markdown_writing


@dataclass(frozen=True)
class Detail:
    """The largest number of rows, reasons and so on in a comment; `name` and `sentence` are numbers of characters.

    `places` is the number of links of a reason, `builds` that of platforms whose builds are described, `groups` that of
    groups of unchanged cases, `files` that of files that no case executes. Without `facts` there is no folded section.
    """

    rows: int
    reasons: int
    places: int
    acknowledgements: int
    platforms: int
    groups: int
    builds: int
    notes: int
    name: int
    sentence: int
    facts: bool = True
    files: int = 5

    @property
    def writing(self) -> Writing:
        """The writing of names and sentences in these lengths."""
        return markdown_writing(self.name, self.sentence)


DETAILS: Final = (
    Detail(20, 3, 2, acknowledgements=5, platforms=12, groups=12, builds=6, notes=5, name=80, sentence=400),
    Detail(15, 3, 2, acknowledgements=3, platforms=12, groups=8, builds=2, notes=3, name=64, sentence=320),
    Detail(10, 3, 1, acknowledgements=3, platforms=12, groups=6, builds=1, notes=2, name=64, sentence=280),
    Detail(8, 3, 1, acknowledgements=2, platforms=8, groups=4, builds=0, notes=1, name=56, sentence=240),
    Detail(5, 3, 1, acknowledgements=1, platforms=8, groups=2, builds=0, notes=0, name=48, sentence=200),
    Detail(3, 2, 1, 1, platforms=6, groups=0, builds=0, notes=0, name=32, sentence=120, facts=False, files=3),
    Detail(1, 1, 1, 1, platforms=3, groups=0, builds=0, notes=0, name=20, sentence=60, facts=False, files=1),
    Detail(0, 0, 0, 0, platforms=0, groups=0, builds=0, notes=0, name=12, sentence=40, facts=False, files=0),
)
