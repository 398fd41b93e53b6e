"""Points spread over a map like the world's cities, in place of a data set that would need a download."""

import math
import random
from collections.abc import Iterator
from itertools import accumulate, chain
from operator import add

from zerolap.records import Generator, TrialFailed
from zerolap.resp_frames import ServerLost, UnreadableReply
from zerolap.server import CommandRefused, RunningServer

POINTS_PER_COMMAND = 500
COMMANDS_UNDERWAY = 64
"""Commands sent before the first reply is awaited: the server works while the next points are computed."""
SEED = 1
# Where people live: longitude, latitude, spread in degrees, share. Rounded from population by region (UN, 2022).
REGIONS = (
    (105.0, 30.0, 12.0, 0.24),
    (79.0, 22.0, 9.0, 0.24),
    (15.0, 48.0, 10.0, 0.12),
    (8.0, 9.0, 10.0, 0.13),
    (30.0, -5.0, 9.0, 0.05),
    (-85.0, 38.0, 12.0, 0.07),
    (-60.0, -15.0, 11.0, 0.07),
    (110.0, -5.0, 7.0, 0.05),
    (45.0, 32.0, 8.0, 0.03),
)
CITIES = 4_000
CITY_DEGREES = 0.15
DISTANCES = 1 << 16
"""Distances from the city's centre, drawn in advance: choosing among them takes a fifth of the time."""
LARGEST_LATITUDE = 85.0
LARGEST_LONGITUDE = 180.0
# All coordinates are equally long, so that a whole command is written at once.
POINT = b"$11\r\n%011.6f\r\n$11\r\n%011.6f\r\n$%d\r\n%d\r\n"


def add_points(server: RunningServer, generator: Generator) -> None:
    """Send all points; raises `TrialFailed` if the server refuses them or is gone."""
    connection, underway = server.connection, 0
    try:
        for command in geo_commands(generator):
            connection.send(command)
            underway += 1
            if underway == COMMANDS_UNDERWAY:
                connection.reply()
                underway -= 1
        for _ in range(underway):
            connection.reply()
    except CommandRefused as refused:
        # Replies to later commands are still to come.
        connection.close()
        raise TrialFailed(f"the server refused `GEOADD {generator.key} …`: {refused.message}") from refused
    except (ServerLost, UnreadableReply) as lost:
        raise server.failure(f"the server was lost: {lost.message}") from lost


def geo_commands(generator: Generator) -> Iterator[bytes]:
    """Yield the encoded GEOADD commands that add `count` points as members 1, 2, 3, … to the key.

    Cities lie around centres of population, their sizes fall with their rank (Zipf's law of cities), and points lie
    around cities: searches find many points or few, as on a real map. The points are always the same.
    """
    random_source = random.Random(SEED)
    cities = [_city(random_source) for _ in range(CITIES)]
    sizes = list(accumulate(1 / rank for rank in range(1, CITIES + 1)))
    distances = [max(-1.0, min(1.0, random_source.gauss(0.0, CITY_DEGREES))) for _ in range(DISTANCES)]
    key = generator.key.encode()
    for first in range(1, generator.count + 1, POINTS_PER_COMMAND):
        count = min(POINTS_PER_COMMAND, generator.count + 1 - first)
        longitudes, latitudes = zip(*random_source.choices(cities, cum_weights=sizes, k=count), strict=True)
        members = range(first, first + count)
        points = zip(
            map(add, longitudes, random_source.choices(distances, k=count)),
            map(add, latitudes, random_source.choices(distances, k=count)),
            [len(str(member)) for member in members],
            members,
            strict=True,
        )
        head = b"*%d\r\n$6\r\nGEOADD\r\n$%d\r\n%b\r\n" % (2 + 3 * count, len(key), key)
        yield head + POINT * count % tuple(chain.from_iterable(points))


def _city(random_source: random.Random) -> tuple[float, float]:
    """Return the centre of a city, far enough from the edges of the map."""
    longitude, latitude, spread, _ = random_source.choices(REGIONS, [region[3] for region in REGIONS])[0]
    return (
        _within(math.remainder(random_source.gauss(longitude, spread), 2 * LARGEST_LONGITUDE), LARGEST_LONGITUDE - 1),
        _within(random_source.gauss(latitude, spread / 2), LARGEST_LATITUDE - 1),
    )


def _within(value: float, largest: float) -> float:
    return max(-largest, min(largest, value))
