"""Changes of Redis and Valkey whose effect was published, with what was claimed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

CASES: Final = Path(__file__).parent / "cases.yml"
Repository = Literal["redis", "valkey"]


@dataclass(frozen=True)
class Published:
    """A change between two revisions and what its authors reported of it.

    `claim` is their words, `low` to `high` the change of time per request that follows: a throughput that grows by x
    is a time that changes by -x / (1 + x). `remark` states in what their measurement differed from a server with one
    main thread that is saturated by a few connections.
    """

    change: str
    post: str
    repository: Repository
    base: str
    head: str
    case: str
    claim: str
    low: float
    high: float
    remark: str = ""


def _less_time(throughput: float) -> float:
    """Return the change of time per request that makes a throughput grow by so much."""
    return -throughput / (1 + throughput)


ZERO_TOUCH: Final = "Redis and Intel: zero-touch performance"
STREAMS: Final = "Redis: optimising stream ingestion"
METHODOLOGY: Final = "Valkey: performance optimisation methodology"
GEO: Final = "Redis and Intel: GEO commands"

PUBLISHED: Final = (
    *(
        Published(
            "redis#11207 -O3 -flto",
            ZERO_TOUCH,
            "redis",
            "3469c6509^",
            "b08ebff31",
            case,
            "up to 5 %, as a geometric mean over the benchmarks, with GCC 9.4",
            _less_time(0.05),
            0.0,
            "another compiler; the mean over many commands",
        )
        for case in ("get-100B", "lrange-100", "zadd", "hgetall-20-fields")
    ),
    Published(
        "redis#11093 snprintf once in addReplyDouble",
        ZERO_TOUCH,
        "redis",
        "90223759a^",
        "90223759a",
        "zincrby-fraction",
        "some 25 % on a simple ZADD",
        _less_time(0.25),
        _less_time(0.25),
        "ZADD replies with a double where it increments",
    ),
    Published(
        "redis#10697 client flags",
        ZERO_TOUCH,
        "redis",
        "6a6e911f1^",
        "6a6e911f1",
        "get-100B",
        "2 % regained since 6.2",
        -0.02,
        0.0,
        "cache misses, on 40 Gb/s hosts",
    ),
    *(
        Published(
            f"redis#10587 grisu2, {size} elements",
            ZERO_TOUCH,
            "redis",
            "29380ff77^",
            "29380ff77",
            f"zrange-fractions-{size}",
            f"{throughput:.0%} more operations for ZRANGE WITHSCORES of {size}",
            _less_time(throughput),
            _less_time(throughput),
        )
        for size, throughput in ((10, 0.23), (100, 0.50), (1000, 0.68))
    ),
    Published(
        "redis#10574 the ID of XADD",
        STREAMS,
        "redis",
        "a642947e0^",
        "a642947e0",
        "xadd-auto-id",
        "about 20 % of the CPU time, in two commits that were merged as one",
        -0.20,
        -0.20,
    ),
    Published(
        "redis#10502 monotonic clock",
        ZERO_TOUCH,
        "redis",
        "3cd8baf61^",
        "3cd8baf61",
        "get-100B",
        "up to 4 % of the time of a command",
        -0.04,
        0.0,
    ),
    Published(
        "redis#10337 deferred replies of ZRANGE BYRANK",
        ZERO_TOUCH,
        "redis",
        "1dc89e2d0^",
        "1dc89e2d0",
        "zrange-10",
        "3 to 15 % regained since 5",
        _less_time(0.15),
        _less_time(0.03),
    ),
    Published(
        "redis#10334 shared objects for deferred replies",
        ZERO_TOUCH,
        "redis",
        "b857928ba^",
        "b857928ba",
        "zrangebyscore-5",
        "3 to 9 %",
        _less_time(0.09),
        _less_time(0.03),
    ),
    Published(
        "valkey#670 prepareClientToWrite",
        METHODOLOGY,
        "valkey",
        "4d3d6c06a^",
        "4d3d6c06a",
        "lrange-100",
        "prepareClientToWrite took 9 % of the cycles of SMEMBERS and LRANGE",
        -0.09,
        0.0,
        "the share of the function, not a gain",
    ),
    Published(
        "valkey#860 prepareClientToWrite of LRANGE",
        METHODOLOGY,
        "valkey",
        "076bf6605^",
        "076bf6605",
        "lrange-100",
        "some 2 to 3 % for LRANGE",
        _less_time(0.03),
        _less_time(0.02),
    ),
    Published(
        "valkey#674 used_memory by thread",
        METHODOLOGY,
        "valkey",
        "3323e422a^",
        "3323e422a",
        "set-ex-100B",
        "4 % for loading strings of 100 bytes, 8 % for streams",
        _less_time(0.04),
        _less_time(0.04),
        "on another processor; an average over loading",
    ),
    Published(
        "valkey#1179 false sharing of used_memory",
        METHODOLOGY,
        "valkey",
        "a62d1f177^",
        "a62d1f177",
        "set-ex-100B",
        "counters of the main thread and of I/O threads share no line",
        -0.05,
        0.0,
        "with I/O threads on many processors",
    ),
    Published(
        "redis#11535 distances of GEOSEARCH BYBOX",
        GEO,
        "redis",
        "ae1de5490^",
        "ae1de5490",
        "geosearch-box",
        "latency 93.6 to 73.0 ms",
        73.0 / 93.6 - 1,
        73.0 / 93.6 - 1,
        "60 million points",
    ),
    Published(
        "redis#11522 strings of points out of range",
        GEO,
        "redis",
        "376b689b0^",
        "376b689b0",
        "geosearch-radius",
        "latency -14 %, operations +25 %",
        _less_time(0.25),
        -0.14,
        "60 million points",
    ),
    Published(
        "redis#11579 haversine at equal longitude",
        GEO,
        "redis",
        "e48ac075c^",
        "e48ac075c",
        "geosearch-box",
        "operations +55 %",
        _less_time(0.55),
        _less_time(0.55),
        "60 million points",
    ),
    Published(
        "redis#11552 fixed point in GEODIST",
        GEO,
        "redis",
        "61c85a2b2^",
        "61c85a2b2",
        "geodist",
        "operations +35 %",
        _less_time(0.35),
        _less_time(0.35),
    ),
    *(
        Published(
            f"Redis 7.0.5 to 7.0.7, {case}",
            GEO,
            "redis",
            "7.0.5",
            "7.0.7",
            case,
            claim,
            _less_time(after / before - 1),
            _less_time(after / before - 1),
            "60 million points; p50 with the round trip",
        )
        for case, claim, before, after in (
            ("geodist", "775,524 to 993,632 requests per second, pipeline 10", 775_524, 993_632),
            ("geosearch-radius", "11.8 to 13.8 requests per second", 11.8, 13.8),
            ("geosearch-box", "13.2 to 49.6 requests per second", 13.2, 49.6),
        )
    ),
)
