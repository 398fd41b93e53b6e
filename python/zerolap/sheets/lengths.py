"""How long foreign names and sentences may be where room is scarce."""

from dataclasses import dataclass

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
