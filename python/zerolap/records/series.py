"""Keys of series: what the points of a metric's history have in common."""

from zerolap.records.base import Record
from zerolap.records.build import digest_of


class SeriesKey(Record):
    """The key of a series: points that differ in any of these fields are not compared over time.

    `case_digest` is that of what the case sends and stores, `config` holds the server's settings, `method` is the
    version of the engine's measuring method, `platform` a fingerprint.
    """

    case: str
    case_digest: str
    metric: str
    engine: str
    topology: str
    config: tuple[tuple[str, str], ...]
    variant: str
    platform: str
    method: int

    @property
    def digest(self) -> str:
        """The series' id."""
        return "s-" + digest_of(self.model_dump_json())
