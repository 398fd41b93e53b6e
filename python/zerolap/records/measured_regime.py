"""What a comparison shows of one regime."""

from zerolap.records.base import Record


class MeasuredRegime(Record):
    """The cases that were counted in a regime: those that are the same there, that differ, and that have no answer.

    `same` are those that changed no more than in their own circumstances; those that differ are rows of the document.
    `unmeasured` are by the reason why there is no answer.
    """

    regime: str
    same: list[str] = []
    differing: list[str] = []
    unmeasured: dict[str, str] = {}
