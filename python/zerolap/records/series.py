"""Keys of series, what the points of a metric's history have in common, and how much their starts differ."""

from pydantic import FiniteFloat

from zerolap.records.base import Record
from zerolap.records.build import digest_of


class Spread(Record):
    """A sample variance of log ratios of starts, with its degrees of freedom."""

    variance: float
    degrees: float


class StartRatio(Record):
    """What one start, of the number `block`, says about a metric of a case: the logarithm of head over base.

    With an `anchor`, the build of a third server, it is that of head over the anchor.
    """

    case: str
    metric: str
    engine: str
    block: int
    log_ratio: FiniteFloat
    anchor: str = ""


class SeriesKey(Record):
    """The key of a series: points that differ in any of these fields are not compared over time.

    `case_digest` is that of what the case sends and stores, `config` holds the server's settings, `method` is the
    version of the engine's measuring method, `platform` a fingerprint. `placed` is whether functions and variables had
    a random order, `resident` how many servers were up beside each other (0 in series of versions that did not record
    it), `load_host` the name of what put load on them from another machine. `compiler` and `libc` are those of the
    build, `valgrind` is the version that counted, `windows` the requests of both counted windows. What does not apply
    is empty.
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
    placed: bool = False
    resident: int = 0
    load_host: str = ""
    compiler: str = ""
    libc: str = ""
    valgrind: str = ""
    windows: str = ""

    @property
    def digest(self) -> str:
        """The series' id."""
        return "s-" + digest_of(self.model_dump_json())
