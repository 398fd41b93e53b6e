"""Tables of figures as they are read, the same in all reports."""

from zerolap.records.base import Record


class ReadingTable(Record):
    """A table of a reading, as all reports show it: the first `names` columns are names."""

    heading: str
    columns: list[str]
    rows: list[list[str]]
    names: int
